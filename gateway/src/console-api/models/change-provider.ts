/**
 * Creates, changes and removes providers entered in the console, and builds one as a change would leave it, for a test.
 * Stored credentials stay at the address that they were entered for: another address needs them again.
 */
import {
  bindingOf,
  buildConsoleProvider,
  type ConsoleKind,
  type ConsoleProvider,
  enteredAddress,
  isMoved,
  lastFour,
} from '../../config/console-providers.ts';
import { providersIn } from '../../config/console-routes.ts';
import type { BaseUrl } from '../../config/file/scalar-schema.ts';
import { completeSettings } from '../../config/resolve-providers.ts';
import { changedMembers, explainStale } from '../../control/policy-changes.ts';
import { putBack, removeCredential } from '../../control/routing/rotation.ts';
import { ConsoleFailure } from '../../errors/console-failure.ts';
import { type RemoteProvider, type Secrets, type Settings, singleCredential } from '../../providers/provider.ts';
import {
  DEFAULT_CREDENTIAL,
  type ProviderChange,
  type StoredCredential,
  type StoredProvider,
} from '../../store/ports/providers.ts';
import type { ConsoleCall } from '../kernel/handlers.ts';
import {
  checkEntry,
  checkModels,
  checkName,
  parseCredentials,
  readAddress,
  readKind,
  readOwnSettings,
} from './check-provider.ts';
import type { ModelDeps, ModelEvent } from './model-deps.ts';

type CreateRoute = 'POST /accounts/{account}/providers';
type ChangeRoute = 'PATCH /accounts/{account}/providers/{provider}';
type RemoveRoute = 'DELETE /accounts/{account}/providers/{provider}';

/** Creates a provider. Throws `invalid` or `conflict`. */
export async function createProvider(parts: ModelDeps, call: ConsoleCall<CreateRoute>): Promise<void> {
  const { name, kind, models } = call.body;
  const running = parts.running();
  checkName(name, running);
  const consoleKind = readKind(kind);
  const secrets = parseCredentials(consoleKind, call.body.credentials);
  const settings = complete(consoleKind, readOwnSettings(consoleKind, call.body.settings ?? {}), [secrets]);
  checkEntry(consoleKind, settings, secrets);
  checkModels(consoleKind, models, running);
  const address = await readAddress(consoleKind, call.body.base_url, settings, running);
  const nowMs = parts.nowMs();
  const provider = { name, kind, baseUrl: address.url, settings, models, createdAtMs: nowMs, updatedAtMs: nowMs };
  await parts.book.save(
    [{ of: 'provider', isNew: true, provider }, ...addFirst(parts, name, address, secrets)],
    [auditEntry(parts, call, 'providers.create', name, null, shownEntry(provider))],
  );
}

/** Changes the given members of a provider. Throws `invalid` or `conflict`; then nothing changes. */
export async function changeProvider(parts: ModelDeps, call: ConsoleCall<ChangeRoute>): Promise<void> {
  const found = findEntry(parts, call.path.provider);
  const { entry } = found;
  const { models = entry.models, before } = call.body;
  const stale = explainStale(entry.name, shownEntry(entry), before);
  if (stale !== null) throw new ConsoleFailure('conflict', stale);
  const draft = await readDraft(parts, found, call.body);
  const { address, settings, secrets } = draft;
  if (models !== entry.models) checkModels(draft.consoleKind, models, parts.running());
  const provider = { ...entry, baseUrl: address.url, settings, models, updatedAtMs: parts.nowMs() };
  // The audit trail says only that the credentials were replaced.
  const replaced = secrets === null ? {} : { credentials: 'replaced' };
  const changed = changedMembers(shownEntry(entry), { ...shownEntry(provider), ...replaced });
  if (changed === null) return;
  await parts.book.save(
    [{ of: 'provider', isNew: false, provider }, ...replaceCredentials(parts, found, draft)],
    [auditEntry(parts, call, 'providers.change', entry.name, changed.before, changed.after)],
  );
}

/** Removes a provider. Throws `conflict` where a route uses it. */
export async function removeProvider(parts: ModelDeps, call: ConsoleCall<RemoveRoute>): Promise<void> {
  const { entry, credentials } = findEntry(parts, call.path.provider);
  const { name } = entry;
  refuseInUse(parts, name);
  await parts.book.save(
    [
      { of: 'provider', removed: name },
      ...credentials.map((one) => putBack({ kind: 'credential', owner: name, name: one.name })),
    ],
    [auditEntry(parts, call, 'providers.remove', name, shownEntry(entry), null)],
  );
}

/** The members of a change that say where a provider is and how it is used. */
export type SettingsChange = Pick<ConsoleCall<ChangeRoute>['body'], 'base_url' | 'settings' | 'credentials'>;

/** A provider as a change leaves it. */
interface Draft {
  readonly consoleKind: ConsoleKind;
  readonly address: BaseUrl;
  readonly settings: Settings;
  /** Those of its first credential, as given; null: the stored ones. */
  readonly secrets: Secrets | null;
  /** No stored credential may be sent to the address: only the given one is left. */
  readonly isMoved: boolean;
}

async function readDraft(parts: ModelDeps, found: ConsoleProvider, change: SettingsChange): Promise<Draft> {
  const { entry, credentials: stored } = found;
  const consoleKind = readKind(entry.kind);
  const secrets = change.credentials === undefined ? null : parseCredentials(consoleKind, change.credentials);
  const written = change.settings === undefined ? entry.settings : readOwnSettings(consoleKind, change.settings);
  // One that cannot be opened is a problem of its own, which the provider shows.
  const kept = stored
    .filter(({ name }) => secrets === null || name !== DEFAULT_CREDENTIAL)
    .map((one) => openStored(parts, entry, one))
    .filter((one) => one !== null);
  const settings = complete(consoleKind, written, secrets === null ? kept : [secrets]);
  const checkAll = (pool: readonly Secrets[]) => {
    for (const one of pool) checkEntry(consoleKind, settings, one);
  };
  if (secrets !== null) checkAll([secrets]);
  else if (change.settings !== undefined) checkAll(stored.length === 0 ? [{}] : kept);
  const address = await readNewAddress(parts, consoleKind, entry, settings, change);
  const moves = isMoved(consoleKind, entry, { baseUrl: address.url, settings });
  if (!moves && secrets !== null && change.settings !== undefined) checkAll(kept);
  if (moves && secrets === null && stored.length > 0) {
    throw new ConsoleFailure(
      'invalid',
      `credentials: the stored ones belong to ${entry.baseUrl} and are not sent to another address; enter them again`,
      { member: 'credentials' },
    );
  }
  return { consoleKind, address, settings, secrets, isMoved: moves };
}

/** The address after the change: as given, or as before, or as it follows from the changed settings. */
async function readNewAddress(
  parts: ModelDeps,
  consoleKind: ConsoleKind,
  entry: StoredProvider,
  settings: Settings,
  change: SettingsChange,
): Promise<BaseUrl> {
  if (change.base_url === undefined && change.settings === undefined) {
    return { url: entry.baseUrl, origin: new URL(entry.baseUrl).origin };
  }
  const written = change.base_url === undefined ? enteredAddress(consoleKind, entry) : change.base_url;
  return readAddress(consoleKind, written, settings, parts.running());
}

/**
 * The provider as the change would leave it, with the credential that is tested: a given one, else the stored one of that
 * name. Throws as the change does.
 */
export async function buildDraft(
  parts: ModelDeps,
  found: ConsoleProvider,
  change: SettingsChange,
  credentialName: string | undefined,
): Promise<RemoteProvider> {
  const { entry, credentials: stored } = found;
  const { consoleKind, address, settings, secrets: given } = await readDraft(parts, found, change);
  const tested = stored.find(({ name }) => name === (credentialName ?? stored[0]?.name));
  if (credentialName !== undefined && tested === undefined) throw noCredential(entry.name);
  const secrets = given ?? (tested === undefined ? {} : openStored(parts, entry, tested));
  if (secrets === null) {
    throw new ConsoleFailure('conflict', `the credential of ${entry.name} cannot be opened; enter it again`, {
      member: 'credentials',
    });
  }
  const { config } = parts.running();
  const pool = singleCredential(secrets);
  return buildConsoleProvider(config, consoleKind, { name: entry.name, address, settings, pool });
}

/** The settings, with those that the credentials name. */
function complete({ kind }: ConsoleKind, written: Settings, pool: readonly Secrets[]): Settings {
  const credentials = pool.map((secrets) => ({ secrets, source: null }));
  return completeSettings(kind, written, credentials, false);
}

/** Null: its secrets cannot be opened. */
function openStored({ seal }: ModelDeps, { baseUrl }: StoredProvider, credential: StoredCredential): Secrets | null {
  return seal.open(bindingOf(credential, new URL(baseUrl).origin), credential.sealed);
}

/** Gives the first credential other secrets. At another address, it is the only one afterwards. */
function replaceCredentials(
  parts: ModelDeps,
  { entry, credentials: stored }: ConsoleProvider,
  { address, secrets, isMoved: moves }: Draft,
): readonly ProviderChange[] {
  if (secrets === null) return [];
  const before = stored.find((one) => one.name === DEFAULT_CREDENTIAL);
  const added = addFirst(parts, entry.name, address, secrets);
  if (moves) return [...stored.flatMap(removeCredential), ...added];
  if (before === undefined) return added;
  const [first] = added;
  if (first === undefined) return removeCredential(before);
  const { sealed, last4, updatedAtMs } = first.credential;
  return [{ of: 'credential', isNew: false, credential: { ...before, sealed, last4, updatedAtMs } }];
}

/** Adds the first credential, sealed for the address; nothing where there is no secret. */
function addFirst(parts: ModelDeps, provider: string, { origin }: BaseUrl, secrets: Secrets) {
  const last4 = lastFour(secrets);
  if (last4 === null) return [];
  const own = { provider, name: DEFAULT_CREDENTIAL, weight: 1, organisation: null, models: null };
  const sealed = parts.seal.seal(bindingOf(own, origin), secrets);
  const nowMs = parts.nowMs();
  const credential = { ...own, sealed, last4, createdAtMs: nowMs, updatedAtMs: nowMs };
  return [{ of: 'credential', isNew: true, credential } as const];
}

/** The entry as the audit trail shows it. */
function shownEntry({ kind, baseUrl, settings, models }: StoredProvider) {
  const shown = models.map(({ name, upstream }) => ({ name, upstream }));
  return { kind, base_url: baseUrl, ...(Object.keys(settings).length === 0 ? {} : { settings }), models: shown };
}

/** The provider of that name that was entered. Throws `not_found`, or `conflict` for one of the configuration. */
export function findEntry(parts: ModelDeps, name: string): ConsoleProvider {
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

/** There is no provider of the name of the path. */
export function notThere(): ConsoleFailure {
  return new ConsoleFailure('not_found', 'there is no such provider; GET providers lists them', {
    page: '/app/providers',
  });
}

/** The provider has no credential of the given name. */
export function noCredential(provider: string): ConsoleFailure {
  return new ConsoleFailure('not_found', `${provider} has no credential of this name; GET credentials lists them`, {
    member: 'credential',
  });
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

/** The audit entry of a change or test by the caller. */
export function auditEntry(
  parts: ModelDeps,
  { actor, address }: Pick<ConsoleCall<CreateRoute>, 'actor' | 'address'>,
  act: ModelEvent['act'],
  subject: string,
  before: ModelEvent['before'],
  after: ModelEvent['after'],
) {
  return parts.auditEntry({ actor, address, act, subject, before, after });
}
