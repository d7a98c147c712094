/** Sets up OpenAI's Agents SDK, which speaks Responses by default, behind the view that all clients share. */
import { Agent, OpenAIResponsesModel, type RunItem, run, setTracingDisabled, tool } from '@openai/agents';
import OpenAI, { BadRequestError } from 'openai';
import { z } from 'zod';
import type { ClientDriver, Target } from '../e2e-clients/client-driver.ts';

const place = z.object({ city: z.string(), degrees: z.int() });

// Traces would go to OpenAI.
setTracingDisabled(true);

function settingsOf({ url, key, model }: Target) {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 });
  return {
    name: 'Assistant',
    model: new OpenAIResponsesModel(client, model),
    modelSettings: { maxTokens: 2_000, store: false },
  };
}

function weatherTool(cities: string[]) {
  return tool({
    name: 'get_weather',
    description: 'Says the weather of a city',
    parameters: z.object({ city: z.string() }),
    execute: ({ city }) => {
      cities.push(city);
      return `sunny in ${city}`;
    },
  });
}

interface Ended {
  readonly finalOutput?: unknown;
  readonly newItems: readonly RunItem[];
  readonly rawResponses: ReadonlyArray<{
    readonly usage: {
      readonly inputTokens: number;
      readonly outputTokens: number;
      readonly inputTokensDetails: ReadonlyArray<Readonly<Record<string, number>>>;
    };
  }>;
}

function answerOf({ finalOutput, newItems, rawResponses }: Ended) {
  const thoughts = newItems.flatMap((item) => (item.type === 'reasoning_item' ? item.rawItem.content : []));
  const usage = rawResponses.at(-1)?.usage;
  return {
    text: String(finalOutput),
    reasoning: thoughts.map(({ text }) => text).join(''),
    finishReason: undefined,
    inputTokens: usage?.inputTokens,
    cacheReadTokens: usage?.inputTokensDetails[0]?.cached_tokens,
    outputTokens: usage?.outputTokens,
  };
}

const agents: ClientDriver = {
  finished: undefined,
  readsReasoning: true,
  countsAtStart: false,
  ask: async (target, question) => answerOf(await run(new Agent(settingsOf(target)), question)),
  async askStreamed(target, question) {
    const result = await run(new Agent(settingsOf(target)), question, { stream: true });
    const pieces: string[] = [];
    for await (const piece of result.toTextStream()) pieces.push(piece);
    await result.completed;
    return { ...answerOf(result), pieces };
  },
  async runTools(target, question, streamed) {
    const cities: string[] = [];
    const agent = new Agent({ ...settingsOf(target), tools: [weatherTool(cities)] });
    if (!streamed) {
      const { finalOutput, rawResponses } = await run(agent, question);
      return { text: String(finalOutput), cities, steps: rawResponses.length };
    }
    const result = await run(agent, question, { stream: true });
    await result.completed;
    return { text: String(result.finalOutput), cities, steps: result.rawResponses.length };
  },
  fillSchema: async (target, question) =>
    (await run(new Agent({ ...settingsOf(target), outputType: place }), question)).finalOutput,
  seesOverflow: (error) => error instanceof BadRequestError && error.code === 'context_length_exceeded',
};

/** An agent with a model of the Responses API. */
export const drivers: Readonly<Record<'agents', ClientDriver>> = { agents };
