/** Starts a gateway whose workspaces cache answers, over the fake upstream, and sends it requests. */
import type { RunningGateway } from '../harness/start-gateway.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { type Address, type HeaderChanges, post } from '../http-contract/calls.ts';
import { control, createKey } from '../http-contract/make-key.ts';

const PRICE = { input: 1, output: 5 };

/** Public models of each format's provider: the name at the fake is what follows the first hyphen. */
const PROVIDERS = { c: 'lab', m: 'lab-messages', r: 'lab-responses' } as const;
const ANSWERS = ['ok', 'tool', 'think', 'long', 'echo', 'cut', 'failing', 'once', 'large'];

/** What an endpoint's client sends: its path and a body with this text. */
export const FORMATS = {
  chat: {
    path: '/v1/chat/completions',
    body: (model: string, text: string) => ({ model, max_tokens: 64, messages: [{ role: 'user', content: text }] }),
  },
  messages: {
    path: '/v1/messages',
    body: (model: string, text: string) => ({ model, max_tokens: 64, messages: [{ role: 'user', content: text }] }),
  },
  responses: {
    path: '/v1/responses',
    body: (model: string, text: string) => ({ model, input: text, store: false }),
  },
} as const;
export type Format = keyof typeof FORMATS;

export function cacheConfig(url: string, more: object = {}): object {
  const base = { base_url: `${url}/v1`, api_key: 'none' };
  const models = Object.entries(PROVIDERS).flatMap(([side, provider]) =>
    ANSWERS.map((name) => [`${side}-${name}`, { targets: [{ provider, model: `${side}-${name}` }], price: PRICE }]),
  );
  return {
    defaults: { log_bodies: 'all', retention: '7d', routing: { max_extra_attempts: 1 } },
    providers: {
      lab: { kind: 'openai-compatible', ...base },
      'lab-messages': { kind: 'anthropic', ...base },
      'lab-responses': { kind: 'openai', ...base },
    },
    models: {
      ...Object.fromEntries(models),
      rescue: {
        targets: [
          { provider: 'lab', model: 'c-failing' },
          { provider: 'lab', model: 'c-ok' },
        ],
        price: PRICE,
      },
    },
    ...more,
  };
}

function scriptCacheModels({ fake }: Pick<Pair, 'fake'>): void {
  for (const side of Object.keys(PROVIDERS)) {
    for (const name of ['ok', 'tool', 'think']) fake.script(`${side}-${name}`, { answer: name });
    fake.script(`${side}-long`, { answer: 'long:40' });
    fake.script(`${side}-echo`, { echo: true });
    fake.script(`${side}-cut`, { answer: 'long:40', cut: { at: 3_000, how: 'fin' } });
    fake.script(`${side}-failing`, { status: 500, errorBodyBytes: 100 });
    fake.script(`${side}-large`, { say: { text: 'x'.repeat(200_000) } });
  }
}

export async function startCachePair(more: object = {}): Promise<Pair> {
  const pair = await startPair((url) => cacheConfig(url, more));
  scriptCacheModels(pair);
  return pair;
}

let tenants = 0;

export interface Tenant extends Address {
  readonly account: string;
  readonly workspace: string;
  readonly keyId: string;
}

/** Creates a workspace, `given` as the command takes it, and a key of it; its account too, unless it is given. */
export async function newTenant(
  gateway: Pick<RunningGateway, 'dataDir' | 'url'>,
  given: object = { cache: 'all' },
  account: string | null = null,
): Promise<Tenant> {
  tenants += 1;
  const owner = account ?? `account-${tenants}`;
  const workspace = `workspace-${tenants}`;
  if (account === null) await control(gateway, 'accounts.create', { id: owner });
  await control(gateway, 'workspaces.create', { id: workspace, account: owner, ...given });
  const { id, key } = await createKey(gateway, { workspace });
  return { url: gateway.url, key, account: owner, workspace, keyId: id };
}

export interface Got {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
  readonly requestId: string;
  /** What the reply says of the cache; null: nothing. */
  readonly cache: string | null;
}

export async function ask(at: Address, path: `/${string}`, body: unknown, headers: HeaderChanges = {}): Promise<Got> {
  const response = await post(at, path, body, headers);
  const text = await response.text();
  return {
    status: response.status,
    text,
    headers: response.headers,
    requestId: response.headers.get('x-request-id') ?? '',
    cache: response.headers.get('x-tollgate-cache'),
  };
}

/** Sends the request until its answer comes from the cache: an answer is stored shortly after its end. */
export async function askUntilHit(
  at: Address,
  path: `/${string}`,
  body: unknown,
  headers: HeaderChanges = {},
): Promise<{ readonly first: Got; readonly hit: Got }> {
  const first = await ask(at, path, body, headers);
  const deadlineMs = performance.now() + 10_000;
  for (;;) {
    const hit = await ask(at, path, body, headers);
    if (hit.cache === 'hit') return { first, hit };
    if (performance.now() > deadlineMs) throw new Error(`no hit: ${hit.status} ${hit.cache} ${hit.text.slice(0, 200)}`);
    await Bun.sleep(10);
  }
}
