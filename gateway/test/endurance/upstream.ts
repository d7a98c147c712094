/**
 * Provides an upstream of the chat format for the endurance proofs, on raw sockets: it answers by the name of the model
 * and closes idle connections at random. Counts its requests.
 */
import fc from 'fast-check';

/** The names of models that it answers, each with its parameter: `plain-100` waits 100 ms, others are streams. */
export const MODELS = {
  /** One piece after so many ms. */
  plain: (ms: number) => `plain-${ms}`,
  /** An event every half second, for so many seconds. */
  steady: (seconds: number) => `steady-${seconds}`,
  /** One event, silence for so many seconds, the rest. */
  silent: (seconds: number) => `silent-${seconds}`,
} as const;

/** Silent for longer than any proof. */
export const SILENT_MODEL = MODELS.silent(3_000);

export interface EnduranceUpstream {
  readonly url: string;
  /** Requests that were answered or begun, and connections that were closed while idle, or as a request arrived. */
  readonly counts: { requests: number; closedIdle: number; closedAtRequest: number };
  stop(): void;
}

interface Peer {
  bytes: Buffer;
  isReused: boolean;
  timer: ReturnType<typeof setTimeout> | null;
}

const EVENT_EVERY_MS = 500;
const IDLE_MS_MAX = 40;
const MODEL = /"model":\s*"([a-z]+)-(\d+)"/;
const USAGE = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
const COMMON = { id: 'chatcmpl-1', created: 1, model: 'm' };
const CHOICE = { index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' };
const ANSWER = JSON.stringify({ ...COMMON, object: 'chat.completion', choices: [CHOICE], usage: USAGE });
const STREAM_HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';

function event(members: object): string {
  return frame(`data: ${JSON.stringify({ ...COMMON, object: 'chat.completion.chunk', ...members })}\n\n`);
}

function frame(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

const WORD = event({ choices: [{ index: 0, delta: { role: 'assistant', content: 'word ' }, finish_reason: null }] });
const LAST =
  event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }) +
  event({ choices: [], usage: USAGE }) +
  frame('data: [DONE]\n\n') +
  '0\r\n\r\n';

/**
 * Starts it. Of its replies, the part `closing` is followed by the end of the connection within 40 ms; of the requests on
 * reused connections, the part `closing` finds the connection closed in the same instant.
 */
export function startEnduranceUpstream(closing = 0, seed = 1): EnduranceUpstream {
  const counts = { requests: 0, closedIdle: 0, closedAtRequest: 0 };
  const random = drawFrom(seed);
  const listener = Bun.listen<Peer>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open(socket) {
        socket.setNoDelay(true);
        socket.data = { bytes: Buffer.alloc(0), isReused: false, timer: null };
      },
      data(socket, bytes) {
        const peer = socket.data;
        if (peer.isReused && peer.bytes.length === 0 && random() < closing) {
          counts.closedAtRequest += 1;
          socket.terminate();
          return;
        }
        if (peer.timer !== null) clearTimeout(peer.timer);
        peer.timer = null;
        peer.bytes = peer.bytes.length === 0 ? Buffer.from(bytes) : Buffer.concat([peer.bytes, bytes]);
        const body = bodyOf(peer.bytes);
        if (body === null) return;
        peer.bytes = Buffer.alloc(0);
        counts.requests += 1;
        const [, kind = 'plain', text = '0'] = MODEL.exec(body) ?? [];
        reply(socket, kind, Number(text), () => {
          peer.isReused = true;
          if (random() >= closing) return;
          peer.timer = setTimeout(() => {
            counts.closedIdle += 1;
            socket.end();
          }, random() * IDLE_MS_MAX);
        });
      },
      close(socket) {
        if (socket.data.timer !== null) clearTimeout(socket.data.timer);
      },
    },
  });
  return { url: `http://127.0.0.1:${listener.port}`, counts, stop: () => listener.stop(true) };
}

/** The body of a complete request; null: more is to come. */
function bodyOf(bytes: Buffer): string | null {
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return null;
  const length = Number(/content-length: (\d+)/i.exec(bytes.toString('latin1', 0, end))?.[1] ?? '0');
  return bytes.length < end + 4 + length ? null : bytes.toString('utf8', end + 4);
}

function reply(socket: Bun.Socket<Peer>, kind: string, parameter: number, done: () => void): void {
  const peer = socket.data;
  const later = (ms: number, next: () => void) => {
    peer.timer = setTimeout(next, ms);
  };
  const finish = (text: string) => {
    peer.timer = null;
    socket.write(text);
    done();
  };
  if (kind === 'plain') {
    const text = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${ANSWER.length}\r\n\r\n${ANSWER}`;
    if (parameter === 0) finish(text);
    else later(parameter, () => finish(text));
    return;
  }
  socket.write(STREAM_HEAD + WORD);
  if (kind === 'silent') {
    later(parameter * 1_000, () => finish(LAST));
    return;
  }
  let left = Math.round((parameter * 1_000) / EVENT_EVERY_MS);
  const next = () => {
    left -= 1;
    if (left <= 0) finish(LAST);
    else {
      socket.write(WORD);
      later(EVENT_EVERY_MS, next);
    }
  };
  later(EVENT_EVERY_MS, next);
}

/** Numbers in [0, 1), the same for the same seed. */
function drawFrom(seed: number): () => number {
  let state = fc.hash(String(seed)) || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
