/** Opens a WebSocket to a gateway and gathers its messages, for tests. */
import { asText, type JsonObject } from '../../src/protocols/json.ts';
import { eventually } from './eventually.ts';

export interface SocketClient {
  readonly socket: WebSocket;
  /** All messages so far. */
  readonly messages: readonly JsonObject[];
  /** The close code; resolves when the connection is closed. */
  readonly closed: Promise<number>;
  send(message: object): void;
  /** Sends a message and returns those that came until the end of its response, or until a refusal. */
  ask(message: object): Promise<JsonObject[]>;
  /** Resolves with the first message of the type, of those after `from`. */
  until(type: string, from?: number): Promise<JsonObject>;
}

const ENDS = new Set(['response.completed', 'response.incomplete', 'response.failed']);

/** Of `error`, only one with a status ends a response: it never began. */
function isEnd({ type, status }: JsonObject): boolean {
  return ENDS.has(asText(type) ?? '') || (type === 'error' && status !== undefined);
}

/** Resolves once the connection is open; rejects if the gateway refuses it. */
export async function openSocket(url: string, headers: Readonly<Record<string, string>>): Promise<SocketClient> {
  const socket = new WebSocket(url.replace(/^http/, 'ws'), { headers });
  const messages: JsonObject[] = [];
  socket.addEventListener('message', ({ data }) => messages.push(JSON.parse(String(data))));
  const closed = new Promise<number>((resolve) => socket.addEventListener('close', ({ code }) => resolve(code)));
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve());
    socket.addEventListener('error', () => reject(new Error(`no WebSocket at ${url}`)));
  });
  const until = (type: string, from = 0) =>
    eventually(`the message ${type}`, () => messages.slice(from).find((message) => message.type === type), 10_000);
  return {
    socket,
    messages,
    closed,
    send: (message) => socket.send(JSON.stringify(message)),
    until,
    async ask(message) {
      const from = messages.length;
      socket.send(JSON.stringify(message));
      await eventually('the end of a response', () => messages.slice(from).find(isEnd), 10_000);
      return messages.slice(from);
    },
  };
}
