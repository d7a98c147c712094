/**
 * Serves the routes about providers: lists, creates, changes, removes and tests them, and validates the entered values.
 */

import { setTimeout } from 'node:timers/promises';
import { type Probe, probeProvider } from '../../call/attempt/probe-provider.ts';
import { HEALTH_RULE } from '../../call/attempt/provider-health.ts';
import type { BaseUrl } from '../../config/base-url.ts';
import type { ProviderConfig } from '../../config/config.ts';
import { CONSOLE_KINDS, presetOfKind, readConsoleAddress } from '../../config/console-providers.ts';
import { quoteText } from '../../config/file/config-problem.ts';
import { Secret } from '../../lib/secret.ts';
import { OPERATOR_ACCOUNT } from '../../people/roles.ts';
import type { EnteredModel, StoredProvider, StoredProviderTest } from '../../store/ports/providers.ts';
import { findPublicAddress, PrivateAddressError } from '../../upstream/public-host.ts';
import type { ReadBody, Reply } from '../contract/contract.ts';
import { ConsoleFailure } from '../kernel/console-failure.ts';
import type { ConsoleCall, Handlers } from '../kernel/handlers.ts';
import type { ModelDeps, ModelEvent, Running } from './model-deps.ts';
import { sourceOfConfigured, sourceOfModel } from './models.ts';

type CreateRoute = 'POST /accounts/{account}/providers';
type ChangeRoute = 'PATCH /accounts/{account}/providers/{provider}';
type RemoveRoute = 'DELETE /accounts/{account}/providers/{provider}';
type TestRoute = 'POST /accounts/{account}/providers/{provider}/test';

/** The handlers of all provider routes. */
export function providerHandlers(
  parts: ModelDeps,
): Handlers<'GET /accounts/{account}/providers' | CreateRoute | ChangeRoute | RemoveRoute | TestRoute> {
  const testing = new Set<string>();
  return {
    'GET /accounts/{account}/providers': async () => ({
      providers: await listProviders(parts),
      health_rule: HEALTH_RULE,
      kinds: CONSOLE_KINDS.map((kind) => ({ ...kind })),
    }),
    [CREATE]: (call) => parts.inTurn(() => createProvider(parts, call)),
    [CHANGE]: (call) => parts.inTurn(() => changeProvider(parts, call)),
    [REMOVE]: (call) => parts.inTurn(() => removeProvider(parts, call)),
    [TEST]: (call) => testProvider(parts, call, testing),
  };
}

const CREATE: CreateRoute = 'POST /accounts/{account}/providers';
const CHANGE: ChangeRoute = 'PATCH /accounts/{account}/providers/{provider}';
const REMOVE: RemoveRoute = 'DELETE /accounts/{account}/providers/{provider}';
const TEST: TestRoute = 'POST /accounts/{account}/providers/{provider}/test';

async function createProvider(parts: ModelDeps, call: ConsoleCall<CreateRoute>): Promise<ProviderView> {
  const { name, kind, models } = call.body;
  const running = parts.running();
  checkName(name, running);
  checkKind(kind);
  const credential = readCredential(kind, call.body.credential);
  checkModels(kind, models, running);
  const address = await readAddress(call.body, running);
  const nowMs = parts.nowMs();
  await parts.book.keepProvider(
    {
      name,
      kind,
      baseUrl: address.url,
      models,
      ...seal(parts, name, address.origin, credential),
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    },
    true,
  );
  await noteChange(parts, call, 'providers.create', name, null, { kind, base_url: address.url, models });
  return viewOf(parts, name);
}

async function changeProvider(parts: ModelDeps, call: ConsoleCall<ChangeRoute>): Promise<ProviderView> {
  const entry = findEntry(parts, call.path.provider);
  const { credential, models } = call.body;
  if (models !== undefined) checkModels(entry.kind, models, parts.running());
  const secret = credential === undefined ? null : readCredential(entry.kind, credential);
  const { origin } = new URL(entry.baseUrl);
  await parts.book.keepProvider(
    {
      ...entry,
      ...(models === undefined ? {} : { models }),
      ...(secret === null ? {} : seal(parts, entry.name, origin, secret)),
      updatedAtMs: parts.nowMs(),
    },
    false,
  );
  await noteChange(
    parts,
    call,
    'providers.change',
    entry.name,
    models === undefined ? {} : { models: entry.models },
    // The audit trail says only that a credential was replaced.
    { ...(models === undefined ? {} : { models }), ...(secret === null ? {} : { credential: 'replaced' }) },
  );
  return viewOf(parts, entry.name);
}

async function removeProvider(parts: ModelDeps, call: ConsoleCall<RemoveRoute>): Promise<Record<string, never>> {
  const entry = findEntry(parts, call.path.provider);
  await parts.book.removeProvider(entry.name);
  const { name, kind, baseUrl, models } = entry;
  await noteChange(parts, call, 'providers.remove', name, { kind, base_url: baseUrl, models }, null);
  return {};
}

async function testProvider(parts: ModelDeps, call: ConsoleCall<TestRoute>, testing: Set<string>) {
  const name = call.path.provider;
  const { settings, added } = parts.running();
  const entered = added.find(({ entry }) => entry.name === name);
  const provider = settings.config.providers.get(name) ?? entered?.provider ?? null;
  if (provider === null && entered === undefined) throw notThere();
  if (provider === null) throw new ConsoleFailure('conflict', `${name} is not used. ${entered?.problem ?? ''}`);
  if (testing.has(name)) {
    throw new ConsoleFailure('too_many', `a test of ${name} is already running; wait for its result`, {
      retryAfterSeconds: 10,
    });
  }
  testing.add(name);
  let probe: Probe;
  try {
    probe = await probeProvider(provider);
  } finally {
    testing.delete(name);
  }
  const { ok, message, durationMs } = probe;
  await parts.book.keepTest({
    provider: name,
    origin: originOf(provider),
    atMs: parts.nowMs(),
    ok,
    message,
    durationMs,
  });
  await noteChange(parts, call, 'providers.test', name, null, { ok, message });
  return { ok, message, duration_ms: durationMs, models: [...probe.models] };
}

function findEntry(parts: ModelDeps, name: string): StoredProvider {
  const { added, settings } = parts.running();
  const found = added.find(({ entry }) => entry.name === name);
  if (found !== undefined) return found.entry;
  if (!settings.config.providers.has(name)) throw notThere();
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

/** The stored form of a credential, bound to the operator's account as its tenant. */
function seal(parts: ModelDeps, provider: string, origin: string, credential: Secret | null) {
  if (credential === null) return { sealed: null, last4: null };
  const binding = { tenant: OPERATOR_ACCOUNT, provider, origin };
  return { sealed: parts.seal.seal(binding, credential), last4: lastFour(credential) };
}

function noteChange(
  parts: ModelDeps,
  { actor, address }: Pick<ConsoleCall<CreateRoute>, 'actor' | 'address'>,
  act: ModelEvent['act'],
  subject: string,
  before: ModelEvent['before'],
  after: ModelEvent['after'],
): Promise<void> {
  return parts.note({ actor, address, act, subject, before, after });
}

async function viewOf(parts: ModelDeps, name: string): Promise<ProviderView> {
  const view = (await listProviders(parts)).findLast((provider) => provider.name === name);
  if (view === undefined) throw new Error(`the provider ${name} was kept and is not there`);
  return view;
}

type ProviderView = Reply<'GET /accounts/{account}/providers'>['providers'][number];

/** Four characters of a shorter credential would reveal too much. */
const SHOWN_FROM_CHARACTERS = 12;

/** The last four characters of a credential; empty for a short one. */
function lastFour(credential: Secret): string {
  const text = credential.reveal();
  return text.length < SHOWN_FROM_CHARACTERS ? '' : text.slice(-4);
}

/** All providers: the configuration's first, then the console's in order of creation. */
async function listProviders(parts: ModelDeps): Promise<ProviderView[]> {
  const running = parts.running();
  const tests = new Map((await parts.book.readTests()).map((test) => [test.provider, test]));
  const { config } = running.settings;
  const source = sourceOfConfigured(config.providersFrom);
  const configured = [...config.providers.values()].map((provider) => {
    const origin = originOf(provider);
    const secret = provider.kind === 'demo' ? null : (provider.credential?.secret ?? null);
    return {
      ...shown(parts, running, provider.name, provider),
      kind: provider.kind,
      base_url: provider.kind === 'demo' ? '' : provider.baseUrl,
      source,
      last4: secret === null ? null : lastFour(secret),
      tested: renderTest(tests.get(provider.name), origin, 0),
      problem: null,
    };
  });
  const entered = running.added.map(({ entry, provider, problem }) => ({
    ...shown(parts, running, entry.name, provider),
    kind: entry.kind,
    base_url: provider?.baseUrl ?? entry.baseUrl,
    source: 'console' as const,
    last4: entry.last4,
    tested: renderTest(tests.get(entry.name), URL.parse(entry.baseUrl)?.origin ?? '', entry.updatedAtMs),
    problem,
  }));
  return [...configured, ...entered];
}

/** `provider` null: an unused entry. */
function shown({ health }: ModelDeps, { served }: Running, name: string, provider: ProviderConfig | null) {
  const { state, calls, errors, ttfbP50Ms } = provider === null ? UNUSED : health.read(name);
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

/** A provider's origin; the demo has none. */
function originOf(provider: ProviderConfig): string {
  return provider.kind === 'demo' ? '' : new URL(provider.baseUrl).origin;
}

type ProviderBody = ReadBody<'POST /accounts/{account}/providers'>;

const CREDENTIAL = /^[\x21-\x7e]{1,4096}$/;
/** Other changes wait during the lookup. */
const LOOK_UP_MS_MAX = 3_000;
const CONTROLS = /\p{Cc}/u;

/** Throws `conflict` for a name that is in use, or could be after the next start. */
function checkName(name: string, { settings: { config }, added }: Running): void {
  const owner = config.providers.has(name)
    ? 'the configuration defines a provider of this name'
    : added.some(({ entry }) => entry.name === name)
      ? 'a provider of this name exists'
      : name === 'demo'
        ? 'the built-in demo has this name'
        : null;
  if (owner !== null) throw new ConsoleFailure('conflict', `name: ${owner}; choose another one`, { member: 'name' });
}

/** Throws `invalid` for an unknown kind. */
function checkKind(kind: string): void {
  if (presetOfKind(kind) !== undefined) return;
  const kinds = CONSOLE_KINDS.map((one) => one.kind).join(', ');
  throw new ConsoleFailure('invalid', `kind: found ${quoteText(kind)}, expected one of ${kinds}`, { member: 'kind' });
}

/**
 * The provider's address. Must be on the public internet, except for origins that the file allows. Throws `invalid`.
 */
async function readAddress(
  { kind, base_url }: Pick<ProviderBody, 'kind' | 'base_url'>,
  { settings: { config } }: Running,
): Promise<BaseUrl> {
  const address = readConsoleAddress(kind, base_url, config.server);
  if ('found' in address) refuseAddress(`found ${address.found}, expected ${address.expected}. ${address.advice}`);
  if (config.server.privateOrigins.includes(address.origin)) return address;
  const host = new URL(address.origin).hostname.replace(/^\[|\]$/g, '');
  try {
    await Promise.race([findPublicAddress(host), setTimeout(LOOK_UP_MS_MAX, undefined, { ref: false })]);
  } catch (fault) {
    // A name that can't be resolved now is checked at each connection, like every name.
    if (fault instanceof PrivateAddressError) {
      refuseAddress(
        `${fault.message}. Write ${address.origin} under server.private_origins in the configuration file to allow it.`,
      );
    }
  }
  return address;
}

function refuseAddress(words: string): never {
  throw new ConsoleFailure('invalid', `base_url: ${words}`, { member: 'base_url' });
}

/** The credential; null: none. Throws `invalid` with a message that does not contain it. */
function readCredential(kind: string, written: string | null): Secret | null {
  const variables = presetOfKind(kind)?.credentialVariables ?? [];
  if (written === null) {
    if (variables.length === 0) return null;
    throw new ConsoleFailure('invalid', `credential: found none, and ${kind} needs one`, { member: 'credential' });
  }
  if (CREDENTIAL.test(written)) return new Secret(written);
  throw new ConsoleFailure(
    'invalid',
    'credential: found characters that are not visible ASCII; look for a line break, space or quote that was copied with it',
    { member: 'credential' },
  );
}

/** Throws `invalid` or `conflict` for model names that can't be served. */
function checkModels(kind: string, models: readonly EnteredModel[], running: Running): void {
  if (models.length === 0 && (presetOfKind(kind)?.catalogProvider ?? null) === null) {
    throw new ConsoleFailure(
      'invalid',
      'models: found none, and the catalog lists none for this provider; enter at least one. A test lists the available models',
      { member: 'models' },
    );
  }
  for (const [index, { name, upstream }] of models.entries()) {
    const member = `models.${index}.name`;
    if (CONTROLS.test(name) || CONTROLS.test(upstream)) {
      throw new ConsoleFailure(
        'invalid',
        `${member}: found a control character, expected a name without control characters`,
        { member },
      );
    }
    if (models.findIndex((one) => one.name === name) < index) {
      throw new ConsoleFailure('invalid', `${member}: ${quoteText(name)} is listed twice; remove one`, { member });
    }
    const model = running.served.get(name);
    if (model !== undefined && sourceOfModel(model, running) !== 'console') {
      throw new ConsoleFailure(
        'conflict',
        `${member}: the configuration defines ${quoteText(name)}, which takes precedence; choose another public name`,
        { member },
      );
    }
  }
}
