/** Serves the routes about providers: lists, creates, changes, removes and tests them. */

import { type Probe, probeProvider } from '../../call/attempt/probe-provider.ts';
import { sourceOfConfigured } from '../../config/console-entries.ts';
import { bindingOf, CONSOLE_KINDS, type ConsoleProvider, lastFour } from '../../config/console-providers.ts';
import { providersIn } from '../../config/console-routes.ts';
import { viewOffered } from '../../control/routing/provider-commands.ts';
import { putBack, removeCredential } from '../../control/routing/rotation.ts';
import { ConsoleFailure } from '../../errors/console-failure.ts';
import { addressOf } from '../../providers/presets/presets.ts';
import type { Provider, Secrets, Settings } from '../../providers/provider.ts';
import { HEALTH_RULE } from '../../routing/health/provider-health.ts';
import type { NewAuditEntry } from '../../store/ports/audit.ts';
import {
  DEFAULT_CREDENTIAL,
  type ProviderChange,
  type StoredCredential,
  type StoredProviderTest,
} from '../../store/ports/providers.ts';
import type { Reply } from '../contract/contract.ts';
import type { ConsoleCall, Handlers } from '../kernel/handlers.ts';
import { checkModels, checkName, readAddress, readCredentials, readKind, readOwnSettings } from './check-provider.ts';
import type { ModelDeps, ModelEvent, Running } from './model-deps.ts';

type CreateRoute = 'POST /accounts/{account}/providers';
type ChangeRoute = 'PATCH /accounts/{account}/providers/{provider}';
type RemoveRoute = 'DELETE /accounts/{account}/providers/{provider}';
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
    'POST /accounts/{account}/providers': (call) => parts.inTurn(() => createProvider(parts, call)),
    'PATCH /accounts/{account}/providers/{provider}': (call) => parts.inTurn(() => changeProvider(parts, call)),
    'DELETE /accounts/{account}/providers/{provider}': (call) => parts.inTurn(() => removeProvider(parts, call)),
    'POST /accounts/{account}/providers/{provider}/test': (call) => testProvider(parts, call, testing),
  } satisfies Partial<Handlers>;
}

async function createProvider(parts: ModelDeps, call: ConsoleCall<CreateRoute>): Promise<ProviderView> {
  const { name, kind, models } = call.body;
  const running = parts.running();
  checkName(name, running);
  const consoleKind = readKind(kind);
  const settings = readOwnSettings(consoleKind, call.body.settings ?? {});
  const secrets = readCredentials(consoleKind, settings, call.body.credentials);
  checkModels(consoleKind, models, running);
  const address = await readAddress(consoleKind, call.body.base_url, settings, running);
  const nowMs = parts.nowMs();
  const provider = { name, kind, baseUrl: address.url, settings, models, createdAtMs: nowMs, updatedAtMs: nowMs };
  const credential = firstCredential(parts, name, address.origin, secrets);
  await parts.book.save(
    [
      { of: 'provider', isNew: true, provider },
      ...(credential === null ? [] : [{ of: 'credential', isNew: true, credential } as const]),
    ],
    [
      auditEntry(parts, call, 'providers.create', name, null, {
        kind,
        base_url: address.url,
        ...shownSettings(settings),
        models,
      }),
    ],
  );
  return viewOf(parts, name);
}

async function changeProvider(parts: ModelDeps, call: ConsoleCall<ChangeRoute>): Promise<ProviderView> {
  const { entry, credentials: stored } = findEntry(parts, call.path.provider);
  const { credentials, models } = call.body;
  const consoleKind = readKind(entry.kind);
  if (models !== undefined) checkModels(consoleKind, models, parts.running());
  const secrets = credentials === undefined ? null : readCredentials(consoleKind, entry.settings, credentials);
  const { origin } = new URL(entry.baseUrl);
  const provider = { ...entry, ...(models === undefined ? {} : { models }), updatedAtMs: parts.nowMs() };
  await parts.book.save(
    [{ of: 'provider', isNew: false, provider }, ...replaceFirst(parts, stored, { name: entry.name, origin, secrets })],
    [
      auditEntry(
        parts,
        call,
        'providers.change',
        entry.name,
        models === undefined ? {} : { models: entry.models },
        // The audit trail says only that the credentials were replaced.
        { ...(models === undefined ? {} : { models }), ...(secrets === null ? {} : { credentials: 'replaced' }) },
      ),
    ],
  );
  return viewOf(parts, entry.name);
}

/** The changes that give the first credential other secrets; none where `secrets` is null. */
function replaceFirst(
  parts: ModelDeps,
  stored: readonly StoredCredential[],
  { name, origin, secrets }: { readonly name: string; readonly origin: string; readonly secrets: Secrets | null },
): ProviderChange[] {
  if (secrets === null) return [];
  const before = stored.find((one) => one.name === DEFAULT_CREDENTIAL);
  const first = firstCredential(parts, name, origin, secrets);
  if (first === null) return before === undefined ? [] : removeCredential(before);
  const { sealed, last4, updatedAtMs } = first;
  if (before === undefined) return [{ of: 'credential', isNew: true, credential: first }];
  return [{ of: 'credential', isNew: false, credential: { ...before, sealed, last4, updatedAtMs } }];
}

async function removeProvider(parts: ModelDeps, call: ConsoleCall<RemoveRoute>): Promise<Record<string, never>> {
  const { entry, credentials } = findEntry(parts, call.path.provider);
  const { name, kind, baseUrl, settings, models } = entry;
  refuseInUse(parts, name);
  const before = { kind, base_url: baseUrl, ...shownSettings(settings), models };
  await parts.book.save(
    [
      { of: 'provider', removed: name },
      ...credentials.map((one) => putBack({ kind: 'credential', owner: name, name: one.name })),
    ],
    [auditEntry(parts, call, 'providers.remove', name, before, null)],
  );
  return {};
}

/** Nothing for a provider without settings. */
function shownSettings(settings: Settings): { readonly settings?: Settings } {
  return Object.keys(settings).length === 0 ? {} : { settings };
}

/** Throws `conflict` where a route has a target at the provider. */
function refuseInUse(parts: ModelDeps, name: string): void {
  const using = parts
    .running()
    .routes.filter(({ entry }) => providersIn(entry.definition).includes(name))
    .map(({ entry }) => entry.model);
  if (using.length === 0) return;
  throw new ConsoleFailure(
    'conflict',
    `the routes ${using.join(', ')} have targets at ${name}; change or remove them first`,
    { page: '/app/models' },
  );
}

async function testProvider(parts: ModelDeps, call: ConsoleCall<TestRoute>, testing: Set<string>) {
  const name = call.path.provider;
  const { config, providers } = parts.running();
  const entered = providers.find(({ entry }) => entry.name === name);
  const provider = config.providers.get(name) ?? entered?.provider ?? null;
  if (provider === null && entered === undefined) throw notThere();
  if (provider === null) throw new ConsoleFailure('conflict', `${name} is not used. ${entered?.problem ?? ''}`);
  const pool = provider.credentials?.pool ?? [];
  const wanted = call.body.credential ?? pool[0]?.name;
  const credential = pool.find((one) => one.name === wanted);
  if (call.body.credential !== undefined && credential === undefined) {
    throw new ConsoleFailure('not_found', `${name} has no credential of this name; GET credentials lists them`, {
      member: 'credential',
    });
  }
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
  // The state of the provider is that of its first credential.
  const isFirst = credential === pool[0];
  await parts.book.save(isFirst ? [{ of: 'test', test: result }] : [], [
    auditEntry(
      parts,
      call,
      'providers.test',
      name,
      null,
      isFirst ? { ok, message } : { credential: wanted, ok, message },
    ),
  ]);
  const models = viewOffered(probe.models, parts.running(), name);
  return { ok, message, duration_ms: durationMs, models, cut: probe.isCut };
}

function findEntry(parts: ModelDeps, name: string): ConsoleProvider {
  const { config, providers } = parts.running();
  const found = providers.find(({ entry }) => entry.name === name);
  if (found !== undefined) return found;
  if (!config.providers.has(name)) throw notThere();
  throw new ConsoleFailure(
    'conflict',
    `${name} is defined in the configuration file or the environment and is read-only here; change it there`,
    { page: '/app/providers' },
  );
}

function notThere(): ConsoleFailure {
  return new ConsoleFailure('not_found', 'there is no such provider; GET providers lists them', {
    page: '/app/providers',
  });
}

/** The first credential of a provider, with secrets bound to the operator's account as their tenant; null: no secret. */
function firstCredential(parts: ModelDeps, name: string, origin: string, secrets: Secrets): StoredCredential | null {
  const last4 = lastFour(secrets);
  if (last4 === null) return null;
  const own = { provider: name, name: DEFAULT_CREDENTIAL, weight: 1, organisation: null, models: null };
  const sealed = parts.seal.seal(bindingOf(own, origin), secrets);
  const nowMs = parts.nowMs();
  return { ...own, sealed, last4, createdAtMs: nowMs, updatedAtMs: nowMs };
}

function auditEntry(
  parts: ModelDeps,
  { actor, address }: Pick<ConsoleCall<CreateRoute>, 'actor' | 'address'>,
  act: ModelEvent['act'],
  subject: string,
  before: ModelEvent['before'],
  after: ModelEvent['after'],
): NewAuditEntry {
  return parts.auditEntry({ actor, address, act, subject, before, after });
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
