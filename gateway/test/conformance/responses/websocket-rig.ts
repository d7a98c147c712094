/** Starts a gateway for the WebSocket suites, and opens connections to it, each with a key of its own. */
import { asObject, asText, type JsonObject } from '../../../src/protocols/json.ts';
import { openSocket, type SocketClient } from '../../harness/socket-client.ts';
import { type SharedPair, sharePair } from '../../harness/start-pair.ts';

const PRICE = { input: 1, output: 5 };
/** Upstream's format by the beginning of a model's name. */
const SIDES = { r: 'lab-responses', c: 'lab', m: 'lab-messages' } as const;
const OWN = ['cut', 'gone', 'limited', 'rejecting', 'held', 'endless', 'silent'];

/** `limits`, `server`: of the file. */
export function socketConfig(fakeUrl: string, limits: object, server: object = {}): object {
  const base = { base_url: `${fakeUrl}/v1`, api_key: 'lab-credential' };
  const target = (provider: string, model: string) => ({ targets: [{ provider, model }], price: PRICE });
  const speeches = Object.entries(SIDES).flatMap(([side, provider]) =>
    ['ok', 'think', 'tool'].map((speech) => [`${side}-${speech}`, target(provider, speech)] as const),
  );
  return {
    defaults: { routing: { max_extra_attempts: 0 } },
    server,
    limits,
    providers: {
      lab: { kind: 'openai-compatible', ...base },
      'lab-messages': { kind: 'anthropic', ...base },
      'lab-responses': { kind: 'openai', ...base },
    },
    models: {
      ...Object.fromEntries(speeches),
      ...Object.fromEntries(OWN.map((name) => [name, target('lab-responses', name)])),
    },
  };
}

const LIMITS = {
  keep_alive: '500ms',
  body_bytes_max: '64KiB',
  slow_reader_timeout: '1s',
  websockets_per_key_max: 3,
  websocket_history_bytes_max: '8KiB',
};

export interface TestKey {
  readonly id: string;
  readonly key: string;
}

export interface SocketRig extends SharedPair {
  /** A key of its own, so that no test meets the limits of another. */
  makeKey(...flags: string[]): Promise<TestKey>;
  open(key: string, path?: string): Promise<SocketClient>;
  /** Runs a test on a connection with a key of its own. */
  connected(run: (client: SocketClient, key: TestKey) => Promise<void>, flags?: readonly string[]): Promise<void>;
  /** The last body that upstream received for a model. */
  lastSent(model: string): JsonObject;
  recordsOf(key: TestKey): ReturnType<SharedPair['gateway']['calls']>;
}

/** The same gateway for all suites of the process. */
export async function shareSocketRig(): Promise<SocketRig> {
  const pair = await sharePair((url) => socketConfig(url, LIMITS));
  const { fake, gateway } = pair;
  fake.script('cut', { answer: 'ok', omitEnd: true });
  fake.script('gone', { status: 500, errorBodyBytes: 100 });
  fake.script('limited', { status: 429, headers: { 'retry-after': '2' }, errorBodyBytes: 100 });
  fake.script('rejecting', {
    status: 400,
    json: { error: { message: 'not so', type: 'invalid_request_error', code: 'unsupported_parameter', param: 'x' } },
  });
  fake.script('held', { answer: 'long:20', holdAfterEvent: 8 });
  fake.script('silent', { answer: 'ok', delayBeforeFirstByteMs: 600_000 });

  async function makeKey(...flags: string[]): Promise<TestKey> {
    const { stdout } = await gateway.run('keys', 'create', '--name', 'test', '--json', ...flags);
    return JSON.parse(stdout);
  }
  const open = (key: string, path = '/v1/responses') =>
    openSocket(`${gateway.url}${path}`, { authorization: `Bearer ${key}` });
  return {
    ...pair,
    makeKey,
    open,
    async connected(run, flags = []) {
      const key = await makeKey(...flags);
      const client = await open(key.key);
      try {
        await run(client, key);
      } finally {
        client.socket.close();
        await client.closed;
      }
    },
    lastSent: (model) => JSON.parse(Buffer.from(fake.served(model).at(-1)?.requestBody ?? []).toString()),
    recordsOf: ({ id }) => gateway.calls('--key', id),
  };
}

export const create = (model: string, members: object = {}) => ({
  type: 'response.create',
  model,
  store: false,
  input: [{ role: 'user', content: 'hi' }],
  ...members,
});
const BESIDE = ['keepalive', 'response.metadata'];
export const typesOf = (messages: readonly JsonObject[]) =>
  messages.map(({ type }) => String(type)).filter((type) => !BESIDE.includes(type));
export const idOf = (messages: readonly JsonObject[]) => asText(asObject(messages.at(-1)?.response)?.id) ?? '';
export const errorOf = (message: JsonObject | undefined) => asObject(message?.error);
