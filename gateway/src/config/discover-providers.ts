/** Discovers providers from the environment if no file configures them, and detects a local Ollama. */
import { asObject } from '../protocols/json.ts';
import { addressOf, findPreset, originOf, PRESETS } from '../providers/presets/presets.ts';
import { type Preset, type Provider, singleCredential, type Timeouts } from '../providers/provider.ts';
import type { Config } from './config.ts';
import { type ConfigProblem, environmentProblem } from './file/config-problem.ts';
import { credential, parseBaseUrl } from './file/scalar-schema.ts';
import type { Environment } from './file/yaml-tree.ts';
import { buildRemoteProvider } from './resolve-providers.ts';

export interface DiscoveredProviders {
  readonly providers: ReadonlyMap<string, Provider>;
  /** One sentence per provider found, without its credential. */
  readonly notes: readonly string[];
  readonly problems: readonly ConfigProblem[];
}

/**
 * Every preset whose credential is in the environment, in the order of the presets; of those with the same variable, the
 * first. Presets whose address depends on the account must be in the file.
 */
export function discoverProviders(environment: Environment, timeouts: Timeouts): DiscoveredProviders {
  const providers = new Map<string, Provider>();
  const notes: string[] = [];
  const used = new Set<string>();
  const problems: ConfigProblem[] = [];
  for (const preset of PRESETS) {
    const variable = preset.credentialVariables.find((name) => environment[name]);
    const address = readAddress(preset, environment);
    if (variable === undefined || used.has(variable) || address === null) continue;
    used.add(variable);
    const secret = credential.safeParse(environment[variable]);
    if (!secret.success || secret.data === null) {
      problems.push(
        environmentProblem(variable, {
          found: 'a hidden value',
          expected: 'a credential of visible ASCII characters',
          advice: `Look for a line break, space or quote that was copied with it, or unset ${variable}.`,
        }),
      );
    } else if ('found' in address) {
      problems.push(environmentProblem(preset.baseUrlVariable ?? '', address));
    } else {
      const { name, kind } = preset;
      const pool = singleCredential({ api_key: secret.data });
      const provider = buildRemoteProvider({ name, kind, preset, address, pool, timeouts });
      providers.set(name, provider);
      notes.push(`Found ${variable}: ${preset.title} answers as provider ${name} at ${provider.baseUrl}.`);
    }
  }
  return { providers, notes, problems };
}

function readAddress(preset: Preset, environment: Environment) {
  const written = preset.baseUrlVariable === null ? undefined : environment[preset.baseUrlVariable];
  return written ? parseBaseUrl(written) : addressOf(preset);
}

const OLLAMA = findPreset('ollama');
const PROBE_TIMEOUT_MS = 300;
const ANSWER_BYTES_MAX = 1024 * 1024;
const NAME = /^[^\p{Cc}]{1,256}$/u;

/**
 * The names of the models that an Ollama on 127.0.0.1:11434 has, in its order; null if none answers within 300 ms, or
 * another service does. Never rejects. `request` follows no redirect; `origin` is for tests.
 */
export async function detectOllama(
  signal: AbortSignal,
  request: (url: string, init: RequestInit) => Promise<Response>,
  origin = OLLAMA === undefined ? '' : (originOf(OLLAMA) ?? ''),
): Promise<readonly string[] | null> {
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(PROBE_TIMEOUT_MS)]);
    const response = await request(`${origin}/api/tags`, { signal: limit });
    if (response.status !== 200 || response.body === null) return null;
    const text = await readAtMost(response.body);
    return text === null ? null : readNames(JSON.parse(text));
  } catch {
    // Whatever the reason, no Ollama can be used.
    return null;
  }
}

/**
 * Adds the detected Ollama to the configuration. A file that names its providers stays as it is; the demo is removed,
 * because it exists only if nothing else does.
 */
export function withOllama(config: Config, models: readonly string[]): Config {
  if (config.providersFrom === 'file' || OLLAMA === undefined || models.length === 0) return config;
  const address = addressOf(OLLAMA);
  if (address === null) return config;
  const { name, kind, baseUrl } = OLLAMA;
  const provider = buildRemoteProvider({
    name,
    kind,
    preset: OLLAMA,
    address,
    pool: singleCredential({}),
    timeouts: config.timeouts,
  });
  const others = config.providersFrom === 'built-in' ? [] : config.providers;
  const count = models.length === 1 ? 'one model' : `${models.length} models`;
  return {
    ...config,
    providersFrom: 'environment',
    providers: new Map([...others, [name, provider]]),
    notes: [...config.notes, `Found Ollama with ${count}: it answers as provider ${name} at ${baseUrl}.`],
  };
}

async function readAtMost(body: ReadableStream<Uint8Array>): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > ANSWER_BYTES_MAX) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function readNames(answer: unknown): readonly string[] | null {
  const models = asObject(answer)?.models;
  if (!Array.isArray(models)) return null;
  return models
    .map((model) => asObject(model)?.name)
    .filter((name): name is string => typeof name === 'string' && NAME.test(name));
}
