/** Tests that the demo model's replies reach a listener as an upstream's do: in order, paused, aborted, refused. */
import { describe, expect, test } from 'bun:test';
import type { UpstreamFailure } from '../upstream/connection.ts';
import type { ExchangeListener } from '../upstream/exchange.ts';
import { DemoExchange } from './demo-exchange.ts';

const ask = (body: object | string) => ({
  protocol: 'chat' as const,
  body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  operation: 'plain',
  answers: 1,
  requestId: 'req_1',
  atMs: 1_760_000_000_000,
});
const hello = { model: 'demo', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 12 };

interface Received {
  status: number;
  readonly pieces: string[];
  failure: UpstreamFailure | null;
}

/** Plays the reply to its end. Calls `onPiece` for each piece, with the exchange. */
function play(body: object | string, onPiece = (_exchange: DemoExchange) => {}): Promise<Received> {
  const received: Received = { status: 0, pieces: [], failure: null };
  return new Promise((resolve) => {
    const listener: ExchangeListener = {
      onHead: ({ status }) => {
        received.status = status;
      },
      onBody(span) {
        received.pieces.push(Buffer.from(span).toString());
        onPiece(exchange);
      },
      onEnd: () => resolve(received),
      onFailure(failure) {
        received.failure = failure;
        resolve(received);
      },
    };
    const exchange = new DemoExchange(ask(body), listener);
  });
}

describe('a reply', () => {
  test('comes in one piece, or word by word for a stream', async () => {
    const plain = await play(hello);
    expect([plain.status, plain.pieces.length]).toEqual([200, 1]);
    const stream = await play({ ...hello, stream: true });
    expect(stream.pieces.length).toBeGreaterThan(8);
    expect(stream.pieces.at(-1)).toEndWith('data: [DONE]\n\n');
  });

  test('waits while it is paused, and continues in the same order', async () => {
    const unpaused = await play({ ...hello, stream: true });
    const paused = await play({ ...hello, stream: true }, (exchange) => {
      exchange.pause();
      exchange.resume();
      exchange.pause();
      setImmediate(() => exchange.resume());
    });
    expect(paused.pieces).toEqual(unpaused.pieces);
  });

  test('stops after an abort', async () => {
    let pieces = 0;
    const aborted = play({ ...hello, stream: true }, (exchange) => {
      pieces += 1;
      exchange.abort();
    });
    await play({ ...hello, stream: true });
    expect(pieces).toBe(1);
    expect(await Promise.race([aborted, 'still open'])).toBe('still open');
  });

  test('refuses what it cannot answer with a body of the protocol', async () => {
    const { status, pieces } = await play({ ...hello, logprobs: true });
    expect(status).toBe(400);
    expect(JSON.parse(pieces.join('')).error).toMatchObject({ type: 'invalid_request_error', param: 'logprobs' });
  });

  test('ends in a fault if the body is not JSON', async () => {
    expect((await play('{')).failure?.kind).toBe('fault');
  });
});
