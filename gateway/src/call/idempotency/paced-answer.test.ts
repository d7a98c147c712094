/** Tests that a complete answer is sent whole, and that its memory is released however it ends. */
import { expect, test } from 'bun:test';
import { connect } from 'node:net';
import { pacedAnswer } from '../deliver/stored-reply.ts';
import { type AnswerStream, streamBody } from '../stream/outbox.ts';

const BYTES = Buffer.from(new Uint32Array(400_000).map((_, at) => at * 2_654_435_761).buffer);

function hold() {
  let released = 0;
  return {
    release: () => {
      released += 1;
    },
    released: () => released,
  };
}

/** Serves one body to one client. */
function serve(answerOf: (signal: AbortSignal) => AnswerStream) {
  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    development: false,
    fetch: ({ signal }) => new Response(streamBody(answerOf(signal))),
  });
}

test('a reading client gets every byte, and the memory is released', async () => {
  const held = hold();
  await using server = serve((signal) => pacedAnswer(held, BYTES, { timeoutMs: 5_000, signal }));
  const got = Buffer.from(await (await fetch(server.url)).arrayBuffer());
  expect(got.equals(BYTES)).toBe(true);
  expect(held.released()).toBeGreaterThan(0);
});

test('a client that left earlier holds no memory', () => {
  const held = hold();
  pacedAnswer(held, BYTES, { timeoutMs: 5_000, signal: AbortSignal.abort() });
  expect(held.released()).toBeGreaterThan(0);
});

test('a client that takes nothing is disconnected after the timeout', async () => {
  const huge = Buffer.alloc(64 * 1024 * 1024, 'x');
  let sawRelease: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    sawRelease = resolve;
  });
  await using server = serve((signal) => pacedAnswer({ release: sawRelease }, huge, { timeoutMs: 50, signal }));
  const client = connect(server.port ?? 0, '127.0.0.1').pause();
  client.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
  await released;
  let bytes = 0;
  let tail = '';
  client.on('data', (read: Buffer) => {
    bytes += read.length;
    tail = read.subarray(-10).toString('latin1');
  });
  const ended = new Promise((resolve) => client.once('close', resolve));
  client.on('error', () => undefined).resume();
  await ended;
  expect(bytes).toBeLessThan(huge.length);
  expect(tail).not.toEndWith('\r\n0\r\n\r\n');
});
