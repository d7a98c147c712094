/** Shows where the bars of a call’s attempts are. */
import { describe, expect, test } from 'bun:test';
import { describeCrash, layOutAttempts } from './waterfall-layout.ts';

const attempt = (duration_ms: number) => ({ provider: 'p', model: 'm', status: 200, error: null, duration_ms });

describe('layOutAttempts', () => {
  test('attempts follow one another, after what the gateway did itself', () => {
    const { bars, gatewayMs, totalMs } = layOutAttempts({
      attempts: [attempt(400), attempt(500)],
      duration_ms: 1_000,
      ttfb_ms: 600,
    });
    expect(bars.map(({ startMs, durationMs }) => [startMs, durationMs])).toEqual([
      [100, 400],
      [500, 500],
    ]);
    expect([gatewayMs, totalMs]).toEqual([100, 1_000]);
  });
  test('attempts that were rounded up stay inside', () => {
    const { bars, totalMs } = layOutAttempts({ attempts: [attempt(10.4)], duration_ms: 10, ttfb_ms: null });
    expect(totalMs).toBe(10.4);
    expect(bars[0]?.startMs).toBe(0);
  });
  test('a call that was refused here has no attempt', () => {
    expect(layOutAttempts({ attempts: [], duration_ms: 2, ttfb_ms: null })).toEqual({
      bars: [],
      totalMs: 2,
      firstByteMs: null,
      gatewayMs: 2,
    });
  });
});

test('a call that the gateway died in has no times, and is not said to have asked nobody', () => {
  const error = 'gateway_crashed';
  expect(describeCrash({ error, attempts: [] })).toContain('whether a provider was asked, and how long');
  expect(describeCrash({ error, attempts: [attempt(0)] })).toContain('while p answered with m: how long');
  expect(describeCrash({ error: 'upstream_failed', attempts: [] })).toBeNull();
});
