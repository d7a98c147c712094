/** Owns how the console shows providers: the configuration's and its own, with their health and their last test, never a credential. */
import type { ProviderConfig } from '../config/config.ts';
import type { Secret } from '../lib/secret.ts';
import type { StoredProviderTest } from '../store/provider-port.ts';
import type { Reply } from './contract.ts';
import type { ModelDesk, Running } from './model-desk.ts';
import { sourceOfConfigured } from './models.ts';

export type ProviderView = Reply<'GET /accounts/{account}/providers'>['providers'][number];

/** Of a shorter credential four characters would say too much. */
const SHOWN_FROM_CHARACTERS = 12;

/** What is shown of a credential: its last four characters, or nothing of a short one. */
export function lastFour(credential: Secret): string {
  const text = credential.reveal();
  return text.length < SHOWN_FROM_CHARACTERS ? '' : text.slice(-4);
}

/** All providers: the configuration's first, then the console's in the order in which they were entered. */
export async function listProviders(desk: ModelDesk): Promise<ProviderView[]> {
  const running = desk.running();
  const tests = new Map((await desk.book.readTests()).map((test) => [test.provider, test]));
  const { config } = running.settings;
  const source = sourceOfConfigured(config.providersFrom);
  const configured = [...config.providers.values()].map((provider) => {
    const origin = originOf(provider);
    const secret = provider.kind === 'demo' ? null : (provider.credential?.secret ?? null);
    return {
      ...shown(desk, running, provider.name, provider),
      kind: provider.kind,
      base_url: provider.kind === 'demo' ? '' : provider.baseUrl,
      source,
      last4: secret === null ? null : lastFour(secret),
      tested: renderTest(tests.get(provider.name), origin, 0),
      problem: null,
    };
  });
  const entered = running.added.map(({ entry, provider, problem }) => ({
    ...shown(desk, running, entry.name, provider),
    kind: entry.kind,
    base_url: provider?.baseUrl ?? entry.baseUrl,
    source: 'console' as const,
    last4: entry.last4,
    tested: renderTest(tests.get(entry.name), URL.parse(entry.baseUrl)?.origin ?? '', entry.updatedAtMs),
    problem,
  }));
  return [...configured, ...entered];
}

/** `provider` null: one that is not used. */
function shown({ health }: ModelDesk, { served }: Running, name: string, provider: ProviderConfig | null) {
  const { state, calls, errors, ttfbP50Ms } = provider === null ? UNUSED : health.read(name);
  const models = [...new Set(served.values())].filter(({ targets }) =>
    targets.some((target) => target.provider === provider),
  );
  return { name, health: { state, calls, errors, ttfb_p50_ms: ttfbP50Ms }, models: models.length };
}

const UNUSED = { state: 'idle', calls: 0, errors: 0, ttfbP50Ms: null } as const;

/** A test of another origin, or from before the entry was changed, says nothing of what is there now. */
function renderTest(test: StoredProviderTest | undefined, origin: string, sinceMs: number): ProviderView['tested'] {
  if (test === undefined || test.origin !== origin || test.atMs < sinceMs) return null;
  const { atMs, ok, message, durationMs } = test;
  return { at: new Date(atMs).toISOString(), ok, message, duration_ms: durationMs };
}

/** Where a provider is asked; the demo is nowhere. */
export function originOf(provider: ProviderConfig): string {
  return provider.kind === 'demo' ? '' : new URL(provider.baseUrl).origin;
}
