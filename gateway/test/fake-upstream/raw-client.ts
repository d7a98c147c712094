/** Runs a client on raw sockets that sees every byte and how a connection ended. Parses as little HTTP as possible. */
import { type FakeRequest, headerOf } from './http/parse-request.ts';

/** How the server ended the connection; `open` if it did not. */
export type Ended = 'open' | 'fin' | 'rst';

/** A raw connection. Bytes are kept as received, one entry per read. */
export interface RawClient {
  /** Sends text (as UTF-8) or bytes. */
  send(bytes: string | Uint8Array): void;
  /** All bytes so far. */
  received(): Buffer;
  /** The reads so far: shows what arrived separately. */
  reads(): readonly Buffer[];
  ended(): Ended;
  /** Pauses and resumes reading. */
  pause(): void;
  resume(): void;
  /** Resolves once the condition holds; checks after each read and at the end. Rejects after `timeoutMs` (5,000). */
  until(holds: (client: RawClient) => boolean, timeoutMs?: number): Promise<void>;
  /** Resolves with how the server ended the connection. */
  untilEnd(timeoutMs?: number): Promise<Ended>;
  /** Disconnects with FIN or a reset. */
  leave(how?: 'fin' | 'rst'): void;
}

/** Connects to a port of 127.0.0.1, or to an `http://` URL's host and port. */
export async function connectRaw(to: number | string): Promise<RawClient> {
  const url = new URL(typeof to === 'number' ? `http://127.0.0.1:${to}` : to);
  const reads: Buffer[] = [];
  let joined = { bytes: Buffer.alloc(0), reads: 0 };
  let ended: Ended = 'open';
  let waiting: (() => void)[] = [];
  let unsent: Uint8Array = new Uint8Array(0);
  const wake = (): void => {
    const now = waiting;
    waiting = [];
    for (const look of now) look();
  };
  const socket = await Bun.connect({
    hostname: url.hostname,
    port: Number(url.port),
    socket: {
      data: (_, bytes) => {
        reads.push(Buffer.from(bytes));
        wake();
      },
      drain: (open) => {
        unsent = unsent.subarray(Math.max(open.write(unsent), 0));
      },
      end: () => {
        if (ended === 'open') ended = 'fin';
        wake();
      },
      error: (_, error) => {
        // Exceptions of the handlers above, never network errors: those come with `close`.
        queueMicrotask(() => Promise.reject(error));
      },
      close: (_, error) => {
        if (ended === 'open') ended = error === undefined || error === null ? 'fin' : 'rst';
        wake();
      },
    },
  });
  socket.setNoDelay(true);
  const until = (holds: (client: RawClient) => boolean, timeoutMs = 5_000): Promise<void> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting = waiting.filter((look) => look !== check);
        reject(
          new Error(`waited ${timeoutMs} ms; the connection is ${ended}, received ${client.received().toString()}`),
        );
      }, timeoutMs);
      function check(): void {
        try {
          if (!holds(client)) {
            waiting.push(check);
            return;
          }
          resolve();
        } catch (error) {
          reject(error);
        }
        clearTimeout(timer);
      }
      check();
    });
  const client: RawClient = {
    send: (bytes) => {
      const wire = typeof bytes === 'string' ? new TextEncoder().encode(bytes) : bytes;
      if (unsent.byteLength > 0) unsent = Buffer.concat([unsent, wire]);
      else unsent = wire.subarray(Math.max(socket.write(wire), 0));
    },
    received: () => {
      if (joined.reads < reads.length) {
        joined = { bytes: Buffer.concat([joined.bytes, ...reads.slice(joined.reads)]), reads: reads.length };
      }
      return joined.bytes;
    },
    reads: () => reads,
    ended: () => ended,
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    until,
    untilEnd: async (timeoutMs) => {
      await until(() => ended !== 'open', timeoutMs);
      return ended;
    },
    leave: (how = 'fin') => {
      if (how === 'rst') socket.terminate();
      else socket.end();
    },
  };
  return client;
}

/** Renders a request as wire bytes; adds `host` and `content-length`, and the content type JSON unless given. */
export function rawRequest(
  method: string,
  target: string,
  body: string | Uint8Array = '',
  headers: Readonly<Record<string, string>> = {},
): Uint8Array {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const all: Record<string, string> = {
    host: '127.0.0.1',
    'content-type': 'application/json',
    'content-length': String(bytes.byteLength),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1'), bytes]);
}

/** A parsed response. `whole` is false if its framing says that more should have come. */
export interface RawResponse {
  readonly status: number;
  readonly headers: FakeRequest['headers'];
  readonly body: Buffer;
  readonly whole: boolean;
  /** Length of the response in bytes, so that tests can inspect what follows. */
  readonly taken: number;
}

function dechunk(bytes: Buffer): { body: Buffer; whole: boolean; taken: number } {
  const pieces: Buffer[] = [];
  let at = 0;
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd < 0) return { body: Buffer.concat(pieces), whole: false, taken: bytes.byteLength };
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16);
    const start = lineEnd + 2;
    if (size === 0) {
      const whole = bytes.byteLength >= start + 2;
      return { body: Buffer.concat(pieces), whole, taken: Math.min(start + 2, bytes.byteLength) };
    }
    pieces.push(bytes.subarray(start, Math.min(start + size, bytes.byteLength)));
    at = start + size + 2;
    if (at > bytes.byteLength) return { body: Buffer.concat(pieces), whole: false, taken: bytes.byteLength };
  }
}

/** Parses the first final response in the bytes, after any 1xx; null if its head is incomplete. */
export function parseRawResponse(bytes: Buffer, ended: Ended = 'open'): RawResponse | null {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return null;
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n');
  const status = Number(statusLine.split(' ')[1]);
  const bodyFrom = headEnd + 4;
  const rest = bytes.subarray(bodyFrom);
  if (status >= 100 && status <= 199) {
    const final = parseRawResponse(rest, ended);
    return final === null ? null : { ...final, taken: final.taken + bodyFrom };
  }
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  if (headerOf({ headers }, 'transfer-encoding') === 'chunked') {
    const { body, whole, taken } = dechunk(rest);
    return { status, headers, body, whole, taken: bodyFrom + taken };
  }
  const length = headerOf({ headers }, 'content-length');
  if (length === null) return { status, headers, body: rest, whole: ended === 'fin', taken: bytes.byteLength };
  const body = rest.subarray(0, Number(length));
  return { status, headers, body, whole: body.byteLength === Number(length), taken: bodyFrom + body.byteLength };
}

/** Sends one request on a new connection and reads until the response is whole or the connection ended. */
export async function exchange(
  to: number | string,
  request: Uint8Array,
): Promise<{ response: RawResponse | null; ended: Ended; client: RawClient }> {
  const client = await connectRaw(to);
  client.send(request);
  await client.until(
    () => client.ended() !== 'open' || parseRawResponse(client.received(), client.ended())?.whole === true,
  );
  return { response: parseRawResponse(client.received(), client.ended()), ended: client.ended(), client };
}

const messages = [{ role: 'user', content: 'Good day' }];

/** A chat completions call of a model. */
export function chatCall(model: string, more: Readonly<Record<string, unknown>> = {}): Uint8Array {
  return rawRequest('POST', '/v1/chat/completions', JSON.stringify({ model, messages, ...more }));
}

/** A messages call of a model. */
export function messagesCall(model: string, more: Readonly<Record<string, unknown>> = {}): Uint8Array {
  const body = JSON.stringify({ model, max_tokens: 100, messages, ...more });
  return rawRequest('POST', '/v1/messages', body, { 'anthropic-version': '2023-06-01' });
}
