/** Tests what is stored of a run for each way it can end, and what it holds meanwhile. */
import { describe, expect, test } from 'bun:test';
import { Gauge } from '../../admission/capacity.ts';
import { Secret } from '../../lib/secret.ts';
import type { IdempotencyStore } from '../../store/ports/idempotency.ts';
import { KEPT_ANSWER_BYTES_MAX } from '../deliver/gathered-answer.ts';
import { IdempotencyRun } from './idempotency-run.ts';
import { createAnswerSeal, createRunHasher } from './idempotency-seal.ts';

const MASTER_KEY = new Secret('ab'.repeat(32));
const RUN = { keyId: 'key_1', nameHash: 'aa', bodyHash: 'bb', callId: 'req_1' };
const HEAD = { status: 200, stream: true, error: null, finish_reason: 'stop', served_model: 'm', provider: 'p' };
const seal = createAnswerSeal(MASTER_KEY);

/** Records its calls; `fails` makes every end reject. */
function start({ bytesMax = 100 * KEPT_ANSWER_BYTES_MAX, fails = false } = {}) {
  const storeCalls: string[] = [];
  const faults: string[] = [];
  let sealed: Uint8Array = new Uint8Array(0);
  const note = (what: string) => {
    storeCalls.push(what);
    return fails ? Promise.reject(new Error('no disk')) : Promise.resolve();
  };
  const store: IdempotencyStore = {
    begin: async () => ({ kind: 'began' }),
    async keep(_run, bytes) {
      sealed = bytes;
      await note('keep');
      return 'kept';
    },
    end: (_run, reason) => note(`end ${reason}`),
    forget: () => note('forget'),
    sweep: async () => 0,
  };
  const answerBytes = new Gauge(bytesMax);
  const log = {
    fault: (id: string) => faults.push(id),
    alarm: () => undefined,
    unpriced: () => undefined,
    upstream: () => undefined,
  };
  const run = new IdempotencyRun(RUN, { store, seal, hasher: createRunHasher(MASTER_KEY), answerBytes }, log);
  return { run, storeCalls, faults, answerBytes, opened: () => seal.open(RUN, sealed) };
}

describe('a run', () => {
  test('with a complete answer stores its bytes and its own headers', async () => {
    const { run, storeCalls, answerBytes, opened } = start();
    const reused = Buffer.from('data: 1\n\n');
    run.gather(reused);
    reused.fill(0);
    run.gather(Buffer.from('data: 2\n\n'));
    expect(answerBytes.held).toBeGreaterThan(0);
    const headers = new Headers({
      'content-type': 'text/event-stream',
      'x-request-id': 'req_1',
      'x-ratelimit-limit-requests': '5',
      'x-tollgate-model': 'm',
    });
    await run.keep(HEAD, headers, Buffer.from('data: [DONE]\n\n'));
    expect(storeCalls).toEqual(['keep']);
    expect(opened()?.body.toString()).toBe('data: 1\n\ndata: 2\n\ndata: [DONE]\n\n');
    expect(opened()?.head).toEqual({
      ...HEAD,
      headers: [
        ['content-type', 'text/event-stream'],
        ['x-tollgate-model', 'm'],
      ],
    });
    expect(answerBytes.held).toBe(0);
  });

  test('without a complete answer frees the key only if nothing was charged', async () => {
    for (const [isFree, end] of [
      [true, 'forget'],
      [false, 'end incomplete'],
    ] as const) {
      const { run, storeCalls, answerBytes } = start();
      run.gather(Buffer.alloc(100_000));
      await run.end(isFree);
      expect(storeCalls).toEqual([end]);
      expect(answerBytes.held).toBe(0);
    }
  });

  test('ends once', async () => {
    const { run, storeCalls, answerBytes } = start();
    await run.end(false);
    await run.keep(HEAD, new Headers(), Buffer.from('late'));
    await run.end(true);
    run.gather(Buffer.from('later'));
    expect(storeCalls).toEqual(['end incomplete']);
    expect(answerBytes.held).toBe(0);
  });

  test('stores an answer up to the size limit, streamed or in one piece', async () => {
    const bytes = Buffer.alloc(KEPT_ANSWER_BYTES_MAX + 1);
    for (const length of [KEPT_ANSWER_BYTES_MAX - 1, KEPT_ANSWER_BYTES_MAX, KEPT_ANSWER_BYTES_MAX + 1]) {
      for (const gathered of [0, 1_000_000, length]) {
        const { run, storeCalls, answerBytes } = start();
        run.gather(bytes.subarray(0, gathered));
        await run.keep(HEAD, new Headers(), bytes.subarray(gathered, length));
        expect({ length, gathered, storeCalls }).toEqual({
          length,
          gathered,
          storeCalls: [length > KEPT_ANSWER_BYTES_MAX ? 'end too_large' : 'keep'],
        });
        expect(answerBytes.held).toBe(0);
      }
    }
  });

  test('stops collecting at once when memory is full', async () => {
    const { run, storeCalls, answerBytes } = start({ bytesMax: 100_000 });
    run.gather(Buffer.alloc(90_000));
    expect(answerBytes.held).toBeGreaterThanOrEqual(90_000);
    run.gather(Buffer.alloc(20_000));
    expect(answerBytes.held).toBe(0);
    run.gather(Buffer.alloc(10));
    expect(answerBytes.held).toBe(0);
    await run.keep(HEAD, new Headers(), Buffer.alloc(1));
    expect(storeCalls).toEqual(['end no_room']);
  });

  test('logs an end that cannot be stored and lets the call continue', async () => {
    const { run, faults, answerBytes } = start({ fails: true });
    run.gather(Buffer.alloc(10));
    await run.keep(HEAD, new Headers(), Buffer.alloc(1));
    expect(faults).toEqual(['req_1']);
    expect(answerBytes.held).toBe(0);
  });
});
