/** Resolves the providers of the file and the rules between their members. Knows no environment and no model. */
import { Secret } from '../lib/secret.ts';
import { localProvider } from '../providers/demo.ts';
import { addressOf, findPreset, originOf } from '../providers/presets.ts';
import {
  type CredentialPool,
  type MemberFault,
  type Preset,
  type Provider,
  type RemoteKind,
  type RemoteProvider,
  type Settings,
  singleCredential,
  type Timeouts,
} from '../providers/provider.ts';
import { findKind } from '../providers/registry.ts';
import type { Fault, Report } from './file/config-problem.ts';
import type { ProviderShape } from './file/file-schema.ts';
import type { BaseUrl } from './file/scalar-schema.ts';
import { resolveTimeouts } from './resolve-settings.ts';

/** The providers of the file by name; a provider with a problem is omitted. */
export function resolveProviders(
  shapes: { readonly [name: string]: ProviderShape },
  timeouts: Timeouts,
  report: Report,
): Map<string, Provider> {
  const providers = new Map<string, Provider>();
  if (Object.keys(shapes).length === 0) report(['providers'], NO_ENTRY);
  for (const [name, shape] of Object.entries(shapes)) {
    const provider = resolveProvider(name, shape, timeouts, (path, fault, at) => {
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

function resolveProvider(name: string, shape: ProviderShape, timeouts: Timeouts, report: Report): Provider | null {
  const kind = findKind(shape.kind);
  if (kind === undefined) throw new Error(`the schema accepts the kind ${shape.kind}, and no kind has this name`);
  const { preset: presetName, base_url, timeouts: ownTimeouts } = shape;
  const values: Readonly<Record<string, unknown>> = shape;
  const members = new Set(Object.keys(values).filter((member) => member !== 'kind'));
  const takes: readonly string[] = [...kind.takes, ...kind.secrets.map((secret) => secret.name)];
  const strange = [...members].filter((member) => !takes.includes(member));
  for (const member of strange) {
    report(
      [member],
      {
        found: `${member} with kind ${kind.name}`,
        expected: takes.length === 0 ? 'no other member' : `kind ${kind.name} with ${takes.join(', ')} only`,
        advice: 'Remove it, or write another kind.',
      },
      'name',
    );
  }
  if (strange.length > 0) return null;
  const preset = findPreset(presetName ?? kind.name) ?? null;
  // The schema accepts a secret or `none` (null) under the name of a secret.
  const given = kind.secrets.map((secret) => [secret.name, values[secret.name]] as const);
  const secrets = Object.fromEntries(
    given.flatMap(([name, value]) => (value instanceof Secret ? [[name, value]] : [])),
  );
  const address = base_url ?? (preset === null ? null : addressOf(preset));
  const faults = [
    ...(kind.local === null && address === null ? [missingAddress(kind)] : []),
    ...kind.checkConfig({ members, preset, secrets, settings: {} }),
  ];
  for (const { member, ...fault } of faults) report(members.has(member) ? [member] : [], fault);
  if (kind.local !== null) return faults.length > 0 ? null : localProvider(name, kind);
  if (address === null || faults.length > 0) return null;
  return buildRemoteProvider({
    name,
    kind,
    preset,
    address,
    pool: singleCredential(secrets),
    timeouts: resolveTimeouts(ownTimeouts, timeouts),
  });
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
  };
}
