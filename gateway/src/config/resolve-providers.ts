/** Resolves the providers of the file and the rules between their members. Knows no environment and no model. */
import { Secret } from '../lib/secret.ts';
import type { SharedState } from '../protocols/stored/shared-state.ts';
import { localProvider } from '../providers/kinds/demo.ts';
import { API_KEY } from '../providers/kinds/openai-compatible.ts';
import { addressOf, findPreset, originOf } from '../providers/presets/presets.ts';
import {
  type Credential,
  type CredentialPool,
  type MemberFault,
  type Preset,
  type Provider,
  type ProviderKind,
  type RemoteKind,
  type RemoteProvider,
  type Secrets,
  type Settings,
  singleCredential,
  type Timeouts,
} from '../providers/provider.ts';
import { KINDS } from '../providers/registry.ts';
import { type Fault, type PathStep, quoteText, type Report } from './file/config-problem.ts';
import type { ProviderShape } from './file/provider-schema.ts';
import { type BaseUrl, parseBaseUrl } from './file/scalar-schema.ts';
import { resolveTimeouts } from './resolve-settings.ts';

/** What providers take from other sections of the file. */
interface Surroundings {
  readonly timeouts: Timeouts;
  /** Origins that ambient credentials may be used for besides the vendor's. */
  readonly privateOrigins: readonly string[];
}

/** The providers of the file by name; a provider with a problem is omitted. `kinds`: those of its schema. */
export function resolveProviders(
  shapes: { readonly [name: string]: ProviderShape },
  surroundings: Surroundings,
  report: Report,
  kinds: readonly ProviderKind[] = KINDS,
): Map<string, Provider> {
  const providers = new Map<string, Provider>();
  if (Object.keys(shapes).length === 0) report(['providers'], NO_ENTRY);
  for (const [name, shape] of Object.entries(shapes)) {
    const kind = kinds.find((one) => one.name === shape.kind);
    if (kind === undefined) throw new Error(`the schema accepts the kind ${shape.kind}, and no kind has this name`);
    const provider = resolveProvider(name, kind, shape, surroundings, (path, fault, at) => {
      report(['providers', name, ...path], fault, at);
    });
    if (provider !== null) providers.set(name, provider);
  }
  return providers;
}

/** For an empty mapping of names: omitting the mapping would mean something else. */
export const NO_ENTRY: Fault = {
  found: 'an empty mapping',
  expected: 'at least one name',
  advice: 'Add one, or remove the member to use its default.',
};

function resolveProvider(
  name: string,
  kind: ProviderKind,
  shape: ProviderShape,
  { timeouts, privateOrigins }: Surroundings,
  report: Report,
): Provider | null {
  const values: Written = shape;
  const members = new Set(Object.keys(values).filter((member) => !ANY_KIND.has(member)));
  if (reportStrange(kind, members, report)) return null;
  const preset = findPreset(shape.preset ?? kind.name) ?? null;
  const pool = resolvePool(kind, shape, report);
  const written = resolveOwnSettings(kind, values, report);
  if (pool === null || written === null) return null;
  const credentials = pool.map(({ credential }) => credential);
  const settings = kind.local === null ? completeSettings(kind, written, credentials, true) : written;
  if (preset !== null && preset.kind !== kind) {
    report(['preset'], otherKind(kind, preset));
    return null;
  }
  const address = shape.base_url ?? addressFrom(kind, settings) ?? (preset === null ? null : addressOf(preset));
  const found = pool.flatMap(({ credential, places, place }) => {
    const { secrets, source } = credential;
    const given = { members: new Set([...members, ...places.keys()]), preset, secrets, source, settings };
    const isSecret = (member: string) => kind.secrets.some(({ name }) => name === member);
    const own = kind.checkConfig(given).map(({ member, ...fault }) => ({
      path: places.get(member) ?? (isSecret(member) ? place : members.has(member) ? [member] : []),
      fault,
    }));
    return kind.local === null && own.length === 0 && isAstray(kind, credential, address, privateOrigins)
      ? [{ path: members.has('base_url') ? ['base_url'] : place, fault: astray(kind) }]
      : own;
  });
  // A fault of the provider is found with each of its credentials.
  const faults = new Map(found.map((one) => [JSON.stringify(one), one]));
  if (kind.local === null && address === null && faults.size === 0) {
    const { member, ...fault } = missingAddress(kind, preset);
    faults.set('', { path: members.has(member) ? [member] : [], fault });
  }
  for (const { path, fault } of faults.values()) report(path, fault);
  if (kind.local !== null) return faults.size > 0 ? null : localProvider(name, kind);
  if (address === null || faults.size > 0) return null;
  const [{ credential: first }, ...others] = pool;
  const provider = buildRemoteProvider({
    name,
    kind,
    preset,
    address,
    pool: [first, ...others.map(({ credential }) => credential)],
    settings,
    timeouts: resolveTimeouts(shape.timeouts, timeouts),
  });
  return shape.shared_state === undefined ? provider : { ...provider, shared: shape.shared_state.map(resolveShared) };
}

/** Members of every kind, for which none answers. */
const ANY_KIND: ReadonlySet<string> = new Set(['kind', 'shared_state']);

function resolveShared({ id, workspaces }: NonNullable<ProviderShape['shared_state']>[number]): SharedState {
  return { id, workspaces: workspaces ?? null };
}

/** The given settings and, for missing ones, the values that all credentials of the provider agree on. */
export function completeSettings(
  kind: RemoteKind,
  given: Settings,
  credentials: readonly Pick<Credential, 'secrets' | 'source'>[],
  usesMachine: boolean,
): Settings {
  if (kind.findSettings === undefined) return given;
  const [first, ...others] = credentials.map((credential) => kind.findSettings?.(credential, usesMachine) ?? {});
  const agreed = Object.entries(first ?? {}).filter(([name, value]) => others.every((one) => one[name] === value));
  return { ...Object.fromEntries(agreed), ...given };
}

/** The credential uses files, variables or servers of this machine, or addresses of its own. */
export function isAmbient(kind: RemoteKind, { source, secrets }: Pick<Credential, 'source' | 'secrets'>): boolean {
  return source !== null || (kind.isAmbient?.(secrets) ?? false);
}

/** An ambient credential would go to an address that is neither the vendor's nor allowed by name. */
function isAstray(
  kind: RemoteKind,
  credential: Credential,
  address: BaseUrl | null,
  privateOrigins: readonly string[],
): boolean {
  if (address === null || !isAmbient(kind, credential) || privateOrigins.includes(address.origin)) return false;
  const { protocol, hostname } = new URL(address.origin);
  return protocol !== 'https:' || !(kind.vendorDomains ?? []).some((domain) => hostname.endsWith(`.${domain}`));
}

function astray({ name, vendorDomains = [] }: RemoteKind): Fault {
  return {
    found: 'an address that is not the vendor’s, with a credential of this machine',
    expected: `kind ${name} with https:// and a host of ${vendorDomains.join(', ')}`,
    advice: 'Correct base_url, or write its origin under server.private_origins to allow it.',
  };
}

/** Reports members that the kind does not take; false: without one. */
function reportStrange(kind: ProviderKind, members: ReadonlySet<string>, report: Report): boolean {
  const secrets = kind.secrets.map(({ name }) => name);
  const pools = [
    ...(secrets.includes(API_KEY.name) ? ['api_keys'] : []),
    ...(secrets.length > 0 ? ['credentials'] : []),
  ];
  const takes: readonly string[] = [...kind.takes, ...secrets, ...pools, ...kind.settings.map(({ name }) => name)];
  const strange = [...members].filter((member) => !takes.includes(member));
  for (const member of strange) {
    const fault = {
      found: `${member} with kind ${kind.name}`,
      expected: takes.length === 0 ? 'no other member' : `kind ${kind.name} with ${takes.join(', ')} only`,
      advice: 'Remove it, or write another kind.',
    };
    report([member], fault, 'name');
  }
  return strange.length > 0;
}

/** A credential, and where the file has each of its secrets. */
interface PlacedCredential {
  readonly credential: Credential;
  /** Of the members that were given, by name. */
  readonly places: ReadonlyMap<string, readonly PathStep[]>;
  readonly place: readonly PathStep[];
}

type PlacedPool = readonly [PlacedCredential, ...PlacedCredential[]];
type Written = Readonly<Record<string, unknown>>;

/** The credentials: those of `credentials` or `api_keys`, or one of the secrets that are members of the provider. */
function resolvePool(kind: ProviderKind, shape: ProviderShape, report: Report): PlacedPool | null {
  const { api_keys: keys, credentials } = shape;
  const forms = [
    ...(credentials === undefined ? [] : ['credentials']),
    ...(keys === undefined ? [] : ['api_keys']),
    ...kind.secrets.filter(({ name }) => name in shape).map(({ name }) => name),
  ];
  const [form, other] = forms;
  if (form !== undefined && other !== undefined && (credentials !== undefined || keys !== undefined)) {
    const advice = other === API_KEY.name ? `Move the key of ${other} into the list.` : `Move ${other} into ${form}.`;
    report([form], { found: `${form} together with ${other}`, expected: 'one of the two', advice });
    return null;
  }
  if (keys !== undefined) {
    return resolveEntries(
      keys.map(({ key, ...entry }) => ({ ...entry, [API_KEY.name]: key })),
      (index, member) => ['api_keys', index, ...(member === API_KEY.name ? ['key'] : member === null ? [] : [member])],
      { kind, report },
    );
  }
  if (credentials instanceof Secret) return resolveText(kind, credentials, report);
  if (Array.isArray(credentials)) {
    const placeOf = (index: number, member: string | null) => [
      'credentials',
      index,
      ...(member === null ? [] : [member]),
    ];
    return resolveEntries(credentials, placeOf, { kind, report });
  }
  const place = credentials === undefined ? [] : ['credentials'];
  const placed = placeSecrets(kind, credentials ?? shape, (member) => [...place, member], report);
  if (placed === null) return null;
  const [credential] = singleCredential(placed.secrets);
  return [{ credential, places: placed.places, place }];
}

/** `credentials` as one text: a word of the kind, or its document. */
function resolveText(kind: ProviderKind, text: Secret, report: Report): PlacedPool | null {
  const place = ['credentials'];
  const sources = kind.sources ?? [];
  const source = sources.find(({ word }) => word === text.reveal())?.word ?? null;
  const document = kind.secrets.find((secret) => secret.document === true);
  if (source === null && document === undefined) {
    const words = sources.map(({ word }) => `${word}, or `).join('');
    report(place, {
      found: 'a hidden text',
      expected: `${words}a mapping with ${kind.secrets.map(({ name }) => name).join(', ')}`,
      advice: 'Correct it.',
    });
    return null;
  }
  const secrets = source === null && document !== undefined ? { [document.name]: text } : {};
  const [credential] = singleCredential(secrets, source);
  return [{ credential, places: new Map(Object.keys(secrets).map((name) => [name, place])), place }];
}

interface EntryShape extends Written {
  readonly name: string;
  readonly weight?: number | undefined;
  readonly organisation?: string | undefined;
  readonly models?: readonly string[] | undefined;
}

/** `placeOf`: the place of a member of the entry with that index; null: of the entry. */
function resolveEntries(
  entries: readonly EntryShape[],
  placeOf: (index: number, member: string | null) => readonly PathStep[],
  { kind, report }: { readonly kind: ProviderKind; readonly report: Report },
): PlacedPool | null {
  const pool: PlacedCredential[] = [];
  for (const [index, entry] of entries.entries()) {
    const { name, weight = 1, organisation, models } = entry;
    if (pool.some(({ credential }) => credential.name === name)) {
      report(placeOf(index, 'name'), {
        found: `${quoteText(name)} twice`,
        expected: 'a unique name for each credential',
        advice: 'Give it another name.',
      });
      continue;
    }
    const placed = placeSecrets(kind, entry, (member) => placeOf(index, member), report);
    if (placed === null) continue;
    const { secrets, places } = placed;
    const [first = placeOf(index, null)] = places.values();
    const equal = pool.find(({ credential }) => areEqual(credential.secrets, secrets))?.credential.name;
    if (Object.keys(secrets).length === 0 || equal !== undefined) {
      report(first, {
        found: equal === undefined ? 'none' : `the same secrets as ${quoteText(equal)}`,
        expected: 'secrets of its own for each entry',
        advice: 'Remove the entry, or write other secrets.',
      });
      continue;
    }
    const own = { weight, organisation: organisation ?? null, models: models ?? null };
    pool.push({ credential: { name, secrets, source: null, ...own }, places, place: placeOf(index, null) });
  }
  const [first, ...others] = pool;
  return first === undefined || pool.length < entries.length ? null : [first, ...others];
}

/** The secrets of the kind among the members; null: a member is a secret of another kind. */
function placeSecrets(
  kind: ProviderKind,
  members: Written,
  placeOf: (member: string) => readonly PathStep[],
  report: Report,
) {
  const names = kind.secrets.map(({ name }) => name);
  // The schema accepts a secret or `none` (null) under the name of a secret.
  const written = Object.entries(members).filter(([, value]) => value instanceof Secret || value === null);
  const strange = written.filter(([name]) => !names.includes(name));
  for (const [name] of strange) {
    const found = `${name} with kind ${kind.name}`;
    report(
      placeOf(name),
      { found, expected: `kind ${kind.name} with ${names.join(', ')} only`, advice: 'Remove it.' },
      'name',
    );
  }
  if (strange.length > 0) return null;
  const secrets: Secrets = Object.fromEntries(
    written.flatMap(([name, value]) => (value instanceof Secret ? [[name, value] as const] : [])),
  );
  return { secrets, places: new Map(written.map(([name]) => [name, placeOf(name)])) };
}

function areEqual(one: Secrets, other: Secrets): boolean {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].every((name) => one[name]?.reveal() === other[name]?.reveal());
}

/** The settings of the kind; null: one of them has a problem. */
function resolveOwnSettings(kind: ProviderKind, values: Readonly<Record<string, unknown>>, report: Report) {
  const settings = new Map<string, string>();
  for (const { name, pattern, expected } of kind.settings) {
    const value = values[name];
    if (typeof value !== 'string') continue;
    if (!pattern.test(value)) {
      report([name], { found: quoteText(value), expected, advice: 'Correct it.' });
      return null;
    }
    settings.set(name, value);
  }
  return Object.fromEntries(settings);
}

/** The address that follows from the settings, or null. */
function addressFrom(kind: ProviderKind, settings: Settings): BaseUrl | null {
  const url = kind.local === null ? (kind.addressOf?.(settings) ?? null) : null;
  if (url === null) return null;
  const address = parseBaseUrl(url);
  if ('found' in address) throw new Error(`the settings of kind ${kind.name} make no address: ${address.found}`);
  return address;
}

/** The preset is of another kind. */
function otherKind({ name }: ProviderKind, preset: Preset): Fault {
  return {
    found: `preset ${preset.name} with kind ${name}`,
    expected: `kind ${preset.kind.name}`,
    advice: `Write kind: ${preset.kind.name}, or another preset.`,
  };
}

function missingAddress({ name, takes }: RemoteKind, preset: Preset | null): MemberFault {
  if (preset !== null) {
    return {
      member: 'base_url',
      found: `preset ${preset.name} without base_url`,
      expected: `the address of your account, such as ${preset.baseUrl}`,
      advice: 'Add base_url.',
    };
  }
  return {
    member: 'base_url',
    found: `kind ${name} without base_url`,
    expected: takes.includes('preset') ? 'base_url or preset' : 'base_url',
    advice: `Add base_url: https://…/v1${takes.includes('preset') ? ', or preset with the name of a known provider' : ''}.`,
  };
}

interface RemoteParts {
  readonly name: string;
  readonly kind: RemoteKind;
  readonly preset: Preset | null;
  readonly address: BaseUrl;
  readonly pool: CredentialPool;
  readonly settings?: Settings;
  readonly timeouts: Timeouts;
}

/** Builds a provider from its parts; binds the credentials to the address. */
export function buildRemoteProvider(parts: RemoteParts): RemoteProvider {
  const { name, kind, preset, address, pool, settings = {}, timeouts } = parts;
  return {
    name,
    kind,
    baseUrl: kind.completeBaseUrl(address.url),
    credentials: { origin: address.origin, pool },
    settings,
    timeouts,
    catalogProvider: preset?.catalogProvider ?? null,
    quirks: preset?.quirks ?? kind.quirks,
    // At another address, another gateway may answer.
    provenLimits: preset !== null && address.origin === originOf(preset) ? preset.provenLimits : [],
    maxConcurrency: preset?.maxConcurrency ?? null,
  };
}
