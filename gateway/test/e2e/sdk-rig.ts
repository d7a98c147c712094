/** Points the official SDKs at a gateway: its models, clients created as users do, and counts of what they send. */
import Anthropic, { type ClientOptions as AnthropicOptions } from '@anthropic-ai/sdk';
import OpenAI, { type ClientOptions as OpenAiOptions } from 'openai';
import type { Scenario } from '../fake-upstream/scenario.ts';
import { pointAt } from '../harness/point-at.ts';
import { type RunningGateway, startGateway } from '../harness/start-gateway.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';

/** The answer of a provider without message threads (@anthropic-ai/sdk 1.11, lib/internal/threads/ThreadState). */
const THREADLESS = {
  type: 'error',
  error: {
    type: 'invalid_request_error',
    message: 'thread: not supported here',
    details: { error_code: 'thread_unsupported_request', unsupported: ['model'] },
  },
};

/**
 * Scripts of the fake upstream under these names on the chat side, and under `m-` and the name on the messages side.
 */
const SCRIPTS: Readonly<Record<string, Scenario | readonly Scenario[]>> = {
  ok: { answer: 'ok' },
  think: { answer: 'think' },
  'long:9': { answer: 'long:9' },
  tools: [{ answer: 'tool' }, { answer: 'ok' }],
  'tools-streamed': [{ answer: 'tool' }, { answer: 'ok' }],
  'tools-threaded': [{ answer: 'tool' }, { answer: 'ok' }],
  'tools-threadless': [{ status: 400, json: THREADLESS }, { answer: 'tool' }, { answer: 'ok' }],
  paced: { answer: 'long:2000', delayBetweenEventsMs: 20 },
  silent: { delayBeforeFirstByteMs: 60_000 },
  'error-later': { answer: 'long:9', errorEvent: 5 },
  'no-end': { answer: 'long:9', cut: { at: 900, how: 'fin' } },
  reset: { answer: 'long:9', cut: { at: 900, how: 'rst' } },
  'says-400': { status: 400, errorBodyBytes: 100 },
  'says-404': { status: 404, errorBodyBytes: 100 },
  'says-422': { status: 422, errorBodyBytes: 100 },
  'says-429': { status: 429, errorBodyBytes: 100, headers: { 'retry-after': '1' } },
  'says-500': { status: 500, errorBodyBytes: 100 },
  'says-504': { status: 504, errorBodyBytes: 100 },
  'says-529': { status: 529, errorBodyBytes: 100 },
  'limits-once': [{ status: 429, errorBodyBytes: 100, headers: { 'retry-after': '1' } }, { answer: 'ok' }],
  'fails-once': [{ status: 500, errorBodyBytes: 100 }, { answer: 'ok' }],
  'fails-once-streamed': [{ status: 503, errorBodyBytes: 100 }, { answer: 'ok' }],
  recovers: [{ status: 500, errorBodyBytes: 100 }, { status: 503, errorBodyBytes: 100 }, { answer: 'ok' }],
  'recovers-streamed': [{ answer: 'ok', errorEvent: 1 }, { status: 529, errorBodyBytes: 100 }, { answer: 'ok' }],
};

/** Models at which the gateway itself tries again, as by default; at all others it makes one attempt. */
const RETRIED = ['recovers', 'recovers-streamed', 'm-recovers', 'm-recovers-streamed'];

/**
 * Starts a pair with a model for each script, a renamed one, the demo's two, and two that only one endpoint serves. Each
 * script has its own provider: its failures affect no other.
 */
export async function startSdkRig(): Promise<Pair> {
  const names = Object.keys(SCRIPTS);
  const pair = await startPair((fakeUrl) => {
    const built = pointAt(fakeUrl, {
      chat: names,
      messages: names.map((name) => `m-${name}`),
      renamed: { 'vendor/renamed': 'ok' },
      apart: true,
      routing: { max_extra_attempts: 0 },
    }) as { readonly providers: object; readonly models: Readonly<Record<string, object>> };
    const retried = RETRIED.map((name) => [name, { ...built.models[name], routing: { max_extra_attempts: 2 } }]);
    const demo = { targets: [{ provider: 'demo' }] };
    return {
      ...built,
      providers: { ...built.providers, demo: { kind: 'demo' } },
      models: {
        ...built.models,
        ...Object.fromEntries(retried),
        demo,
        'claude-demo': demo,
        'chat-only': { ...demo, protocols: ['chat'] },
        'messages-only': { ...demo, protocols: ['messages'] },
      },
    };
  });
  for (const [name, script] of Object.entries(SCRIPTS)) {
    for (const side of ['', 'm-']) pair.fake.script(`${side}${name}`, script);
  }
  return pair;
}

/** Starts a gateway before an upstream that keeps files and batches: model `m` at OpenAI, `c` at Anthropic. */
export function startStateGateway(upstreamUrl: string): Promise<RunningGateway> {
  const hostOf = (kind: string) => ({ kind, base_url: upstreamUrl, api_key: `credential-${kind}`, files: 'on' });
  const modelAt = (provider: string) => ({ targets: [{ provider }], price: { input: 1, output: 5 } });
  return startGateway({
    config: {
      providers: { host: hostOf('openai'), claude: hostOf('anthropic') },
      models: { m: modelAt('host'), c: modelAt('claude') },
    },
  });
}

/** Creates an OpenAI client as the documentation of any compatible provider says. No retries by default. */
export function openAi({ gateway }: Pick<Pair, 'gateway'>, changes: OpenAiOptions = {}): OpenAI {
  return new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key, maxRetries: 0, ...changes });
}

/** Creates an Anthropic client in the same way. */
export function anthropic({ gateway }: Pick<Pair, 'gateway'>, changes: AnthropicOptions = {}): Anthropic {
  return new Anthropic({ baseURL: gateway.url, apiKey: gateway.key, maxRetries: 0, ...changes });
}

/** A request that an SDK sent. */
interface SentRequest {
  readonly url: string;
  readonly headers: Headers;
}

interface WatchedFetch {
  readonly fetch: typeof fetch;
  readonly requests: readonly SentRequest[];
  readonly replies: readonly Response[];
}

/** Returns a fetch that records requests and responses. */
export function watchedFetch(): WatchedFetch {
  const requests: SentRequest[] = [];
  const replies: Response[] = [];
  const watched = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    requests.push({ url: input instanceof Request ? input.url : String(input), headers: new Headers(init?.headers) });
    const reply = await fetch(input, init);
    replies.push(reply);
    return reply;
  };
  return { fetch: Object.assign(watched, { preconnect: fetch.preconnect }), requests, replies };
}

/** Returns the error of a rejected promise; throws if it resolves. */
export async function rejection(promise: PromiseLike<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('expected an error, and there was none');
}

/** Returns all items of a stream, and the error that ended it; null if it ended well. */
export async function drainStream<Item>(
  stream: AsyncIterable<Item>,
): Promise<{ readonly items: Item[]; readonly error: unknown }> {
  const items: Item[] = [];
  try {
    for await (const item of stream) items.push(item);
  } catch (error) {
    return { items, error };
  }
  return { items, error: null };
}
