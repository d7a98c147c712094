/** Runs clients that end a call abnormally: they disconnect at a chosen moment or never finish the request. */
import { connectRaw } from '../fake-upstream/raw-client.ts';
import type { FakeUpstream } from '../fake-upstream/start-fake-upstream.ts';
import { type Address, callHeaders, type HeaderChanges, PATHS, type Side } from './calls.ts';
import { nextAnswer } from './wire.ts';

/** The target of a call, and what identifies it. */
export interface End extends Address {
  readonly side: Side;
  readonly headers: HeaderChanges;
}

function requestHead({ side, key, headers }: End, contentLength: number): string {
  const lines = [...callHeaders(key, headers)].map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${PATHS[side]} HTTP/1.1\r\nhost: a\r\ncontent-length: ${contentLength}\r\n${lines.join('')}\r\n`;
}

/** Sends half a body and returns the gateway's answer. */
export async function sendLate(end: End): Promise<Response | null> {
  const client = await connectRaw(end.url);
  client.send(`${requestHead(end, 100)}{"model"`);
  const answer = await nextAnswer(client, 0, 10_000);
  client.leave();
  return answer === null ? null : new Response(answer.text, { status: answer.status, headers: answer.headers });
}

/**
 * Sends half a body and disconnects. Waits for the gateway to request the body, so that it is known to be reading it.
 */
export async function leaveInBody(end: End): Promise<null> {
  const client = await connectRaw(end.url);
  const marked = { ...end, headers: { ...end.headers, expect: '100-continue' } };
  client.send(requestHead(marked, 100));
  await client.until(() => client.received().includes('100 Continue'));
  client.send('{"model"');
  client.leave('rst');
  return null;
}

/** Disconnects once upstream has the call and has not answered. */
export async function leaveWaiting(end: End, body: object, fake: FakeUpstream): Promise<null> {
  const text = JSON.stringify(body);
  const client = await connectRaw(end.url);
  client.send(requestHead(end, text.length) + text);
  await fake.waitFor(({ requestBody }) => Buffer.from(requestBody).includes(text.slice(1, 60)), { timeoutMs: 10_000 });
  client.leave('rst');
  return null;
}

/** Disconnects once a first piece of the answer's text has arrived. */
export async function leaveInStream(end: End, body: object): Promise<null> {
  const text = JSON.stringify(body);
  const client = await connectRaw(end.url);
  client.send(requestHead(end, text.length) + text);
  await client.until(() => client.received().includes('w1 '), 10_000);
  client.leave('rst');
  return null;
}
