/** Starts the gateway for the suites on translated routes: upstreams of both formats under names from the catalog. */
import { pointAt } from '../harness/point-at.ts';
import { type Pair, sentTexts, startPair } from '../harness/start-pair.ts';
import { type Address, type HeaderChanges, post, type Side } from './calls.ts';

interface TranslatedOptions {
  /** More models by upstream's format, each with a provider of its own. */
  readonly apart?: Readonly<Record<Side, readonly string[]>>;
  /** The defaults of all models. */
  readonly routing?: object;
}

interface Built {
  readonly providers: object;
  readonly models: object;
}

/** Models by upstream and by what the catalog knows of them. */
export const MODELS = {
  /** An unknown chat upstream. */
  own: 'own',
  /** A chat upstream that requires earlier reasoning in the request; text only. */
  textOnly: 'deepseek-v4-pro',
  openAi: 'gpt-5-mini',
  /** Refuses the member that requests usage. */
  mistral: 'mistral-large',
  /** Supports thinking by budget only. */
  sonnet45: 'claude-sonnet-4-5',
  /** Accepts sampling parameters, thinking budgets and a forced tool. */
  sonnet46: 'claude-sonnet-4-6',
  /** Accepts neither sampling parameters nor a forced tool. */
  sonnet55: 'claude-sonnet-5-5',
  opus55: 'claude-opus-5-5',
} as const;

/**
 * Starts both processes. All models are served on both endpoints, except `claude-own`: messages only.
 */
export function startTranslatedPair(limits: object = {}, { apart, routing }: TranslatedOptions = {}): Promise<Pair> {
  return startPair((fakeUrl) => {
    const base_url = `${fakeUrl}/v1`;
    const built = pointAt(fakeUrl, {
      chat: [],
      messages: [MODELS.sonnet45, MODELS.sonnet46],
      limits,
      apiKey: 'sk-upstream-0123456789abcdef',
      ...(routing === undefined ? {} : { routing }),
    }) as Built;
    const own = apart === undefined ? null : (pointAt(fakeUrl, { ...apart, apart: true }) as Built);
    const price = { input: 1, cache_read: 0.1, cache_write: 1.25, cache_write_1h: 2, output: 5 };
    const at = (provider: string, more: object = {}) => ({ targets: [{ provider }], price, ...more });
    return {
      ...built,
      providers: {
        ...built.providers,
        ...own?.providers,
        openai: { kind: 'openai', base_url, api_key: 'sk-upstream-openai' },
        deepseek: { kind: 'openai-compatible', preset: 'deepseek', base_url, api_key: 'none' },
        mistral: { kind: 'openai-compatible', preset: 'mistral', base_url, api_key: 'none' },
      },
      models: {
        ...built.models,
        ...own?.models,
        [MODELS.own]: at('lab', { alias: [{ name: 'claude-own', protocols: ['messages'] }] }),
        [MODELS.textOnly]: at('deepseek'),
        [MODELS.openAi]: at('openai'),
        [MODELS.mistral]: at('mistral'),
        [MODELS.sonnet55]: at('lab-messages'),
        [MODELS.opus55]: at('lab-messages'),
        unpriced: { targets: [{ provider: 'lab', model: 'own' }] },
      },
    };
  });
}

/** Renders a good body for a translated model with members added; undefined removes one. */
export function bodyFor(side: Side, model: string, members: Readonly<Record<string, unknown>> = {}): object {
  const shared = { model, messages: [{ role: 'user', content: 'Good day.' }] };
  return side === 'chat' ? { ...shared, ...members } : { ...shared, max_tokens: 64, ...members };
}

/** For each side, a model whose upstream has the other format. */
export const FAR_MODELS = { chat: MODELS.sonnet46, messages: MODELS.own } as const;

/** Sends a call to the side's model of the other format. */
export function postTranslated(
  address: Address,
  side: Side,
  members: Readonly<Record<string, unknown>> = {},
  headers: HeaderChanges = {},
): Promise<Response> {
  return post(address, side, bodyFor(side, FAR_MODELS[side], members), headers);
}

/** Returns the last body that upstream received for a model. */
export function lastSent(pair: Pick<Pair, 'fake'>, model: string): Readonly<Record<string, unknown>> {
  const text = sentTexts(pair, model).at(-1);
  if (text === undefined) throw new Error(`upstream got no call of ${model}`);
  return JSON.parse(text) as Readonly<Record<string, unknown>>;
}

/** Returns the headers of a model's last upstream call. */
export function lastHeaders({ fake }: Pick<Pair, 'fake'>, model: string): Readonly<Record<string, string>> {
  return Object.fromEntries(fake.served(model).at(-1)?.headers ?? []);
}
