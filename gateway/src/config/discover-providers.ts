/** Owns what the environment says of providers where no file does. Makes no calls. */
import { PRESETS, type Preset } from '../providers/presets.ts';
import { parseBaseUrl } from './base-url.ts';
import type { ProviderConfig, Timeouts } from './config.ts';
import type { ConfigProblem, Fault } from './config-problem.ts';
import type { Environment } from './environment-text.ts';
import { buildUpstreamProvider, originOf } from './resolve-providers.ts';
import { credential } from './scalar-schema.ts';

export interface DiscoveredProviders {
  readonly providers: ReadonlyMap<string, ProviderConfig>;
  /** A sentence for each one found, without its credential. */
  readonly notes: readonly string[];
  readonly problems: readonly ConfigProblem[];
}

/** Every preset whose credential stands in the environment, in the order of the presets. */
export function discoverProviders(environment: Environment, timeouts: Timeouts): DiscoveredProviders {
  const providers = new Map<string, ProviderConfig>();
  const notes: string[] = [];
  const problems: ConfigProblem[] = [];
  for (const preset of PRESETS) {
    const variable = preset.credentialVariables.find((name) => environment[name]);
    if (variable === undefined) continue;
    const secret = credential.safeParse(environment[variable]);
    const address = readAddress(preset, environment);
    if (!secret.success || secret.data === null) {
      problems.push(
        environmentProblem(variable, {
          found: 'a text that is not shown',
          expected: 'a credential of visible ASCII characters',
          advice: `Look for a line break, space or quote that came along when it was copied, or unset ${variable}.`,
        }),
      );
    } else if ('found' in address) {
      problems.push(environmentProblem(preset.baseUrlVariable ?? '', address));
    } else {
      const { name, kind } = preset;
      const provider = buildUpstreamProvider({ name, kind, preset, address, secret: secret.data, timeouts });
      providers.set(name, provider);
      notes.push(`Found ${variable}: ${preset.title} answers as provider ${name} at ${provider.baseUrl}.`);
    }
  }
  return { providers, notes, problems };
}

/** A problem with an environment variable. */
export function environmentProblem(variable: string, fault: Fault): ConfigProblem {
  return { source: 'environment', line: null, column: null, path: variable, ...fault };
}

function readAddress(preset: Preset, environment: Environment) {
  const written = preset.baseUrlVariable === null ? undefined : environment[preset.baseUrlVariable];
  return written ? parseBaseUrl(written) : { url: preset.baseUrl, origin: originOf(preset) };
}
