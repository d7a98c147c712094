/** Resolves the providers of the file and the rules between their members. Knows no environment and no model. */
import { findPreset, NO_QUIRKS, type Preset } from '../providers/presets.ts';
import type { BaseUrl } from './base-url.ts';
import {
  type DemoProvider,
  KIND_PROTOCOLS,
  type ProviderConfig,
  type Timeouts,
  type UpstreamProvider,
} from './config.ts';
import type { Fault, PathStep } from './file/config-problem.ts';
import type { ProviderShape } from './file/file-schema.ts';
import { resolveTimeouts } from './resolve-limits.ts';

/** Receives a problem with the value (or the name) at a path of the file. */
export type Report = (path: readonly PathStep[], fault: Fault, at?: 'value' | 'name') => void;

/** The providers of the file by name; a provider with a problem is omitted. */
export function resolveProviders(
  shapes: { readonly [name: string]: ProviderShape },
  timeouts: Timeouts,
  report: Report,
): Map<string, ProviderConfig> {
  const providers = new Map<string, ProviderConfig>();
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
  advice: 'Add one, or remove the member to have its default.',
};

function resolveProvider(name: string, shape: ProviderShape, timeouts: Timeouts, report: Report) {
  if (shape.kind === 'demo') return resolveDemo(name, shape, report);
  if (shape.preset !== undefined && shape.kind !== 'openai-compatible') {
    report(['preset'], {
      found: `a preset beside kind ${shape.kind}`,
      expected: 'a preset beside kind openai-compatible only',
      advice: 'Remove preset, or write kind: openai-compatible.',
    });
    return null;
  }
  const preset = findPreset(shape.preset ?? shape.kind) ?? null;
  const address = shape.base_url ?? (preset === null ? null : { url: preset.baseUrl, origin: originOf(preset) });
  if (address === null) {
    report([], {
      found: 'kind openai-compatible without base_url',
      expected: 'base_url or preset',
      advice: 'Add base_url: https://…/v1, or preset with the name of a known host.',
    });
    return null;
  }
  const needsCredential = preset !== null && preset.credentialVariables.length > 0;
  if (shape.api_key === undefined && needsCredential) {
    report([], {
      found: 'no api_key',
      expected: 'a credential, or none',
      advice: `Add api_key: \${${preset.credentialVariables[0]}}, or api_key: none.`,
    });
    return null;
  }
  return buildUpstreamProvider({
    name,
    kind: shape.kind,
    preset,
    address,
    secret: shape.api_key ?? null,
    timeouts: resolveTimeouts(shape.timeouts, timeouts),
  });
}

interface UpstreamParts {
  readonly name: string;
  readonly kind: UpstreamProvider['kind'];
  readonly preset: Preset | null;
  readonly address: BaseUrl;
  readonly secret: NonNullable<UpstreamProvider['credential']>['secret'] | null;
  readonly timeouts: Timeouts;
}

/**
 * Builds a provider from its parts: binds the credential to the address, and puts the address in the form that
 * `baseUrl` documents.
 */
export function buildUpstreamProvider({
  name,
  kind,
  preset,
  address,
  secret,
  timeouts,
}: UpstreamParts): UpstreamProvider {
  // Anthropic's own SDK takes addresses without the version, other clients with it: both are accepted.
  const lacksVersion = kind === 'anthropic' && !address.url.endsWith('/v1');
  return {
    name,
    kind,
    protocols: KIND_PROTOCOLS[kind],
    baseUrl: lacksVersion ? `${address.url}/v1` : address.url,
    credential: secret === null ? null : { origin: address.origin, secret },
    timeouts,
    catalogProvider: preset?.catalogProvider ?? null,
    quirks: preset?.quirks ?? NO_QUIRKS,
    // At another address, another gateway may answer.
    provenLimits: preset !== null && address.origin === originOf(preset) ? preset.provenLimits : [],
  };
}

/** The origin of a preset's address. */
export function originOf(preset: Preset): string {
  return new URL(preset.baseUrl).origin;
}

function resolveDemo(name: string, shape: ProviderShape, report: Report): DemoProvider | null {
  const idle = (['preset', 'base_url', 'api_key', 'timeouts'] as const).filter((member) => shape[member] !== undefined);
  for (const member of idle) {
    report(
      [member],
      {
        found: `${member} beside kind demo`,
        expected: 'kind alone: the demo answers inside the gateway',
        advice: 'Remove it.',
      },
      'name',
    );
  }
  return idle.length > 0 ? null : { name, kind: 'demo', protocols: KIND_PROTOCOLS.demo };
}
