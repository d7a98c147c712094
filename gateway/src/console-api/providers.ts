/** Owns the routes about providers: what is there, and what is entered, changed, taken away or tested. Its words and rules are elsewhere. */

import { CONSOLE_KINDS } from '../config/console-providers.ts';
import { type Probe, probeProvider } from '../gateway/probe-provider.ts';
import { HEALTH_RULE } from '../gateway/provider-health.ts';
import type { Secret } from '../lib/secret.ts';
import { HOUSE_ACCOUNT } from '../people/roles.ts';
import type { StoredProvider } from '../store/provider-port.ts';
import { ConsoleFailure } from './console-failure.ts';
import type { ConsoleCall, Handlers } from './handlers.ts';
import type { ModelDesk, ModelNote } from './model-desk.ts';
import { lastFour, listProviders, originOf, type ProviderView } from './provider-view.ts';
import { checkKind, checkModels, checkName, readAddress, readCredential } from './read-provider.ts';

type CreateRoute = 'POST /accounts/{account}/providers';
type ChangeRoute = 'PATCH /accounts/{account}/providers/{provider}';
type RemoveRoute = 'DELETE /accounts/{account}/providers/{provider}';
type TestRoute = 'POST /accounts/{account}/providers/{provider}/test';

/** The handlers of everything about providers. */
export function providerHandlers(
  desk: ModelDesk,
): Handlers<'GET /accounts/{account}/providers' | CreateRoute | ChangeRoute | RemoveRoute | TestRoute> {
  const testing = new Set<string>();
  return {
    'GET /accounts/{account}/providers': async () => ({
      providers: await listProviders(desk),
      health_rule: HEALTH_RULE,
      kinds: CONSOLE_KINDS.map((kind) => ({ ...kind })),
    }),
    [CREATE]: (call) => desk.inTurn(() => createProvider(desk, call)),
    [CHANGE]: (call) => desk.inTurn(() => changeProvider(desk, call)),
    [REMOVE]: (call) => desk.inTurn(() => removeProvider(desk, call)),
    [TEST]: (call) => testProvider(desk, call, testing),
  };
}

const CREATE: CreateRoute = 'POST /accounts/{account}/providers';
const CHANGE: ChangeRoute = 'PATCH /accounts/{account}/providers/{provider}';
const REMOVE: RemoveRoute = 'DELETE /accounts/{account}/providers/{provider}';
const TEST: TestRoute = 'POST /accounts/{account}/providers/{provider}/test';

async function createProvider(desk: ModelDesk, call: ConsoleCall<CreateRoute>): Promise<ProviderView> {
  const { name, kind, models } = call.body;
  const running = desk.running();
  checkName(name, running);
  checkKind(kind);
  const credential = readCredential(kind, call.body.credential);
  checkModels(kind, models, running);
  const address = await readAddress(call.body, running);
  const nowMs = desk.nowMs();
  await desk.book.keepProvider(
    {
      name,
      kind,
      baseUrl: address.url,
      models,
      ...seal(desk, name, address.origin, credential),
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    },
    true,
  );
  await desk.reload();
  await noteChange(desk, call, 'providers.create', name, null, { kind, base_url: address.url, models });
  return viewOf(desk, name);
}

async function changeProvider(desk: ModelDesk, call: ConsoleCall<ChangeRoute>): Promise<ProviderView> {
  const entry = findEntry(desk, call.path.provider);
  const { credential, models } = call.body;
  if (models !== undefined) checkModels(entry.kind, models, desk.running());
  const secret = credential === undefined ? null : readCredential(entry.kind, credential);
  const { origin } = new URL(entry.baseUrl);
  await desk.book.keepProvider(
    {
      ...entry,
      ...(models === undefined ? {} : { models }),
      ...(secret === null ? {} : seal(desk, entry.name, origin, secret)),
      updatedAtMs: desk.nowMs(),
    },
    false,
  );
  await desk.reload();
  await noteChange(
    desk,
    call,
    'providers.change',
    entry.name,
    models === undefined ? {} : { models: entry.models },
    // Of a credential it is said that it changed, and nothing else.
    { ...(models === undefined ? {} : { models }), ...(secret === null ? {} : { credential: 'replaced' }) },
  );
  return viewOf(desk, entry.name);
}

async function removeProvider(desk: ModelDesk, call: ConsoleCall<RemoveRoute>): Promise<Record<string, never>> {
  const entry = findEntry(desk, call.path.provider);
  await desk.book.removeProvider(entry.name);
  await desk.reload();
  const { name, kind, baseUrl, models } = entry;
  await noteChange(desk, call, 'providers.remove', name, { kind, base_url: baseUrl, models }, null);
  return {};
}

async function testProvider(desk: ModelDesk, call: ConsoleCall<TestRoute>, testing: Set<string>) {
  const name = call.path.provider;
  const { settings, added } = desk.running();
  const entered = added.find(({ entry }) => entry.name === name);
  const provider = settings.config.providers.get(name) ?? entered?.provider ?? null;
  if (provider === null && entered === undefined) throw notThere();
  if (provider === null) throw new ConsoleFailure('conflict', `${name} is not used. ${entered?.problem ?? ''}`);
  if (testing.has(name)) {
    throw new ConsoleFailure('too_many', `${name} is being tested; wait for the answer`, { retryAfterSeconds: 10 });
  }
  testing.add(name);
  let probe: Probe;
  try {
    probe = await probeProvider(provider);
  } finally {
    testing.delete(name);
  }
  const { ok, message, durationMs } = probe;
  await desk.book.keepTest({
    provider: name,
    origin: originOf(provider),
    atMs: desk.nowMs(),
    ok,
    message,
    durationMs,
  });
  await noteChange(desk, call, 'providers.test', name, null, { ok, message });
  return { ok, message, duration_ms: durationMs, models: [...probe.models] };
}

function findEntry(desk: ModelDesk, name: string): StoredProvider {
  const { added, settings } = desk.running();
  const found = added.find(({ entry }) => entry.name === name);
  if (found !== undefined) return found.entry;
  if (!settings.config.providers.has(name)) throw notThere();
  throw new ConsoleFailure(
    'conflict',
    `${name} stands in the configuration file or the environment, and is read-only here; change it there`,
    { page: '/app/providers' },
  );
}

function notThere(): ConsoleFailure {
  return new ConsoleFailure('not_found', 'there is no such provider; GET providers lists them', {
    page: '/app/providers',
  });
}

/** What is kept of a credential; the installation's account is its tenant. */
function seal(desk: ModelDesk, provider: string, origin: string, credential: Secret | null) {
  if (credential === null) return { sealed: null, last4: null };
  const binding = { tenant: HOUSE_ACCOUNT, provider, origin };
  return { sealed: desk.seal.seal(binding, credential), last4: lastFour(credential) };
}

function noteChange(
  desk: ModelDesk,
  { actor, address }: Pick<ConsoleCall<CreateRoute>, 'actor' | 'address'>,
  act: ModelNote['act'],
  subject: string,
  before: ModelNote['before'],
  after: ModelNote['after'],
): Promise<void> {
  return desk.note({ actor, address, act, subject, before, after });
}

async function viewOf(desk: ModelDesk, name: string): Promise<ProviderView> {
  const view = (await listProviders(desk)).findLast((provider) => provider.name === name);
  if (view === undefined) throw new Error(`the provider ${name} was kept and is not there`);
  return view;
}
