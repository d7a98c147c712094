/**
 * Resolves the providers entered in the console: each becomes a provider like the file's, or a reason why it cannot be
 * used, and adds its models. The configuration takes precedence.
 */

import { isPublicAddress, parseIpAddress } from '../lib/ip-range.ts';
import { Secret } from '../lib/secret.ts';
import type { CredentialBinding } from '../providers/credentials/credential-seal.ts';
import { addressOf, findPreset, PRESETS } from '../providers/presets/presets.ts';
import {
  type Credential,
  type CredentialPool,
  type Preset,
  type RemoteKind,
  type RemoteProvider,
  type Secrets,
  type Settings,
  singleCredential,
} from '../providers/provider.ts';
import { KINDS } from '../providers/registry.ts';
import { credentialsFor } from '../providers/upstream.ts';
import {
  DEFAULT_CREDENTIAL,
  type EnteredModel,
  type StoredCredential,
  type StoredProvider,
} from '../store/ports/providers.ts';
import type { Config, Defaults, RoutingDefaults } from './config.ts';
import { type Fault, quoteText } from './file/config-problem.ts';
import { type BaseUrl, parseBaseUrl } from './file/scalar-schema.ts';
import { buildRemoteProvider, isAmbient } from './resolve-providers.ts';
import { plainTarget } from './resolve-routing.ts';
import { type ListCatalogNames, plainModel, type ServedModel, withCatalog } from './served-models.ts';

/** A kind of provider that the console can add. */
export interface ConsoleKind {
  readonly name: string;
  readonly title: string;
  readonly kind: RemoteKind;
  /** Null: the user must enter the address. */
  readonly preset: Preset | null;
}

/** The presets, and the kinds that have none. */
export const CONSOLE_KINDS: readonly ConsoleKind[] = [
  ...PRESETS.map((preset) => ({ name: preset.name, title: preset.title, kind: preset.kind, preset })),
  ...KINDS.flatMap((kind) =>
    kind.local !== null || findPreset(kind.name) !== undefined
      ? []
      : { name: kind.name, title: kind.title, kind, preset: null },
  ),
];

/** The kind of that name, or undefined. */
export function findConsoleKind(name: string): ConsoleKind | undefined {
  return CONSOLE_KINDS.find((kind) => kind.name === name);
}

/** The address of a console provider: the given one, else that of its settings or its kind. */
export function readConsoleAddress(
  consoleKind: ConsoleKind,
  written: string | null,
  settings: Settings,
  { privateOrigins }: Config['server'],
): BaseUrl | Fault {
  const { preset } = consoleKind;
  const text = written ?? ownAddress(consoleKind, settings);
  if (text === null) {
    const form = preset === null ? '' : `, such as ${preset.baseUrl}`;
    return { found: 'no address', expected: `an address: this kind has no default${form}`, advice: 'Add it.' };
  }
  const address = parseBaseUrl(text);
  return 'found' in address ? address : (checkConsoleAddress(address, privateOrigins) ?? address);
}

/** The address that follows from the settings, else the kind's default; null: neither exists. */
function ownAddress({ kind, preset }: ConsoleKind, settings: Settings): string | null {
  return kind.addressOf?.(settings) ?? (preset === null ? null : (addressOf(preset)?.url ?? null));
}

type Placed = Pick<StoredProvider, 'baseUrl' | 'settings'>;

/** The address that was entered; null: the address follows from the settings, or is the kind's default. */
export function enteredAddress(consoleKind: ConsoleKind, { baseUrl, settings }: Placed): string | null {
  const own = ownAddress(consoleKind, settings);
  const { completeBaseUrl } = consoleKind.kind;
  return own !== null && completeBaseUrl(own) === completeBaseUrl(baseUrl) ? null : baseUrl;
}

/**
 * Whether credentials entered for the first place must not be sent to the second. Another path may be another tenant of
 * the host. An address that follows from the settings brings the other doors of its kind, with hosts of their own.
 */
export function isMoved(consoleKind: ConsoleKind, from: Placed, to: Placed): boolean {
  const { completeBaseUrl } = consoleKind.kind;
  if (completeBaseUrl(from.baseUrl) !== completeBaseUrl(to.baseUrl)) return true;
  return enteredAddress(consoleKind, to) === null && enteredAddress(consoleKind, from) !== null;
}

const SECRET_TEXT = /^[\x21-\x7e]{1,4096}$/;
const COPIED = 'look for a line break, space or quote that was copied with it';

/** The first fault of what was entered, in words that contain no secret. `member`: `secrets.api_key`. */
export interface EntryFault {
  readonly member: string;
  readonly words: string;
}

/** Reads the settings of a provider as entered, by their names. */
export function readSettings(
  { name, kind }: ConsoleKind,
  written: Readonly<Record<string, string>>,
): { readonly settings: Settings } | { readonly fault: EntryFault } {
  for (const [member, text] of Object.entries(written)) {
    const setting = kind.settings.find((one) => one.name === member);
    if (setting?.pattern.test(text) === true) continue;
    const names = kind.settings.map((one) => one.name).join(', ');
    const words =
      setting === undefined
        ? `found a setting that ${name} does not take, expected ${names === '' ? 'none' : names}`
        : `found ${quoteText(text)}, expected ${setting.expected}`;
    return { fault: { member: `settings.${member}`, words } };
  }
  return { settings: written };
}

/** Reads the secrets of one credential as entered, by their names, for a provider with these settings. */
export function readSecrets(
  consoleKind: ConsoleKind,
  settings: Settings,
  written: Readonly<Record<string, string>>,
): { readonly secrets: Secrets } | { readonly fault: EntryFault } {
  const read = parseSecrets(consoleKind, written);
  if ('fault' in read) return read;
  const fault = findEntryFault(consoleKind, settings, read.secrets);
  return fault === null ? read : { fault };
}

/** Reads the secrets of one credential by themselves: `findEntryFault` says whether the settings fit. */
export function parseSecrets(
  { name, kind }: ConsoleKind,
  written: Readonly<Record<string, string>>,
): { readonly secrets: Secrets } | { readonly fault: EntryFault } {
  const faultOf = (member: string, words: string) => ({ fault: { member: `secrets.${member}`, words } });
  for (const [member, text] of Object.entries(written)) {
    const secret = kind.secrets.find((one) => one.name === member);
    if (secret === undefined) {
      const names = kind.secrets.map((one) => one.name).join(', ');
      return faultOf(member, `found a secret that ${name} does not take, expected ${names}`);
    }
    if (secret.document !== true && !SECRET_TEXT.test(text)) {
      return faultOf(member, `found characters that are not visible ASCII; ${COPIED}`);
    }
  }
  const given = kind.secrets.filter((secret) => Object.hasOwn(written, secret.name));
  const secrets = Object.fromEntries(given.map((secret) => [secret.name, new Secret(written[secret.name] ?? '')]));
  // Before anything is read of it: it may be a path.
  if (isAmbient(kind, { source: null, secrets })) {
    const [member = ''] = Object.keys(secrets);
    const words = 'found a credential that names files or addresses, which only the configuration file may contain';
    return faultOf(member, words);
  }
  return { secrets };
}

/** The first fault of settings together with the secrets of a credential; null: they fit. */
export function findEntryFault({ kind, preset }: ConsoleKind, settings: Settings, secrets: Secrets): EntryFault | null {
  const members = new Set(['base_url', ...Object.keys(secrets), ...Object.keys(settings)]);
  const [fault] = kind.checkConfig({ members, preset, secrets, source: null, settings });
  if (fault === undefined) return null;
  const isSetting = kind.settings.some((one) => one.name === fault.member);
  return {
    member: `${isSetting ? 'settings' : 'secrets'}.${fault.member}`,
    words: `found ${fault.found}, expected ${fault.expected}`,
  };
}

/** Four characters of a shorter credential would reveal too much, and those of a JSON document nothing. */
const SHOWN_FROM_CHARACTERS = 12;

/** The last four characters of the first secret; empty for a short one and for a document; null: no secret. */
export function lastFour(secrets: Secrets): string | null {
  const [text = null] = Object.values(secrets).map((secret) => secret.reveal());
  if (text === null) return null;
  return text.length < SHOWN_FROM_CHARACTERS || text.startsWith('{') ? '' : text.slice(-4);
}

/** A provider as entered, and the provider resolved from it. */
export interface ConsoleProvider {
  readonly entry: StoredProvider;
  /** In order of creation; empty: it takes none. */
  readonly credentials: readonly StoredCredential[];
  /** Null: it cannot be used. */
  readonly provider: RemoteProvider | null;
  /** Its problems, as sentences for the operator; null: no problem. */
  readonly problem: string | null;
}

/** Decrypts a credential's secrets, sealed for this origin; null if they cannot be decrypted. */
export type OpenCredential = (credential: StoredCredential, origin: string) => Secrets | null;

/** The providers and credentials that were entered. */
export interface EnteredProviders {
  readonly providers: readonly StoredProvider[];
  readonly credentials: readonly StoredCredential[];
}

/** Resolves each entry against this configuration. */
export function resolveConsoleProviders(
  config: Config,
  entered: EnteredProviders,
  openCredential: OpenCredential,
): readonly ConsoleProvider[] {
  return entered.providers.map((entry) => {
    const credentials = entered.credentials.filter(({ provider }) => provider === entry.name);
    return { entry, credentials, ...resolveEntry(config, entry, credentials, openCredential) };
  });
}

/** The account whose operators enter providers. */
const OWNER = 'default';

/**
 * Binds the secrets of a credential to it and to the origin that they may be sent to. The first credential of a provider
 * is bound to the provider alone, as before it could have others.
 */
export function bindingOf(
  { provider, name }: Pick<StoredCredential, 'provider' | 'name'>,
  origin: string,
): CredentialBinding {
  return { tenant: OWNER, provider: name === DEFAULT_CREDENTIAL ? provider : `${provider}/${name}`, origin };
}

const SEALED_OTHERWISE = 'the master key is another one, or the database was changed';

type Resolved = Pick<ConsoleProvider, 'provider' | 'problem'>;

function resolveEntry(
  config: Config,
  entry: StoredProvider,
  credentials: readonly StoredCredential[],
  openCredential: OpenCredential,
): Resolved {
  const unused = (problem: string): Resolved => ({ provider: null, problem });
  if (config.providers.has(entry.name)) {
    return unused(
      'The configuration has a provider of this name, which is used instead. Take this one away, and add it under another name.',
    );
  }
  const consoleKind = findConsoleKind(entry.kind);
  if (consoleKind === undefined) return unused(`This version does not know the kind ${quoteText(entry.kind)}.`);
  const { settings } = entry;
  const address = readConsoleAddress(consoleKind, entry.baseUrl, settings, config.server);
  if ('found' in address) {
    return unused(`Its address is not used: found ${address.found}, expected ${address.expected}. ${address.advice}`);
  }
  if (credentials.length === 0 && 'fault' in readSecrets(consoleKind, settings, {})) {
    return unused(`It has no credential, and ${consoleKind.name} needs one. Add one.`);
  }
  const { pool, sealed } = openPool(credentials, (credential) => openCredential(credential, address.origin));
  if (pool === null) {
    return unused(`Its credential cannot be opened: ${SEALED_OTHERWISE}. Enter the credential again.`);
  }
  return {
    provider: buildConsoleProvider(config, consoleKind, { name: entry.name, address, settings, pool }),
    problem:
      sealed.length === 0
        ? null
        : `It goes without its credentials ${sealed.map(quoteText).join(', ')}, which cannot be opened: ${SEALED_OTHERWISE}. Enter them again.`,
  };
}

/** Builds a provider from its entered settings. It reaches public addresses only, unless the file allows its origin. */
export function buildConsoleProvider(
  { server, timeouts }: Config,
  { kind, preset }: ConsoleKind,
  entered: Pick<RemoteProvider, 'name' | 'settings'> & { readonly address: BaseUrl; readonly pool: CredentialPool },
): RemoteProvider {
  const built = buildRemoteProvider({ ...entered, kind, preset, timeouts });
  return server.privateOrigins.includes(entered.address.origin) ? built : { ...built, publicOnly: true };
}

/** `pool` null: no credential can be opened. `sealed`: the names of those that cannot. */
function openPool(
  credentials: readonly StoredCredential[],
  open: (credential: StoredCredential) => Secrets | null,
): { readonly pool: CredentialPool | null; readonly sealed: readonly string[] } {
  if (credentials.length === 0) return { pool: singleCredential({}), sealed: [] };
  const opened: Credential[] = [];
  const sealed: string[] = [];
  for (const credential of credentials) {
    const { name, weight, organisation, models } = credential;
    const secrets = open(credential);
    if (secrets === null) sealed.push(name);
    else opened.push({ name, secrets, source: null, weight, organisation, models });
  }
  const [first, ...others] = opened;
  return { pool: first === undefined ? null : [first, ...others], sealed };
}

/** All models including those of the console's providers, and the entries with the problems found. */
export interface ModelsWithConsole {
  readonly models: ReadonlyMap<string, ServedModel>;
  readonly providers: readonly ConsoleProvider[];
}

/**
 * Adds the models of the console's providers. A name that the configuration serves stays unchanged; if two entries
 * share a name, the earlier one answers, and the other becomes its next target.
 */
export function addConsoleModels(
  configured: ReadonlyMap<string, ServedModel>,
  providers: readonly ConsoleProvider[],
  listCatalogNames: ListCatalogNames,
  { routing }: Defaults,
): ModelsWithConsole {
  const models = new Map(configured);
  const judged = providers.map((one) => {
    const { entry, provider } = one;
    if (provider === null) return one;
    const listed = entry.models.length > 0 ? entry.models : listKnown(provider, listCatalogNames);
    const taken = listed.filter(({ name }) => configured.has(name)).map(({ name }) => name);
    const free = listed.filter(({ name }) => !configured.has(name));
    const closed = free.filter(({ upstream }) => credentialsFor(provider, upstream) === null).map(({ name }) => name);
    for (const model of free) if (!closed.includes(model.name)) addTarget(models, model, provider, routing);
    // Models that the catalog lists were not asked for.
    const said = entry.models.length === 0 ? [] : [sayTaken(taken), sayClosed(closed)];
    const problems = [one.problem, ...said].filter((each) => each !== null);
    return { ...one, problem: problems.length === 0 ? null : problems.join(' ') };
  });
  return { models, providers: judged };
}

function listKnown({ catalogProvider }: RemoteProvider, listCatalogNames: ListCatalogNames): readonly EnteredModel[] {
  const names = catalogProvider === null ? [] : listCatalogNames(catalogProvider);
  return names.map((name) => ({ name, upstream: name }));
}

function addTarget(
  models: Map<string, ServedModel>,
  { name, upstream }: EnteredModel,
  provider: RemoteProvider,
  routing: RoutingDefaults,
) {
  const target = withCatalog(plainTarget(provider, upstream));
  models.set(name, plainModel(name, models.get(name)?.targets ?? [], target, routing));
}

function sayTaken(taken: readonly string[]): string | null {
  return taken.length === 0
    ? null
    : `The configuration serves ${listShort(taken)} itself: calls go where it says, and not here. Give the models of this provider other names.`;
}

function sayClosed(closed: readonly string[]): string | null {
  return closed.length === 0
    ? null
    : `None of its credentials may be used for ${listShort(closed)}: add the models to a credential.`;
}

function listShort(names: readonly string[]): string {
  const more = names.length > 5 ? ` and ${names.length - 5} more` : '';
  return names.slice(0, 5).map(quoteText).join(', ') + more;
}

/** Names that no public server has: RFC 6761, RFC 6762, and the name that ICANN reserved for private use in 2024. */
const LOCAL_NAME = /(?:^|\.)(?:localhost|local|internal|localdomain|home\.arpa|lan|intranet)$/;

/**
 * Why the address cannot be used; null: the address itself shows no reason. A user with write access to the console
 * need not have access to the file: addresses reachable only from this machine must be in the file.
 */
export function checkConsoleAddress({ origin }: BaseUrl, privateOrigins: readonly string[]): Fault | null {
  if (privateOrigins.includes(origin)) return null;
  const { protocol, hostname } = new URL(origin);
  const advice = `Write ${origin} under server.private_origins in the configuration file to allow it.`;
  if (protocol !== 'https:') return { found: quoteText(origin), expected: 'an https:// address', advice };
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const address = parseIpAddress(host);
  const isPublic = address === null ? host.includes('.') && !LOCAL_NAME.test(host) : isPublicAddress(address);
  return isPublic ? null : { found: quoteText(origin), expected: 'a public host', advice };
}
