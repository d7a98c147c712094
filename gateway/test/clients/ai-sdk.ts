/** Sets up the Vercel AI SDK as its users do, behind the view that all clients share. */
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { APICallError, generateText, type LanguageModel, Output, stepCountIs, streamText, tool } from 'ai';
import { z } from 'zod';
import type { ClientDriver, Target } from '../e2e-clients/client-driver.ts';

type MakeModel = (target: Target) => LanguageModel;

const STEPS_MAX = 8;
const OUTPUT_TOKENS_MAX = 2_000;

const openAi: MakeModel = ({ url, key, model }) => createOpenAI({ baseURL: `${url}/v1`, apiKey: key }).chat(model);

/** The provider's default. */
const openAiResponses: MakeModel = ({ url, key, model }) => createOpenAI({ baseURL: `${url}/v1`, apiKey: key })(model);

const openAiCompatible: MakeModel = ({ url, key, model }) =>
  createOpenAICompatible({
    name: 'tollgate',
    baseURL: `${url}/v1`,
    apiKey: key,
    includeUsage: true,
    supportsStructuredOutputs: true,
  })(model);

const anthropic: MakeModel = ({ url, key, model }) => createAnthropic({ baseURL: `${url}/v1`, apiKey: key })(model);

function weatherTool(cities: string[]) {
  return tool({
    description: 'Says the weather of a city',
    inputSchema: z.object({ city: z.string() }),
    execute: ({ city }) => {
      cities.push(city);
      return `sunny in ${city}`;
    },
  });
}

interface Counted {
  readonly inputTokens: number | undefined;
  readonly inputTokenDetails: { readonly cacheReadTokens: number | undefined };
  readonly outputTokens: number | undefined;
}

function counts({ inputTokens, inputTokenDetails, outputTokens }: Counted) {
  return { inputTokens, cacheReadTokens: inputTokenDetails.cacheReadTokens, outputTokens };
}

type ProviderOptions = NonNullable<Parameters<typeof generateText>[0]['providerOptions']>;

function driver(makeModel: MakeModel, readsReasoning: boolean, providerOptions: ProviderOptions = {}): ClientDriver {
  const asked = (target: Target, prompt: string) => ({
    providerOptions,
    model: makeModel(target),
    prompt,
    maxOutputTokens: OUTPUT_TOKENS_MAX,
    maxRetries: 0,
  });
  return {
    finished: 'stop',
    readsReasoning,
    countsAtStart: false,
    async ask(target, question) {
      const { text, reasoningText = '', finishReason, usage } = await generateText(asked(target, question));
      return { text, reasoning: reasoningText, finishReason, ...counts(usage) };
    },
    async askStreamed(target, question) {
      const pieces: string[] = [];
      const streaming = streamText({ ...asked(target, question), onError: () => {} });
      for await (const part of streaming.stream) {
        if (part.type === 'error') throw part.error;
        if (part.type === 'text-delta') pieces.push(part.text);
      }
      const [text, reasoning = '', finishReason, usage] = await Promise.all([
        streaming.text,
        streaming.reasoningText,
        streaming.finishReason,
        streaming.usage,
      ]);
      return { text, reasoning, finishReason, ...counts(usage), pieces };
    },
    async runTools(target, question, streamed) {
      const cities: string[] = [];
      const tools = { get_weather: weatherTool(cities) };
      const loop = { ...asked(target, question), tools, stopWhen: stepCountIs(STEPS_MAX) };
      if (!streamed) {
        const { text, steps } = await generateText(loop);
        return { text, cities, steps: steps.length };
      }
      const streaming = streamText(loop);
      const [text, steps] = await Promise.all([streaming.text, streaming.steps]);
      return { text, cities, steps: steps.length };
    },
    seesOverflow: (error) => APICallError.isInstance(error) && error.statusCode === 400 && !error.isRetryable,
    async fillSchema(target, question) {
      const schema = z.object({ city: z.string(), degrees: z.int() });
      const { output } = await generateText({ ...asked(target, question), output: Output.object({ schema }) });
      return output;
    },
  };
}

/** The providers of the AI SDK that speak a format of the gateway. `@ai-sdk/openai` does not read `reasoning_content`. */
export const drivers: Readonly<Record<'openai' | 'openaiCompatible' | 'anthropic' | 'openaiResponses', ClientDriver>> =
  {
    openai: driver(openAi, false),
    openaiCompatible: driver(openAiCompatible, true),
    anthropic: driver(anthropic, true),
    openaiResponses: driver(openAiResponses, true, { openai: { store: false } }),
  };
