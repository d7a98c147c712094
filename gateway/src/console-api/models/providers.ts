/** Serves the routes about providers: lists and tests them; change-provider.ts changes them. */

import { type Probe, probeProvider } from '../../call/attempt/probe-provider.ts';
import { sourceOfConfigured } from '../../config/console-entries.ts';
import { CONSOLE_KINDS, enteredAddress, findConsoleKind, lastFour } from '../../config/console-providers.ts';
import { viewOffered } from '../../control/routing/provider-commands.ts';
import { ConsoleFailure } from '../../errors/console-failure.ts';
import { addressOf } from '../../providers/presets/presets.ts';
import type { Credential, Provider } from '../../providers/provider.ts';
import { HEALTH_RULE } from '../../routing/health/provider-health.ts';
import type { StoredProvider, StoredProviderTest } from '../../store/ports/providers.ts';
import type { Reply } from '../contract/contract.ts';
import type { ConsoleCall, Handlers } from '../kernel/handlers.ts';
import {
  auditEntry,
  buildDraft,
  changeProvider,
  createProvider,
  findEntry,
  noCredential,
  notThere,
  removeProvider,
} from './change-provider.ts';
import type { ModelDeps, Running } from './model-deps.ts';

type TestRoute = 'POST /accounts/{account}/providers/{provider}/test';

/** The handlers of all provider routes. */
export function providerHandlers(parts: ModelDeps) {
  const testing = new Set<string>();
  return {
    'GET /accounts/{account}/providers': async () => ({
      providers: await listProviders(parts),
      health_rule: HEALTH_RULE,
      kinds: CONSOLE_KINDS.map(({ name, title, kind, preset }) => ({
        kind: name,
        name: title,
        base_url: preset === null ? null : (addressOf(preset)?.url ?? null),
        derives_base_url: kind.addressOf !== undefined,
        secrets: kind.secrets.map(({ name: member, title: label, hint = null, document = false }) => ({
          name: member,
          title: label,
          hint,
          document,
        })),
        settings: kind.settings.map(({ name: member, title: label, expected, hint, options = [] }) => ({
          name: member,
          title: label,
          hint: hint ?? `${expected.charAt(0).toUpperCase()}${expected.slice(1)}.`,
          options: [...options],
        })),
      })),
    }),
    'POST /accounts/{account}/providers': (call) =>
      parts.inTurn(async () => {
        await createProvider(parts, call);
        return viewOf(parts, call.body.name);
      }),
    'PATCH /accounts/{account}/providers/{provider}': (call) =>
      parts.inTurn(async () => {
        await changeProvider(parts, call);
        return viewOf(parts, call.path.provider);
      }),
    'DELETE /accounts/{account}/providers/{provider}': (call) =>
      parts.inTurn(async () => {
        await removeProvider(parts, call);
        return {};
      }),
    'POST /accounts/{account}/providers/{provider}/test': (call) => testProvider(parts, call, testing),
  } satisfies Partial<Handlers>;
}

/** The provider and the credential to test, and the members of the audit entry. */
interface PlannedTest {
  readonly provider: Provider;
  readonly credential: Credential | undefined;
  /** Its result is the state of the provider: it is its first credential, with the settings in force. */
  readonly isOfState: boolean;
  /** In the audit entry. */
  readonly named: { readonly credential?: string; readonly base_url?: string };
}

async function planTest(parts: ModelDeps, { path, body }: ConsoleCall<TestRoute>): Promise<PlannedTest> {
  const { credential: wanted, ...change } = body;
  const name = path.provider;
  if (Object.values(change).some((member) => member !== undefined)) {
    const provider = await buildDraft(parts, findEntry(parts, name), change, wanted);
    const named = { base_url: provider.baseUrl };
    return { provider, credential: provider.credentials.pool[0], isOfState: false, named };
  }
  const { config, providers } = parts.running();
  const entered = providers.find(({ entry }) => entry.name === name);
  const provider = config.providers.get(name) ?? entered?.provider ?? null;
  if (provider === null && entered === undefined) throw notThere();
  if (provider === null) throw new ConsoleFailure('conflict', `${name} is not used. ${entered?.problem ?? ''}`);
  const pool = provider.credentials?.pool ?? [];
  const credential = wanted === undefined ? pool[0] : pool.find((one) => one.name === wanted);
  if (wanted !== undefined && credential === undefined) throw noCredential(name);
  const isOfState = credential === pool[0];
  return { provider, credential, isOfState, named: wanted === undefined || isOfState ? {} : { credential: wanted } };
}

async function testProvider(parts: ModelDeps, call: ConsoleCall<TestRoute>, testing: Set<string>) {
  const name = call.path.provider;
  const { provider, credential, isOfState, named } = await planTest(parts, call);
  if (testing.has(name)) {
    throw new ConsoleFailure('too_many', `a test of ${name} is already running; wait for its result`, {
      retryAfterSeconds: 10,
    });
  }
  testing.add(name);
  let probe: Probe;
  try {
    probe = await probeProvider(provider, credential);
  } finally {
    testing.delete(name);
  }
  const { ok, message, durationMs } = probe;
  const result = { provider: name, origin: originOf(provider), atMs: parts.nowMs(), ok, message, durationMs };
  await parts.book.save(isOfState ? [{ of: 'test', test: result }] : [], [
    auditEntry(parts, call, 'providers.test', name, null, { ...named, ok, message }),
  ]);
  const models = viewOffered(probe.models, parts.running(), name);
  return { ok, message, duration_ms: durationMs, models, cut: probe.isCut };
}

async function viewOf(parts: ModelDeps, name: string): Promise<ProviderView> {
  const view = (await listProviders(parts)).findLast((provider) => provider.name === name);
  if (view === undefined) throw new Error(`the provider ${name} was kept and is not there`);
  return view;
}

type ProviderView = Reply<'GET /accounts/{account}/providers'>['providers'][number];

/** All providers: the configuration's first, then the console's in order of creation. */
async function listProviders(parts: ModelDeps): Promise<ProviderView[]> {
  const running = parts.running();
  const tests = new Map((await parts.book.readTests()).map((test) => [test.provider, test]));
  const { config } = running;
  const source = sourceOfConfigured(config.providersFrom);
  const configured = [...config.providers.values()].map((provider) => {
    const origin = originOf(provider);
    return {
      ...shown(parts, running, provider.name, provider),
      kind: provider.kind.name,
      base_url: provider.baseUrl ?? '',
      settings: provider.baseUrl === null ? {} : { ...provider.settings },
      entered_base_url: null,
      source,
      entered_models: [],
      last4: lastFour(provider.credentials?.pool[0].secrets ?? {}),
      credential_source: sourceTitle(provider),
      tested: renderTest(tests.get(provider.name), origin, 0),
      problem: null,
    };
  });
  const entered = running.providers.map(({ entry, credentials: [first], provider, problem }) => ({
    ...shown(parts, running, entry.name, provider),
    kind: entry.kind,
    base_url: provider?.baseUrl ?? entry.baseUrl,
    entered_base_url: showEntered(entry),
    settings: { ...entry.settings },
    source: 'console' as const,
    entered_models: [...entry.models],
    last4: first?.last4 ?? null,
    credential_source: null,
    tested: renderTest(tests.get(entry.name), URL.parse(entry.baseUrl)?.origin ?? '', entry.updatedAtMs),
    problem,
  }));
  return [...configured, ...entered];
}

function sourceTitle({ kind, credentials }: Provider): string | null {
  const word = credentials?.pool[0].source ?? null;
  return kind.sources?.find((source) => source.word === word)?.title ?? null;
}

/** Null: the address follows from the settings, or is the default of its kind. */
function showEntered(entry: StoredProvider): string | null {
  const kind = findConsoleKind(entry.kind);
  return kind === undefined ? entry.baseUrl : enteredAddress(kind, entry);
}

/** `provider` null: an unused entry. */
function shown({ readHealth }: ModelDeps, { models: served }: Running, name: string, provider: Provider | null) {
  const { state, calls, errors, ttfbP50Ms } = provider === null ? UNUSED : readHealth(name);
  const models = [...new Set(served.values())].filter(({ targets }) =>
    targets.some((target) => target.provider === provider),
  );
  return { name, health: { state, calls, errors, ttfb_p50_ms: ttfbP50Ms }, models: models.length };
}

const UNUSED = { state: 'idle', calls: 0, errors: 0, ttfbP50Ms: null } as const;

/** A test of another origin, or from before the entry was changed, does not apply. */
function renderTest(test: StoredProviderTest | undefined, origin: string, sinceMs: number): ProviderView['tested'] {
  if (test === undefined || test.origin !== origin || test.atMs < sinceMs) return null;
  const { atMs, ok, message, durationMs } = test;
  return { at: new Date(atMs).toISOString(), ok, message, duration_ms: durationMs };
}

/** A provider's origin; empty: it answers inside the gateway. */
function originOf({ baseUrl }: Provider): string {
  return baseUrl === null ? '' : new URL(baseUrl).origin;
}
