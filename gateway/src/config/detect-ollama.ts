/** Owns finding an Ollama on this machine's standard port, and adding it to a configuration that names no providers. */
import { findPreset } from '../providers/presets.ts';
import type { Config } from './config.ts';
import { buildUpstreamProvider, originOf } from './resolve-providers.ts';

const OLLAMA = findPreset('ollama');
const PROBE_TIMEOUT_MS = 300;
const ANSWER_BYTES_MAX = 1024 * 1024;
const NAME = /^[^\p{Cc}]{1,256}$/u;

/**
 * The names of the models that an Ollama on 127.0.0.1:11434 has, in its order; null where none answers within 300 ms, or
 * something else does. Never rejects. `origin` is for tests.
 */
export async function detectOllama(
  signal: AbortSignal,
  origin = OLLAMA === undefined ? '' : originOf(OLLAMA),
): Promise<readonly string[] | null> {
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(PROBE_TIMEOUT_MS)]);
    const response = await fetch(`${origin}/api/tags`, { signal: limit, redirect: 'error', proxy: false });
    if (response.status !== 200 || response.body === null) return null;
    const text = await readAtMost(response.body);
    return text === null ? null : readNames(JSON.parse(text));
  } catch {
    // Whatever keeps it from answering, there is no Ollama that could be used.
    return null;
  }
}

/**
 * The configuration with the Ollama that was found. A file that names its providers stays as it is; the demo, which is
 * there only where nothing else is, goes.
 */
export function withOllama(config: Config, models: readonly string[]): Config {
  if (config.providersFrom === 'file' || OLLAMA === undefined || models.length === 0) return config;
  const { name, baseUrl } = OLLAMA;
  const provider = buildUpstreamProvider({
    name,
    kind: 'openai-compatible',
    preset: OLLAMA,
    address: { url: baseUrl, origin: originOf(OLLAMA) },
    secret: null,
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
  const models = readMember(answer, 'models');
  if (!Array.isArray(models)) return null;
  return models
    .map((model) => readMember(model, 'name'))
    .filter((name): name is string => typeof name === 'string' && NAME.test(name));
}

function readMember(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}
