/** Tests the playing of replies: the pauses, the pace of the reader, and an abort in the middle. */
import { expect, test } from 'bun:test';
import type { DemoStreamReply } from './demo-call.ts';
import { demoResponse } from './demo-response.ts';
import { encodeText } from './fingerprint.ts';

/** A stream that never ends and counts what was asked of it. */
function endlessReply(): {
  readonly reply: DemoStreamReply;
  readonly made: () => number;
  readonly closed: () => boolean;
} {
  let made = 0;
  let closed = false;
  function* records() {
    try {
      while (true) yield { bytes: encodeText(`data: ${++made}\n\n`), pauseMs: made === 1 ? 0 : 15 };
    } finally {
      closed = true;
    }
  }
  const headers = [['content-type', 'text/event-stream; charset=utf-8']] as const;
  return {
    reply: { kind: 'stream', status: 200, headers, records: records() },
    made: () => made,
    closed: () => closed,
  };
}

const unhurried = () => Promise.resolve();

test('status, headers and body of a JSON reply are kept', async () => {
  const body = encodeText('{"a":1}');
  const reply = { kind: 'json', status: 400, headers: [['request-id', 'r']], body } as const;
  const response = demoResponse(reply, new AbortController().signal);
  expect([response.status, response.headers.get('request-id'), await response.text()]).toEqual([400, 'r', '{"a":1}']);
});

test('each record comes after its pause', async () => {
  const { reply } = endlessReply();
  const pauses: number[] = [];
  const response = demoResponse(reply, new AbortController().signal, async (ms) => {
    pauses.push(ms);
  });
  const reader = response.body?.getReader();
  for (const expected of ['data: 1\n\n', 'data: 2\n\n', 'data: 3\n\n']) {
    const { value } = (await reader?.read()) ?? {};
    expect(new TextDecoder().decode(value)).toBe(expected);
  }
  await reader?.cancel();
  expect(pauses.slice(0, 2)).toEqual([15, 15]);
});

test('a reader that stops reading stops the model, and one that leaves ends it', async () => {
  const { reply, made, closed } = endlessReply();
  const reader = demoResponse(reply, new AbortController().signal, unhurried).body?.getReader();
  await reader?.read();
  for (let turn = 0; turn < 100; turn++) await Promise.resolve();
  expect(made()).toBeLessThan(5);
  await reader?.cancel();
  expect(closed()).toBe(true);
});

test('an abort ends a pause at once and errors the body with the reason of the signal', async () => {
  const { reply } = endlessReply();
  const left = new AbortController();
  const longer = { ...reply, records: [...[{ bytes: encodeText('data: 1\n\n'), pauseMs: 60_000 }]] };
  const reading = demoResponse(longer, left.signal).text();
  left.abort(new Error('the caller left'));
  await expect(reading).rejects.toThrow('the caller left');
});
