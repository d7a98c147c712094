/** Tests the reading of content: at its user's pace, within its limit, and what ends it early. */
import { expect, test } from 'bun:test';
import { CallFailure } from '../../errors/call-failure.ts';
import type { ExchangeListener } from '../../upstream/exchange.ts';
import { readContent } from './object-content.ts';

const MIB = 1024 * 1024;

function start({ bytesMax = 10 * MIB, signal = new AbortController().signal } = {}) {
  const calls: string[] = [];
  let listener: ExchangeListener | null = null;
  const note = (name: string) => () => void calls.push(name);
  const marks = { sentAtMs: 1, headAtMs: 1, lastByteAtMs: 1 };
  const stream = readContent(
    (one) => {
      listener = one;
      return { ...marks, pause: note('pause'), resume: note('resume'), abort: note('abort') };
    },
    bytesMax,
    signal,
  );
  const upstream = () => {
    if (listener === null) throw new Error('the exchange was not opened');
    return listener;
  };
  const head = (status: number, headers: [string, string][] = []) =>
    upstream().onHead({ status, headers, framing: 'chunked', lengthBytes: 0, keepAlive: true } as never);
  return { calls, stream, upstream, head };
}

const failureOf = (stream: ReadableStream<Uint8Array>) =>
  new Response(stream).bytes().then(
    () => null,
    (error: unknown) => (error instanceof CallFailure ? error.kind : error),
  );

test('reading from the provider pauses while bytes wait, and goes on once they are used', async () => {
  const { calls, stream, upstream, head } = start();
  const reader = stream.getReader();
  head(200);
  calls.length = 0;
  upstream().onBody(new Uint8Array(MIB));
  expect(calls).toEqual(['pause']);
  await reader.read();
  expect(calls).toContain('resume');
  upstream().onBody(Buffer.from('end'));
  upstream().onEnd();
  expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe('end');
  expect((await reader.read()).done).toBe(true);
});

test.each([
  [404, [], 'not_found'],
  [500, [], 'upstream_failed'],
  // Trouble of the operator's account, a limit of the provider, and a file of another purpose.
  [401, [], 'upstream_credential'],
  [403, [], 'upstream_credential'],
  [429, [['retry-after', '7']], 'upstream_rate_limited'],
  [400, [], 'upstream_rejected'],
  [200, [['content-encoding', 'br']], 'upstream_failed'],
] as const)('an answer of status %d with headers %j is no content', async (status, headers, kind) => {
  const { calls, stream, head } = start();
  head(status, headers as never);
  expect(await failureOf(stream)).toBe(kind);
  expect(calls).toContain('abort');
});

test('content that is too large, or whose user goes away, ends the exchange', async () => {
  const large = start({ bytesMax: 5 });
  large.head(200);
  large.upstream().onBody(new Uint8Array(6));
  expect([await failureOf(large.stream), large.calls.at(-1)]).toEqual(['body_too_large', 'abort']);
  const controller = new AbortController();
  const left = start({ signal: controller.signal });
  controller.abort();
  expect([await failureOf(left.stream), left.calls.at(-1)]).toEqual(['client_left', 'abort']);
  expect(await failureOf(start({ signal: controller.signal }).stream)).toBe('client_left');
  const unread = start();
  await unread.stream.cancel();
  expect(unread.calls.at(-1)).toBe('abort');
});
