/** Sets up OpenAI's JavaScript SDK for the Responses API, behind the view that all clients share. */
import OpenAI, { BadRequestError } from 'openai';
import { zodTextFormat } from 'openai/helpers/zod';
import type { Response, ResponseCreateParams, ResponseInput } from 'openai/resources/responses/responses';
import { z } from 'zod';
import type { ClientDriver, Target } from '../e2e-clients/client-driver.ts';

const STEPS_MAX = 8;
const place = z.object({ city: z.string(), degrees: z.int() });

const clientOf = ({ url, key }: Target) => new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 });

/** Nothing is stored, so reasoning comes and goes sealed. */
const asked = ({ model }: Target, input: string | ResponseInput) =>
  ({
    model,
    input,
    max_output_tokens: 2_000,
    store: false,
    include: ['reasoning.encrypted_content'],
  }) satisfies ResponseCreateParams;

function answerOf({ output, output_text: text, status, usage }: Response) {
  const summaries = output.flatMap((item) => (item.type === 'reasoning' ? item.summary : []));
  return {
    text,
    reasoning: summaries.map((summary) => summary.text).join(''),
    finishReason: status,
    inputTokens: usage?.input_tokens,
    cacheReadTokens: usage?.input_tokens_details.cached_tokens,
    outputTokens: usage?.output_tokens,
  };
}

const weather = {
  type: 'function',
  name: 'get_weather',
  description: 'Says the weather of a city',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  strict: false,
} as const;

const responses: ClientDriver = {
  finished: 'completed',
  readsReasoning: true,
  countsAtStart: false,
  ask: async (target, question) => answerOf(await clientOf(target).responses.create(asked(target, question))),
  async askStreamed(target, question) {
    const pieces: string[] = [];
    const stream = clientOf(target).responses.stream(asked(target, question));
    for await (const event of stream) if (event.type === 'response.output_text.delta') pieces.push(event.delta);
    return { ...answerOf(await stream.finalResponse()), pieces };
  },
  async runTools(target, question, streamed) {
    const client = clientOf(target);
    const cities: string[] = [];
    const input: ResponseInput = [{ role: 'user', content: question }];
    for (let steps = 1; steps <= STEPS_MAX; steps += 1) {
      const params = { ...asked(target, input), tools: [weather] };
      const answer = streamed
        ? await client.responses.stream(params).finalResponse()
        : await client.responses.create(params);
      const calls = answer.output.flatMap((item) => (item.type === 'function_call' ? [item] : []));
      if (calls.length === 0) return { text: answer.output_text, cities, steps };
      input.push(...(answer.output as ResponseInput));
      for (const call of calls) {
        const { city } = JSON.parse(call.arguments) as { readonly city: string };
        cities.push(city);
        input.push({ type: 'function_call_output', call_id: call.call_id, output: `sunny in ${city}` });
      }
    }
    throw new Error(`no answer after ${STEPS_MAX} steps`);
  },
  async fillSchema(target, question) {
    const text = { format: zodTextFormat(place, 'place') };
    return (await clientOf(target).responses.parse({ ...asked(target, question), text })).output_parsed;
  },
  seesOverflow: (error) => error instanceof BadRequestError && error.code === 'context_length_exceeded',
};

/** OpenAI's client for the Responses API, plain and with its stream helper. */
export const drivers: Readonly<Record<'responses', ClientDriver>> = { responses };
