/** Tests that records held back, because each may be the last, leave once and in order. */
import { expect, test } from 'bun:test';
import { startCpuClock } from '../../../../test/harness/cpu-clock.ts';
import { recordsOf } from '../../testing/outline-of.ts';
import { GeminiStreamObserver } from './observe-stream.ts';

test('20,000 records that each end a candidate are held back in linear time', () => {
  const ending = `data: ${JSON.stringify({ candidates: [{ finishReason: 'STOP', finishMessage: 'x'.repeat(500) }] })}\n\n`;
  const text = ending.repeat(20_000);
  const observer = new GeminiStreamObserver();
  const records = recordsOf(text);
  const elapsed = startCpuClock();
  for (const record of records) expect(observer.observe(record)).toBe('withhold');
  expect(observer.endOfBytes()?.toString() === text).toBe(true);
  expect(elapsed()).toBeLessThan(4_000);
}, 60_000);
