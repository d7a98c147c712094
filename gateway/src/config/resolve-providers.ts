/** Resolves the providers of the file and the rules between their members. Knows no environment and no model. */
import { Secret } from '../lib/secret.ts';
import { localProvider } from '../providers/demo.ts';
import { API_KEY } from '../providers/openai-compatible.ts';
import { addressOf, findPreset, originOf } from '../providers/presets.ts';
import {
  type Credential,
  type CredentialPool,
  type MemberFault,
  type Preset,
  type Provider,
  type ProviderKind,
  type RemoteKind,
  type RemoteProvider,
  type Settings,
  singleCredential,
  type Timeouts,
} from '../providers/provider.ts';
import { KINDS } from '../providers/registry.ts';
import { type Fault, quoteText, type Report } from './file/config-problem.ts';
import type { ApiKeyShape, ProviderShape } from './file/provider-schema.ts';
import { type BaseUrl, parseBaseUrl } from './file/scalar-schema.ts';
import { resolveTimeouts } from './resolve-settings.ts';

/** The providers of the file by name; a provider with a problem is omitted. `kinds`: those of its schema. */
export function resolveProviders(
  shapes: { readonly [name: string]: ProviderShape },
  timeouts: Timeouts,
  report: Report,
  kinds: readonly ProviderKind[] = KINDS,
): Map<string, Provider> {
  const providers = new Map<string, Provider>();
  if (Object.keys(shapes).length === 0) report(['providers'], NO_ENTRY);
  for (const [name, shape] of Object.entries(shapes)) {
    const kind = kinds.find((one) => one.name === shape.kind);
    if (kind === undefined) throw new Error(`the schema accepts the kind ${shape.kind}, and no kind has this name`);
    const provider = resolveProvider(name, kind, shape, timeouts, (path, fault, at) => {
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
  timeouts: Timeouts,
  report: Report,
): Provider | null {
  const values: Readonly<Record<string, unknown>> = shape;
  const members = new Set(Object.keys(values).filter((member) => member !== 'kind'));
  if (reportStrange(kind, members, report)) return null;
  const preset = findPreset(shape.preset ?? kind.name) ?? null;
  const pool = resolvePool(kind, shape, report);
  const settings = resolveOwnSettings(kind, values, report);
  if (pool === null || settings === null) return null;
  const address = shape.base_url ?? addressFrom(kind, settings) ?? (preset === null ? null : addressOf(preset));
  const checks = pool.map(({ secrets }) => kind.checkConfig({ members, preset, secrets, settings }));
  // The first credential with faults: those of settings would be repeated.
  const index = checks.findIndex((found) => found.length > 0);
  const own = checks[index] ?? [];
  const lacksAddress = kind.local === null && address === null && own.length === 0;
  const faults = lacksAddress ? [missingAddress(kind)] : own;
  for (const { member, ...fault } of faults) {
    const isKey = shape.api_keys !== undefined && member === API_KEY.name;
    report(isKey ? ['api_keys', index, 'key'] : members.has(member) ? [member] : [], fault);
  }
  if (kind.local !== null) return faults.length > 0 ? null : localProvider(name, kind);
  if (address === null || faults.length > 0) return null;
  return buildRemoteProvider({
    name,
    kind,
    preset,
    address,
    pool,
    settings,
    timeouts: resolveTimeouts(shape.timeouts, timeouts),
  });
}

/** Reports members that the kind does not take; false: without one. */
function reportStrange(kind: ProviderKind, members: ReadonlySet<string>, report: Report): boolean {
  const secrets = kind.secrets.map(({ name }) => name);
  const pools = secrets.includes(API_KEY.name) ? ['api_keys'] : [];
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

/** The credentials: those of `api_keys`, or one of the secrets that are members of the provider. Null: a problem. */
function resolvePool(kind: ProviderKind, shape: ProviderShape, report: Report): CredentialPool | null {
  const values: Readonly<Record<string, unknown>> = shape;
  // The schema accepts a secret or `none` (null) under the name of a secret.
  const given = kind.secrets.flatMap(({ name }) => {
    const value = values[name];
    return value instanceof Secret ? [[name, value] as const] : [];
  });
  const { api_keys: keys } = shape;
  if (keys === undefined) return singleCredential(Object.fromEntries(given));
  if (values[API_KEY.name] !== undefined) {
    report(['api_keys'], {
      found: 'api_keys together with api_key',
      expected: 'one of the two',
      advice: 'Move the key of api_key into the list.',
    });
    return null;
  }
  const pool: Credential[] = [];
  for (const [index, key] of keys.entries()) {
    const credential = resolveKey(key, pool, (path, fault) => report(['api_keys', index, ...path], fault));
    if (credential !== null) pool.push(credential);
  }
  const [first, ...others] = pool;
  return first === undefined || pool.length < keys.length ? null : [first, ...others];
}

/** `earlier`: the keys before it in the list. */
function resolveKey(
  { name, key, weight = 1, organisation, models }: ApiKeyShape,
  earlier: readonly Credential[],
  report: Report,
): Credential | null {
  if (earlier.some((other) => other.name === name)) {
    report(['name'], {
      found: `${quoteText(name)} twice`,
      expected: 'a unique name for each key',
      advice: 'Give it another name.',
    });
    return null;
  }
  const equal = earlier.find(({ secrets }) => secrets[API_KEY.name]?.reveal() === key?.reveal());
  if (key === null || equal !== undefined) {
    report(['key'], {
      found: equal === undefined ? 'none' : `the same key as ${quoteText(equal.name)}`,
      expected: 'a key of its own for each entry',
      advice: 'Remove the entry, or write another key.',
    });
    return null;
  }
  return {
    name,
    secrets: { [API_KEY.name]: key },
    weight,
    organisation: organisation ?? null,
    models: models ?? null,
  };
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

function missingAddress({ name, takes }: RemoteKind): MemberFault {
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
