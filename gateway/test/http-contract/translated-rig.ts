/** Owns the gateway of the suites on translated routes: hosts of both formats under the names of the catalogue. Judges nothing. */
import { pointAt } from '../harness/point-at.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { type Address, type HeaderChanges, post, type Side } from './calls.ts';

/** A model by where it is and what the catalogue knows of it. */
export const MODELS = {
  /** A chat host that nobody knows. */
  house: 'house',
  /** A chat host that wants earlier reasoning back; texts only. */
  textOnly: 'deepseek-v4-pro',
  openAi: 'gpt-5-mini',
  /** Refuses the member by which usage is asked for. */
  mistral: 'mistral-large',
  /** Thinks by a budget only. */
  sonnet45: 'claude-sonnet-4-5',
  /** Takes sampling, budgets, a forced tool. */
  sonnet46: 'claude-sonnet-4-6',
  /** Neither sampling nor a forced tool. */
  sonnet55: 'claude-sonnet-5-5',
  opus55: 'claude-opus-5-5',
} as const;

/** Starts both sides. All models are served on both endpoints, `claude-house` on messages only. */
export function startTranslatedPair(limits: object = {}): Promise<Pair> {
  return startPair((fakeUrl) => {
    const base_url = `${fakeUrl}/v1`;
    const built = pointAt(fakeUrl, {
      chat: [],
      messages: [MODELS.sonnet45, MODELS.sonnet46],
      limits,
      apiKey: 'sk-upstream-0123456789abcdef',
    }) as { readonly providers: object; readonly models: object };
    const price = { input: 1, cache_read: 0.1, cache_write: 1.25, cache_write_1h: 2, output: 5 };
    const at = (provider: string, more: object = {}) => ({ targets: [{ provider }], price, ...more });
    return {
      ...built,
      providers: {
        ...built.providers,
        openai: { kind: 'openai', base_url, api_key: 'sk-upstream-openai' },
        deepseek: { kind: 'openai-compatible', preset: 'deepseek', base_url, api_key: 'none' },
        mistral: { kind: 'openai-compatible', preset: 'mistral', base_url, api_key: 'none' },
      },
      models: {
        ...built.models,
        [MODELS.house]: at('lab', { alias: [{ name: 'claude-house', protocols: ['messages'] }] }),
        [MODELS.textOnly]: at('deepseek'),
        [MODELS.openAi]: at('openai'),
        [MODELS.mistral]: at('mistral'),
        [MODELS.sonnet55]: at('lab-messages'),
        [MODELS.opus55]: at('lab-messages'),
        unpriced: { targets: [{ provider: 'lab', model: 'house' }] },
      },
    };
  });
}

/** A good body for a model that is reached by translation, with members added; undefined takes one out. */
export function bodyFor(side: Side, model: string, members: Readonly<Record<string, unknown>> = {}): object {
  const shared = { model, messages: [{ role: 'user', content: 'Good day.' }] };
  return side === 'chat' ? { ...shared, ...members } : { ...shared, max_tokens: 64, ...members };
}

/** The model behind the other format than the side's own. */
export const FAR_MODELS = { chat: MODELS.sonnet46, messages: MODELS.house } as const;

/** Sends a call of a side to the model behind the other format. */
export function postFar(
  address: Address,
  side: Side,
  members: Readonly<Record<string, unknown>> = {},
  headers: HeaderChanges = {},
): Promise<Response> {
  return post(address, side, bodyFor(side, FAR_MODELS[side], members), headers);
}

/** The bodies that upstream got for a model, as they were written. */
export function sentTexts({ fake }: Pick<Pair, 'fake'>, model: string): string[] {
  return fake.served(model).map(({ requestBody }) => Buffer.from(requestBody).toString());
}

/** The last body that upstream got for a model. */
export function lastSent(pair: Pick<Pair, 'fake'>, model: string): Readonly<Record<string, unknown>> {
  const text = sentTexts(pair, model).at(-1);
  if (text === undefined) throw new Error(`upstream got no call of ${model}`);
  return JSON.parse(text) as Readonly<Record<string, unknown>>;
}

/** The headers that upstream got with the last call of a model. */
export function lastHeaders({ fake }: Pick<Pair, 'fake'>, model: string): Readonly<Record<string, string>> {
  return Object.fromEntries(fake.served(model).at(-1)?.headers ?? []);
}
