/** Tests which calls' content is handed over, how much of it, and that memory is always released. */
import { describe, expect, test } from 'bun:test';
import type { CallContent } from '../../store/ports/content.ts';
import type { BodyPolicy } from '../../store/ports/records.ts';
import { releaseCall } from '../call.ts';
import { routedCall } from '../testing/routed-call.ts';
import { ContentDraft } from './content-draft.ts';
import { createContentRecorder, KEPT_BODY_BYTES_MAX } from './content-recorder.ts';

const REQUEST = Buffer.from('{"model":"m"}');

/** A call under a policy, with the stored parts of its content; `keep` simulates the disk. */
function begin(policy: BodyPolicy, { bytesMax = 10_000_000, keep = async (): Promise<void> => undefined } = {}) {
  const kept: CallContent[] = [];
  const reports: string[] = [];
  const store = {
    save(content: CallContent) {
      kept.push(content);
      return keep();
    },
  };
  const recorder = createContentRecorder(store, (dropped, why) => reports.push(`${dropped} ${why}`), bytesMax);
  const call = routedCall({});
  if (call.principal === null) throw new Error('the call has a caller');
  const content = new ContentDraft(recorder, policy, call, call.principal, REQUEST);
  call.content = content;
  return { call, recorder, content, kept, reports, end: () => releaseCall(call) };
}

describe('which content is stored', () => {
  for (const [policy, status, error, expected] of [
    ['all', 200, null, 1],
    ['all', 500, 'upstream_failed', 1],
    ['errors', 200, null, 0],
    ['errors', 429, 'rate_limited', 1],
    ['errors', 200, 'upstream_cut', 1],
  ] as const) {
    test(`${policy}: a call with ${status} and ${error ?? 'no error'}`, async () => {
      const { content, recorder, kept, end } = begin(policy);
      content.answered('body');
      content.ended(status, error);
      end();
      expect(kept).toHaveLength(expected);
      await Promise.resolve();
      expect(recorder.bytes.held).toBe(0);
    });
  }

  test('a call without a record stores none', () => {
    const { content, recorder, kept, end } = begin('all');
    content.answered('body');
    end();
    expect([kept.length, recorder.bytes.held]).toEqual([0, 0]);
  });
});

describe('the stored content', () => {
  test('has the bodies in order, once, with their owner', () => {
    const { call, content, kept, end } = begin('all');
    content.sent(Buffer.from('first try'));
    content.received(Buffer.from('refused'));
    content.sent(REQUEST);
    content.answered(Buffer.from('data: a\n\n'), true);
    content.answered(Buffer.from('data: b\n\n'), true);
    content.ended(200, null);
    end();
    end();
    expect(kept).toHaveLength(1);
    expect(kept[0]).toMatchObject({
      requestId: call.requestId,
      account: 'default',
      workspace: 'default',
      status: 200,
      stream: true,
      upstreamRequest: 'same',
      upstreamResponse: null,
    });
    expect(Buffer.from(kept[0]?.response.bytes ?? []).toString()).toBe('data: a\n\ndata: b\n\n');
    expect(Buffer.from(kept[0]?.request.bytes ?? []).equals(REQUEST)).toBe(true);
  });

  test('has each body up to its limit, with its full length', () => {
    const { content, kept, end } = begin('all');
    const piece = Buffer.alloc(300_000, 'x');
    for (let at = 0; at < 5; at++) content.answered(piece, true);
    content.ended(200, null);
    end();
    expect(kept[0]?.response.bytes.length).toBe(KEPT_BODY_BYTES_MAX);
    expect(kept[0]?.response.totalBytes).toBe(1_500_000);
  });

  test('is a copy, unaffected by later changes of the call’s memory', () => {
    const body = Buffer.from('answer');
    const { content, kept, end } = begin('all');
    content.answered(body);
    body.fill(0);
    content.ended(200, null);
    end();
    expect(Buffer.from(kept[0]?.response.bytes ?? []).toString()).toBe('answer');
  });
});

describe('content that cannot be stored', () => {
  test('is dropped and counted once when memory is full, and its memory is released', () => {
    const { content, recorder, kept, reports, end } = begin('all', { bytesMax: 5_000 });
    content.answered(Buffer.alloc(4_000), true);
    content.answered(Buffer.alloc(4_000), true);
    content.answered(Buffer.alloc(4_000), true);
    expect(recorder.bytes.held).toBe(0);
    content.ended(200, null);
    end();
    expect([kept.length, recorder.counts.dropped, recorder.bytes.held]).toEqual([0, 1, 0]);
    expect(reports).toHaveLength(1);
    expect(reports[0]).toContain('memory');
  });

  test('is not counted if the policy would not have stored it', () => {
    const { content, recorder, end } = begin('errors', { bytesMax: 10 });
    content.answered(Buffer.alloc(100));
    content.ended(200, null);
    end();
    expect([recorder.counts.dropped, recorder.bytes.held]).toEqual([0, 0]);
  });

  test('is dropped and counted when the disk fails, and its memory is released', async () => {
    const { content, recorder, reports, end } = begin('all', { keep: () => Promise.reject(new Error('disk is full')) });
    content.answered('body');
    content.ended(200, null);
    end();
    expect(recorder.bytes.held).toBeGreaterThan(0);
    await Promise.resolve();
    await Promise.resolve();
    expect([recorder.counts, recorder.bytes.held]).toEqual([{ kept: 0, dropped: 1 }, 0]);
    expect(reports).toEqual(['1 disk is full']);
  });
});
