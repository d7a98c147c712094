/** Sets up LangChain's chat models as their users do, behind the view that all clients share. */
import { ChatAnthropic } from '@langchain/anthropic';
import { ContextOverflowError } from '@langchain/core/errors';
import { type AIMessageChunk, type BaseMessage, HumanMessage, type UsageMetadata } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { z } from 'zod';
import type { ClientDriver, Target } from '../e2e-clients/client-driver.ts';

const STEPS_MAX = 8;
const OUTPUT_TOKENS_MAX = 2_000;
const place = z.object({ city: z.string(), degrees: z.int() });

function chatOpenAi({ url, key, model }: Target): ChatOpenAI {
  return new ChatOpenAI({
    model,
    apiKey: key,
    configuration: { baseURL: `${url}/v1` },
    maxTokens: OUTPUT_TOKENS_MAX,
    maxRetries: 0,
  });
}

function chatAnthropic({ url, key, model }: Target): ChatAnthropic {
  return new ChatAnthropic({
    model,
    apiKey: key,
    anthropicApiUrl: url,
    maxTokens: OUTPUT_TOKENS_MAX,
    maxRetries: 0,
  });
}

function weatherTool(cities: string[]) {
  return tool(
    ({ city }) => {
      cities.push(city);
      return `sunny in ${city}`;
    },
    { name: 'get_weather', description: 'Says the weather of a city', schema: z.object({ city: z.string() }) },
  );
}

/** What is read of a message and of the sum of a stream's chunks alike. */
interface Said {
  readonly text: string;
  readonly content: BaseMessage['content'];
  readonly usage_metadata?: UsageMetadata | undefined;
  readonly response_metadata: Readonly<Record<string, unknown>>;
  readonly additional_kwargs: Readonly<Record<string, unknown>>;
}

function answerOf(message: Said) {
  const { response_metadata: said, additional_kwargs: more, usage_metadata: usage } = message;
  const blocks = Array.isArray(message.content) ? message.content : [];
  const thought = blocks.map((block) => (block.type === 'thinking' ? block.thinking : '')).join('');
  return {
    text: message.text,
    reasoning: thought !== '' ? thought : String(more.reasoning_content ?? ''),
    finishReason: [said.finish_reason, said.stop_reason, more.stop_reason].find((word) => typeof word === 'string'),
    inputTokens: usage?.input_tokens,
    cacheReadTokens: usage?.input_token_details?.cache_read,
    outputTokens: usage?.output_tokens,
  };
}

type Model = ReturnType<typeof chatOpenAi> | ReturnType<typeof chatAnthropic>;

/** All chunks of a stream added up, as LangChain itself does it, and the texts of each. */
async function gather(stream: AsyncIterable<AIMessageChunk>): Promise<{ whole: AIMessageChunk; pieces: string[] }> {
  let whole: AIMessageChunk | null = null;
  const pieces: string[] = [];
  for await (const chunk of stream) {
    whole = whole === null ? chunk : whole.concat(chunk);
    if (chunk.text !== '') pieces.push(chunk.text);
  }
  if (whole === null) throw new Error('the stream ended without a chunk');
  return { whole, pieces };
}

function driver(finished: string, countsAtStart: boolean, makeModel: (target: Target) => Model): ClientDriver {
  return {
    finished,
    readsReasoning: true,
    countsAtStart,
    async ask(target, question) {
      return answerOf(await makeModel(target).invoke(question));
    },
    async askStreamed(target, question) {
      const { whole, pieces } = await gather(await makeModel(target).stream(question));
      return { ...answerOf(whole), pieces };
    },
    async runTools(target, question, streamed) {
      const cities: string[] = [];
      const weather = weatherTool(cities);
      const model = makeModel(target).bindTools([weather]);
      const messages: BaseMessage[] = [new HumanMessage(question)];
      for (let steps = 1; steps <= STEPS_MAX; steps += 1) {
        const answer = streamed ? (await gather(await model.stream(messages))).whole : await model.invoke(messages);
        const calls = answer.tool_calls ?? [];
        if (calls.length === 0) return { text: answer.text, cities, steps };
        messages.push(answer);
        for (const call of calls) messages.push(await weather.invoke({ ...call, type: 'tool_call' }));
      }
      throw new Error(`no answer after ${STEPS_MAX} steps`);
    },
    seesOverflow: (error) => ContextOverflowError.isInstance(error),
    fillSchema: (target, question) =>
      makeModel(target).withStructuredOutput(place, { method: 'jsonSchema' }).invoke(question),
  };
}

/** LangChain's chat models that speak a format of the gateway. */
export const drivers: Readonly<Record<'ChatOpenAI' | 'ChatAnthropic', ClientDriver>> = {
  ChatOpenAI: driver('stop', false, chatOpenAi),
  ChatAnthropic: driver('end_turn', true, chatAnthropic),
};
