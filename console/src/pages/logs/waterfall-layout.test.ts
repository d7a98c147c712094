/** Tests the positions of the bars of a call's attempts, with and without timing marks. */
import { describe, expect, test } from 'bun:test';
import { describeCrash, layOutAttempts } from './waterfall-layout.ts';

const old = (duration_ms: number, changes: { readonly status?: number | null } = {}) => ({
  provider: 'p',
  model: 'm',
  status: 200,
  error: null,
  duration_ms,
  ...changes,
});
const marked = (
  start_ms: number,
  duration_ms: number,
  marks: { readonly connect_ms?: number | null; readonly ttfb_ms?: number | null; readonly ttft_ms?: number | null },
) => ({ ...old(duration_ms), start_ms, connect_ms: 0, ttfb_ms: null, ttft_ms: null, ...marks });
const drawn = (call: Parameters<typeof layOutAttempts>[0]) =>
  layOutAttempts(call).bars.map(({ segments }) =>
    segments.map(({ phase, startMs, durationMs }) => `${phase} ${startMs}+${durationMs}`),
  );

describe('with marks', () => {
  test('a stream is gateway, connect, wait for the first token, stream, gateway', () => {
    const attempt = marked(12, 2_470, { connect_ms: 8, ttfb_ms: 300, ttft_ms: 420 });
    const call = { attempts: [attempt], duration_ms: 2_490, ttfb_ms: 312, stream: true };
    expect(drawn(call)).toEqual([['connect 12+8', 'wait 20+412', 'stream 432+2050']]);
    expect(layOutAttempts(call)).toMatchObject({
      totalMs: 2_490,
      gatewayMs: 20,
      firstTokenMs: 432,
      isMarked: true,
      phases: { connect: 8, wait: 412, stream: 2_050, unknown: 0 },
    });
  });

  test('a second attempt is where it began, and what was between them is the gateway’s', () => {
    const attempts = [
      { ...marked(5, 100, { ttfb_ms: 90 }), status: 503, error: 'upstream_failed' },
      marked(150, 300, { connect_ms: 10, ttfb_ms: 250, ttft_ms: 260 }),
    ];
    const call = { attempts, duration_ms: 460, ttfb_ms: 400, stream: true };
    expect(drawn(call)).toEqual([
      ['wait 5+90', 'stream 95+10'],
      ['connect 150+10', 'wait 160+250', 'stream 410+40'],
    ]);
    expect(layOutAttempts(call).gatewayMs).toBe(60);
  });

  test('an attempt that got no connection, and one that got no answer', () => {
    const call = { duration_ms: 50, ttfb_ms: null, stream: true };
    expect(drawn({ ...call, attempts: [marked(1, 40, { connect_ms: null })] })).toEqual([['connect 1+40']]);
    expect(drawn({ ...call, attempts: [marked(1, 40, { connect_ms: 4 })] })).toEqual([['connect 1+4', 'wait 5+36']]);
  });

  test('marks that were rounded up stay inside', () => {
    const call = { attempts: [marked(1, 11, { ttfb_ms: 11 })], duration_ms: 11, ttfb_ms: 11, stream: false };
    expect(layOutAttempts(call)).toMatchObject({ totalMs: 12, gatewayMs: 1, firstTokenMs: null });
  });
});

describe('without marks, in older records', () => {
  test('a stream’s attempt ends at the first byte, and what came after is not told apart', () => {
    const call = { attempts: [old(360)], duration_ms: 2_490, ttfb_ms: 370, stream: true };
    expect(drawn(call)).toEqual([['wait 10+360', 'unknown 370+2120']]);
    expect(layOutAttempts(call)).toMatchObject({ totalMs: 2_490, gatewayMs: 10, firstTokenMs: 370, isMarked: false });
  });

  test('attempts follow one another, after what the gateway did itself', () => {
    const call = { attempts: [old(400), old(500)], duration_ms: 1_000, ttfb_ms: 600, stream: false };
    expect(drawn(call)).toEqual([['wait 100+400'], ['wait 500+500']]);
    expect(layOutAttempts(call)).toMatchObject({ gatewayMs: 100, totalMs: 1_000, firstTokenMs: null });
  });

  test('a stream that no answer began is drawn as an answer in one piece is', () => {
    const call = { attempts: [old(400, { status: null })], duration_ms: 500, ttfb_ms: null, stream: true };
    expect(drawn(call)).toEqual([['wait 100+400']]);
  });
});

test('a call that was refused here has no attempt', () => {
  expect(layOutAttempts({ attempts: [], duration_ms: 2, ttfb_ms: null, stream: true })).toMatchObject({
    bars: [],
    totalMs: 2,
    firstTokenMs: null,
    gatewayMs: 2,
  });
});

test('a call that the gateway died in has no times, and is not said to have asked nobody', () => {
  const error = 'gateway_crashed';
  expect(describeCrash({ error, attempts: [] })).toContain('whether a provider was asked, and how long');
  expect(describeCrash({ error, attempts: [old(0)] })).toContain('while p answered with m: how long');
  expect(describeCrash({ error: 'upstream_failed', attempts: [] })).toBeNull();
});
