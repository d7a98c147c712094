/**
 * Finds the servers of models that run on this machine, on request: asks the usual ports on 127.0.0.1, each for the
 * answers of every known server. Nothing else is asked, and no redirect is followed.
 */
import { asArray, asObject, asText, type JsonObject } from '../../protocols/json.ts';
import { LOCAL_SERVERS } from './local.ts';

/** A server that answered as its preset does. */
export interface LocalServer {
  readonly preset: string;
  readonly title: string;
  readonly baseUrl: string;
  /** The address is the preset's own. */
  readonly isUsual: boolean;
  /** In its order; empty: it lists none. */
  readonly models: readonly string[];
}

/**
 * The path and the answer that only one server has. The first that matches wins: LocalAI and llama.cpp imitate the paths
 * of others, and many servers have a version at `/version`. Sources, in addition to those of the presets:
 * https://localai.io/features/api-discovery and https://localai.io/docs/reference/system-info (older releases);
 * `owned_by` in the sources of llama.cpp (`tools/server`), SGLang and vLLM (`entrypoints/openai`); all 2026-11-23.
 */
const SIGNS: ReadonlyArray<readonly [preset: string, path: string, isIts: (answer: JsonObject) => boolean]> = [
  ['localai', '/.well-known/localai.json', ({ endpoints }) => asObject(endpoints) !== null],
  ['localai', '/system', ({ backends }) => Array.isArray(backends)],
  ['llama-cpp', '/props', ({ default_generation_settings }) => asObject(default_generation_settings) !== null],
  ['llama-cpp', '/v1/models', ({ data }) => isOwnedBy(data, 'llamacpp')],
  ['sglang', '/v1/models', ({ data }) => isOwnedBy(data, 'sglang')],
  ['vllm', '/v1/models', ({ data }) => isOwnedBy(data, 'vllm')],
  ['lmstudio', '/api/v0/models', ({ data }) => Array.isArray(data)],
  ['ollama', '/api/version', ({ version }) => asText(version) !== null],
];

function isOwnedBy(models: unknown, owner: string): boolean {
  return asArray(models).some((model) => asObject(model)?.owned_by === owner);
}

const ORIGINS = [...new Set(LOCAL_SERVERS.map(({ baseUrl }) => new URL(baseUrl).origin))];
const TIMEOUT_MS = 1_000;
const ANSWER_BYTES_MAX = 1024 * 1024;
const MODEL_NAME = /^[^\p{Cc}]{1,256}$/u;

type Ask = (url: string, init: RequestInit) => Promise<Response>;

/** The servers that answer, at most one at each usual port, in the order of the presets. Never rejects. */
export async function detectLocalServers(ask: Ask): Promise<readonly LocalServer[]> {
  const found = await Promise.all(ORIGINS.map((origin) => detect(origin, ask)));
  return found.filter((server) => server !== null);
}

async function detect(origin: string, ask: Ask): Promise<LocalServer | null> {
  const paths = [...new Set(['/v1/models', ...SIGNS.map(([, path]) => path)])];
  const read = await Promise.all(paths.map((path) => readObject(ask, origin + path)));
  const answers = new Map(paths.map((path, index) => [path, read[index] ?? null]));
  const list = answers.get('/v1/models') ?? null;
  const sign = SIGNS.find(([, path, isIts]) => {
    const answer = answers.get(path) ?? null;
    return answer !== null && isIts(answer);
  });
  const preset = LOCAL_SERVERS.find(({ name }) => name === sign?.[0]);
  if (list === null || preset === undefined) return null;
  const models = asArray(list.data)
    .map((model) => asText(asObject(model)?.id))
    .filter((id) => id !== null && MODEL_NAME.test(id));
  const baseUrl = `${origin}/v1`;
  return {
    preset: preset.name,
    title: preset.title,
    baseUrl,
    isUsual: baseUrl === preset.baseUrl,
    models: models.filter((id) => id !== null),
  };
}

/** The JSON object of a 200; null: anything else, or no answer within a second. */
async function readObject(ask: Ask, url: string): Promise<JsonObject | null> {
  try {
    const response = await ask(url, { redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (response.status !== 200 || response.body === null) return null;
    const chunks: Uint8Array[] = [];
    let length = 0;
    for await (const chunk of response.body) {
      length += chunk.length;
      if (length > ANSWER_BYTES_MAX) return null;
      chunks.push(chunk);
    }
    return asObject(JSON.parse(Buffer.concat(chunks).toString('utf8')));
  } catch {
    // Whatever the reason, no such server answers there.
    return null;
  }
}
