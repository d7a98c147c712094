/**
 * Finds the servers of models that run on this machine, on request: asks each usual port on 127.0.0.1 for a path that
 * only one server has. Nothing else is asked, and no redirect is followed. Sources: those of the presets.
 */
import { asArray, asObject, asText, type JsonObject } from '../../protocols/json.ts';
import { LOCAL_SERVERS } from './local.ts';

/** A server that answered as its preset does. */
export interface LocalServer {
  readonly preset: string;
  readonly title: string;
  readonly baseUrl: string;
  /** In its order; empty: it lists none. */
  readonly models: readonly string[];
}

/** The path that tells a server from the others on its port, and the member that its answer has. */
const SIGNS: ReadonlyArray<readonly [preset: string, path: string, isIts: (answer: JsonObject) => boolean]> = [
  ['ollama', '/api/version', ({ version }) => asText(version) !== null],
  ['vllm', '/version', ({ version }) => asText(version) !== null],
  ['sglang', '/get_model_info', ({ model_path }) => asText(model_path) !== null],
  ['llama-cpp', '/props', ({ default_generation_settings }) => asObject(default_generation_settings) !== null],
  ['localai', '/version', ({ version }) => asText(version) !== null],
  ['lmstudio', '/api/v0/models', ({ data }) => Array.isArray(data)],
];

const TIMEOUT_MS = 1_000;
const ANSWER_BYTES_MAX = 1024 * 1024;
const MODEL_NAME = /^[^\p{Cc}]{1,256}$/u;

type Ask = (url: string, init: RequestInit) => Promise<Response>;

/** The servers that answer, in the order of the signs; of two on one port the first. Never rejects. */
export async function detectLocalServers(ask: Ask, addressOf = defaultAddress): Promise<readonly LocalServer[]> {
  const found = await Promise.all(SIGNS.map((sign) => detect(sign, ask, addressOf(sign[0]))));
  const servers = found.filter((server) => server !== null);
  return servers.filter(({ baseUrl }, index) => servers.findIndex((one) => one.baseUrl === baseUrl) === index);
}

function defaultAddress(preset: string): string {
  return LOCAL_SERVERS.find(({ name }) => name === preset)?.baseUrl ?? '';
}

async function detect([preset, path, isIts]: (typeof SIGNS)[number], ask: Ask, baseUrl: string) {
  const title = LOCAL_SERVERS.find(({ name }) => name === preset)?.title ?? preset;
  const own = await readObject(ask, new URL(path, baseUrl).href);
  if (own === null || !isIts(own)) return null;
  const list = await readObject(ask, `${baseUrl}/models`);
  const models = asArray(list?.data)
    .map((model) => asText(asObject(model)?.id))
    .filter((id) => id !== null && MODEL_NAME.test(id));
  return list === null ? null : { preset, title, baseUrl, models: models.filter((id) => id !== null) };
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
