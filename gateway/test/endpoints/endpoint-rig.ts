/** Starts a gateway with an upstream of set answers, and posts to it, for the suites of endpoints without translation. */
import { type CallLine, type RunningGateway, startGateway } from '../harness/start-gateway.ts';
import { type SetUpstream, startSetUpstream } from './set-upstream.ts';

export interface EndpointRig {
  readonly gateway: RunningGateway;
  readonly upstream: SetUpstream;
  post(path: string, body: object | string, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  recordOf(answer: Answer): Promise<CallLine | undefined>;
  stop(): Promise<void>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  readonly json: Json;
}

/** A parsed answer; null: it is not JSON. */
// biome-ignore lint/suspicious/noExplicitAny: a test reads members of any answer.
type Json = any;

/** `configure` gets upstream's address. */
export async function startEndpointRig(configure: (url: string) => object): Promise<EndpointRig> {
  const upstream = startSetUpstream();
  const gateway = await startGateway({ config: configure(upstream.url) });
  return {
    gateway,
    upstream,
    async post(path, body, headers = {}) {
      const reply = await fetch(gateway.url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      });
      const bytes = Buffer.from(await reply.arrayBuffer());
      return { status: reply.status, headers: reply.headers, bytes, json: parse(bytes) };
    },
    async recordOf({ headers }) {
      const id = headers.get('x-request-id');
      return (await gateway.calls()).find(({ request_id }) => request_id === id);
    },
    async stop() {
      await gateway.stop();
      await upstream.stop();
    },
  };
}

function parse(bytes: Buffer): Json {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return null;
  }
}
