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

describe('with timings', () => {
  test('splits a stream into gateway, connect, wait, stream, gateway', () => {
    const attempt = marked(12, 2_470, { connect_ms: 8, ttfb_ms: 300, ttft_ms: 420 });
    const call = { attempts: [attempt], duration_ms: 2_490, ttfb_ms: 312, stream: true };
    expect(drawn(call)).toEqual([['connect 12+8', 'wait 20+412', 'stream 432+2050']]);
    expect(layOutAttempts(call)).toMatchObject({
      totalMs: 2_490,
      gatewayMs: 20,
      firstTokenMs: 432,
      isMarked: true,
      phases: { pause: 0, connect: 8, wait: 412, stream: 2_050, unknown: 0 },
    });
  });

  test('places a second attempt at its start and counts the gap as gateway time', () => {
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

  test('draws the pause before an attempt, and counts overlapping attempts once', () => {
    const first = { ...marked(5, 100, { ttfb_ms: 90 }), status: 503, error: 'upstream_failed' };
    const second = { ...marked(705, 300, { connect_ms: 10, ttfb_ms: 250 }), wait_ms: 600 };
    const paused = { attempts: [first, second], duration_ms: 1_010, ttfb_ms: 900, stream: false };
    expect(drawn(paused)[1]).toEqual(['pause 105+600', 'connect 705+10', 'wait 715+240', 'stream 955+50']);
    expect(layOutAttempts(paused)).toMatchObject({ gatewayMs: 10, phases: { pause: 600 } });
    const overlapping = [marked(0, 1_000, { ttfb_ms: 1_000 }), marked(400, 500, { ttfb_ms: 500 })];
    const call = { attempts: overlapping, duration_ms: 1_020, ttfb_ms: 900, stream: false };
    expect(layOutAttempts(call).gatewayMs).toBe(20);
  });

  test('draws attempts without a connection or a response', () => {
    const call = { duration_ms: 50, ttfb_ms: null, stream: true };
    expect(drawn({ ...call, attempts: [marked(1, 40, { connect_ms: null })] })).toEqual([['connect 1+40']]);
    expect(drawn({ ...call, attempts: [marked(1, 40, { connect_ms: 4 })] })).toEqual([['connect 1+4', 'wait 5+36']]);
  });

  test('keeps rounded timings inside the total', () => {
    const call = { attempts: [marked(1, 11, { ttfb_ms: 11 })], duration_ms: 11, ttfb_ms: 11, stream: false };
    expect(layOutAttempts(call)).toMatchObject({ totalMs: 12, gatewayMs: 1, firstTokenMs: null });
  });
});

describe('without timings, in older records', () => {
  test('ends a stream’s attempt at the first byte, followed by an unknown phase', () => {
    const call = { attempts: [old(360)], duration_ms: 2_490, ttfb_ms: 370, stream: true };
    expect(drawn(call)).toEqual([['wait 10+360', 'unknown 370+2120']]);
    expect(layOutAttempts(call)).toMatchObject({ totalMs: 2_490, gatewayMs: 10, firstTokenMs: 370, isMarked: false });
  });

  test('places attempts in sequence after the gateway’s time', () => {
    const call = { attempts: [old(400), old(500)], duration_ms: 1_000, ttfb_ms: 600, stream: false };
    expect(drawn(call)).toEqual([['wait 100+400'], ['wait 500+500']]);
    expect(layOutAttempts(call)).toMatchObject({ gatewayMs: 100, totalMs: 1_000, firstTokenMs: null });
  });

  test('draws a stream without a response like a non-streamed response', () => {
    const call = { attempts: [old(400, { status: null })], duration_ms: 500, ttfb_ms: null, stream: true };
    expect(drawn(call)).toEqual([['wait 100+400']]);
  });
});

test('a rejected request has no attempts', () => {
  expect(layOutAttempts({ attempts: [], duration_ms: 2, ttfb_ms: null, stream: true })).toMatchObject({
    bars: [],
    totalMs: 2,
    firstTokenMs: null,
    gatewayMs: 2,
  });
});

test('describes a crash without timings or attempts', () => {
  const error = 'gateway_crashed';
  expect(describeCrash({ error, attempts: [] })).toContain('provider and duration are unknown');
  expect(describeCrash({ error, attempts: [old(0)] })).toContain('to m at p. Its duration is unknown');
  expect(describeCrash({ error: 'upstream_failed', attempts: [] })).toBeNull();
});
