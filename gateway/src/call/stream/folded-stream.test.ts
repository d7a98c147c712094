/** Tests how a folded stream ends: complete, cut, failed, or as a non-streamed answer in one piece. */
import { describe, expect, test } from 'bun:test';
import { resolveLimits } from '../../config/resolve-settings.ts';
import { CallFailure } from '../../errors/call-failure.ts';
import { SSE } from '../../framing/sse-decoder.ts';
import { UNWATCHED } from '../../lib/deadlines.ts';
import { DONE, delta, finish } from '../../protocols/chat/testing/chat-stream.ts';
import { chatUpstream } from '../../protocols/chat/upstream/upstream-protocol.ts';
import type { ResponseHead } from '../../upstream/response-head.ts';
import { FoldedStream } from './folded-stream.ts';

const LIMITS = { ...resolveLimits({}), sseRecordBytesMax: 1_000, slowReaderBytesMax: 100 };

function head(status: number, type = 'text/event-stream'): ResponseHead {
  return { status, headers: [['content-type', type]], framing: 'close', lengthBytes: 0, keepAlive: false };
}

function rig() {
  const reports: string[] = [];
  const fold = chatUpstream.passThrough.startFold('chatcmpl-0');
  const folding = {
    observer: chatUpstream.passThrough.startObserver({ withholdUsage: false, fallbackId: 'chatcmpl-0' }),
    take: fold.push.bind(fold),
    finish: () => ({ json: fold.finish(null), finish_reason: null, dropped: [] }),
  };
  const stream = new FoldedStream({
    folding,
    framing: SSE,
    limits: LIMITS,
    scrub: (words) => words.replace('secret', '…'),
    onHead: () => reports.push('first byte'),
    onRead: () => reports.push('read'),
  });
  stream.connect({
    sentAtMs: 1,
    headAtMs: 1,
    lastByteAtMs: 1,
    pause: () => reports.push('pause'),
    resume: () => reports.push('resume'),
    abort: () => reports.push('abort'),
  });
  const give = (...records: readonly string[]) => stream.onBody(Buffer.from(records.join('')));
  const text = () => JSON.parse(folding.finish().json).choices[0].message.content;
  return { stream, reports, give, text };
}

const HEY = [delta({ content: 'He' }), delta({ content: 'y' })];

describe('a stream', () => {
  test('a stream that reaches its end is complete, and upstream may end too', async () => {
    const { stream, reports, give, text } = rig();
    stream.onHead(head(200));
    give(...HEY, finish('stop'), DONE);
    expect(await stream.done).toMatchObject({ kind: 'folded', cut: false });
    expect(stream.slot).not.toBe(UNWATCHED);
    stream.onEnd();
    expect([text(), stream.slot, reports]).toEqual(['Hey', UNWATCHED, ['first byte', 'read']]);
  });

  test('upstream is aborted in time if it continues after the end', async () => {
    const { stream, reports, give } = rig();
    stream.onHead(head(200));
    give(...HEY, finish('stop'), DONE);
    stream.onDue();
    expect([reports.at(-1), stream.slot]).toEqual(['abort', UNWATCHED]);
  });

  test('a stream without its terminal event is complete; without a finish reason it was cut off', async () => {
    const [whole, broken] = [rig(), rig()];
    for (const { stream, give } of [whole, broken]) {
      stream.onHead(head(200));
      give(...HEY);
    }
    whole.give(finish('stop').trimEnd());
    for (const { stream } of [whole, broken]) stream.onEnd();
    expect(await whole.stream.done).toMatchObject({ kind: 'folded', cut: false });
    await expect(broken.stream.done).rejects.toMatchObject({ kind: 'upstream_truncated' });
  });

  test('a cut stream is the output so far, and upstream is aborted', async () => {
    const { stream, reports, give, text } = rig();
    stream.onHead(head(200));
    give(...HEY);
    stream.cut();
    give(delta({ content: '!' }));
    expect(await stream.done).toMatchObject({ kind: 'folded', cut: true });
    expect([text(), reports.at(-1)]).toEqual(['Hey', 'abort']);
  });

  test('an interrupted stream fails once, with the first reason', async () => {
    const { stream, reports, give } = rig();
    stream.onHead(head(200));
    give(...HEY);
    expect(stream.interrupt(new CallFailure('client_left', 'left'))).toBe(true);
    expect(stream.interrupt(new CallFailure('draining', 'later'))).toBe(false);
    stream.cut();
    await expect(stream.done).rejects.toMatchObject({ kind: 'client_left' });
    expect(reports.filter((one) => one === 'abort')).toEqual(['abort']);
  });

  test.each([
    ['an error of upstream', 'data: {"error":{"message":"a secret","type":"server_error"}}\n\n', 'upstream_failed'],
    ['what is not JSON', 'data: {"a"\n\n', 'upstream_malformed'],
    ['an event beyond its limit', `data: ${'x'.repeat(1_001)}\n\n`, 'upstream_malformed'],
  ] as const)('a stream with %s fails', async (_, record, kind) => {
    const { stream, give } = rig();
    stream.onHead(head(200));
    give(...HEY, record);
    const failure = await stream.done.then(
      () => null,
      (cause: CallFailure) => cause,
    );
    expect([failure?.kind, failure?.message.includes('secret')]).toEqual([kind, false]);
  });

  test('a stream whose connection breaks fails', async () => {
    const { stream, give } = rig();
    stream.onHead(head(200));
    give(...HEY);
    stream.onFailure({ kind: 'reset', message: 'gone', sent: true, stale: false });
    await expect(stream.done).rejects.toMatchObject({ kind: 'upstream_failed' });
  });

  test('a stream with too many unread bytes is paused until they are read', () => {
    const { stream, reports } = rig();
    stream.onBacklog(100);
    stream.onBacklog(101);
    stream.onBacklog(500);
    stream.onCaughtUp();
    stream.onCaughtUp();
    expect(reports).toEqual(['pause', 'resume']);
  });
});

describe('an answer in one piece', () => {
  test.each([
    [400, '{"error":{"message":"no streams"}}'],
    [200, '{"choices":[]}'],
  ])('an answer of status %d is passed on', async (status, body) => {
    const { stream, give } = rig();
    stream.onHead(head(status, 'application/json'));
    give(body);
    stream.onEnd();
    expect(await stream.done).toMatchObject({
      kind: 'collected',
      answer: { head: { status }, body: Buffer.from(body) },
    });
  });

  test('an answer declared as plain that is a stream is read as a stream', async () => {
    const { stream, give, text } = rig();
    stream.onHead(head(200, 'application/json'));
    give(...HEY, finish('stop'), DONE);
    expect(await stream.done).toMatchObject({ kind: 'folded' });
    expect(text()).toBe('Hey');
  });
});
