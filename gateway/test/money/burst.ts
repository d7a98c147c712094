/** Sends many calls at once: every connection is open before the first byte is sent. */

import { connectRaw, type RawClient, rawRequest } from '../fake-upstream/raw-client.ts';
import { EXHAUSTIVE } from '../fault/calls.ts';
import { PATHS, type Side } from '../http-contract/calls.ts';
import { nextAnswer, type WireAnswer } from '../http-contract/wire.ts';

export interface Shot {
  readonly side: Side;
  readonly key: string;
  readonly body: object | string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Number of calls the suites send at once: more than twice as many as any cap lets pass. */
export const AT_ONCE = EXHAUSTIVE ? 500 : 150;
const PATIENCE_MS = 20_000;

/** Sends all shots in one turn of the event loop; returns the connections in their order. */
export async function fire(url: string, shots: readonly Shot[]): Promise<readonly RawClient[]> {
  const clients = await Promise.all(shots.map(() => connectRaw(url)));
  for (const [index, client] of clients.entries()) {
    const shot = shots[index];
    if (shot !== undefined) client.send(renderShot(shot));
  }
  return clients;
}

/** Sends all shots at once and returns each whole answer in order. Throws if a connection gave none. */
export async function burst(url: string, shots: readonly Shot[]): Promise<readonly WireAnswer[]> {
  const clients = await fire(url, shots);
  const answers = await Promise.all(clients.map((client) => nextAnswer(client, 0, PATIENCE_MS)));
  for (const client of clients) client.leave();
  return answers.map((answer) => {
    if (answer === null) throw new Error('a connection ended without an answer');
    return answer;
  });
}

/** Returns the status of an answer that has begun. */
export async function beginning(client: RawClient): Promise<number> {
  await client.until(() => client.received().includes('\r\n\r\n'), PATIENCE_MS);
  return Number(client.received().toString('latin1', 9, 12));
}

function renderShot({ side, key, body, headers = {} }: Shot): Uint8Array {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return rawRequest('POST', PATHS[side], text, { authorization: `Bearer ${key}`, ...headers });
}
