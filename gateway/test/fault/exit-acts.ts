/** Performs what the clients of the exit matrix do: read, disconnect at a chosen moment, stop reading. */
import { connectRaw, type RawClient, rawRequest } from '../fake-upstream/raw-client.ts';
import type { ServedCall } from '../fake-upstream/served.ts';
import type { FakeUpstream } from '../fake-upstream/start-fake-upstream.ts';
import type { Cell } from './exit-cells.ts';

export interface Caller {
  readonly url: string;
  readonly key: string;
}

/** What the client saw of the judged call. `status` is null if it disconnected before the answer began. */
export interface Seen {
  readonly status: number | null;
  readonly requestId: string | null;
  readonly text: string;
  /** Number of records that upstream had sent when the call ended. */
  readonly eventsSent: number;
}

const PATHS = { chat: '/v1/chat/completions', messages: '/v1/messages' } as const;
const UNSEEN: Seen = { status: null, requestId: null, text: '', eventsSent: 0 };
/** Timeout for stalled connections of the fake upstream, long enough for a busy machine. */
const WAIT_MS = 15_000;

/** Renders the cell's request body, for its own model or another. */
export function bodyOf({ id, form, protocol, ending }: Cell, model = id): string {
  return JSON.stringify({
    model,
    max_tokens: 500,
    messages: [{ role: 'user', content: 'Count the carts.' }],
    stream: form === 'stream',
    ...(model === id ? ending.members[protocol] : {}),
  });
}

/** Sends a body and reads the response to its end. */
export async function ask(
  { url, key }: Caller,
  { protocol }: Cell,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Seen> {
  const response = await fetch(`${url}${PATHS[protocol]}`, {
    method: 'POST',
    keepalive: false,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body,
  });
  return {
    status: response.status,
    requestId: response.headers.get('x-request-id'),
    text: await response.text(),
    eventsSent: 0,
  };
}

/** Sends a body on a raw connection. */
export async function open({ url, key }: Caller, { protocol }: Cell, body: string): Promise<RawClient> {
  const client = await connectRaw(url);
  client.send(rawRequest('POST', PATHS[protocol], body, { authorization: `Bearer ${key}` }));
  return client;
}

/** Resolves once upstream has a call of the cell's model and has sent at least `events` records. */
export function untilServed(fake: FakeUpstream, { id }: Cell, events = 0, count = 1): Promise<unknown> {
  const isServed = ({ model, eventsSent }: ServedCall) => model === id && eventsSent >= events;
  return fake.waitFor(isServed, { count, timeoutMs: WAIT_MS });
}

/** Performs the act of the cell's ending. Resolves when the client is done. */
export async function act(cell: Cell, caller: Caller, fake: FakeUpstream): Promise<Seen> {
  const body = bodyOf(cell);
  switch (cell.ending.act) {
    case 'read':
      return ask(caller, cell, body);
    case 'read-again':
      await ask(caller, cell, bodyOf(cell, `again-${cell.protocol}`));
      return ask(caller, cell, body);
    case 'replay': {
      await ask(caller, cell, body, { 'idempotency-key': 'a-name' });
      return ask(caller, cell, body, { 'idempotency-key': 'a-name' });
    }
    case 'read-beside': {
      const beside = await open(caller, cell, body);
      await untilServed(fake, cell);
      const seen = await ask(caller, cell, body);
      beside.leave('rst');
      return seen;
    }
    case 'leave-uploading': {
      const client = await connectRaw(caller.url);
      const head = { authorization: `Bearer ${caller.key}`, 'content-length': '100', expect: '100-continue' };
      client.send(rawRequest('POST', PATHS[cell.protocol], '', head));
      await client.until(() => client.received().includes('100 Continue'), WAIT_MS);
      client.send('{"model"');
      client.leave('rst');
      return UNSEEN;
    }
    case 'leave-waiting': {
      const client = await open(caller, cell, body);
      await untilServed(fake, cell, 0, cell.ending.attempts);
      client.leave('rst');
      return UNSEEN;
    }
    case 'leave-reading': {
      const client = await open(caller, cell, body);
      await client.until(() => client.received().includes(cell.ending.lastWord[cell.upstream]), WAIT_MS);
      client.leave('rst');
      return { ...UNSEEN, text: client.received().toString() };
    }
    case 'stop-reading': {
      const client = await open(caller, cell, body);
      client.pause();
      await untilServed(fake, cell, 100);
      return UNSEEN;
    }
  }
}
