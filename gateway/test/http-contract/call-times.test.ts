/** Tests the times in a call's record: before the attempt, until head, first token and last byte. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { eventually } from '../harness/eventually.ts';
import type { CallLine } from '../harness/start-gateway.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { goodBody, post, type Side } from './calls.ts';
import { contractConfig } from './contract-config.ts';

const SIDES: readonly Side[] = ['chat', 'messages'];
const HEAD_MS = 150;
/** At least 61 events at about 15 ms each. */
const EVENT_MS = 15;

let pair: Pair;
const records = new Map<string, CallLine>();

beforeAll(async () => {
  const target = (side: Side) => ({ targets: [{ provider: side === 'chat' ? 'lab' : 'lab-messages' }], price: 'free' });
  const models = Object.fromEntries(SIDES.map((side) => [`${side}-slow`, target(side)]));
  pair = await startPair((url) => contractConfig(url, { models }));
  for (const side of SIDES) {
    pair.fake.script(`${side}-slow`, {
      answer: 'long:30',
      delayBeforeFirstByteMs: HEAD_MS,
      delayBetweenEventsMs: EVENT_MS,
    });
  }
  await Promise.all(
    SIDES.flatMap((side) =>
      [true, false].map(async (stream) => {
        const body = goodBody(side, { model: `${side}-slow`, stream });
        const response = await post(pair.gateway, side, body, { 'x-session-id': `${side} ${stream}` });
        expect(response.status).toBe(200);
        await response.text();
      }),
    ),
  );
  const found = await eventually('every record', async () => {
    const calls = await pair.gateway.calls();
    return calls.length === 4 ? calls : null;
  });
  for (const call of found) records.set(call.session ?? '', call);
});
afterAll(() => pair.stop());

describe.each([...SIDES])('%s', (side) => {
  test('a stream: the wait is before the head, the tokens are before the end, and all of it is in the call', () => {
    const call = records.get(`${side} true`);
    const [attempt] = call?.attempts ?? [];
    if (call === undefined || attempt === undefined) throw new Error('the call has no attempt');
    const { start_ms = -1, connect_ms, ttfb_ms, ttft_ms, duration_ms } = attempt;
    expect(start_ms).toBeGreaterThanOrEqual(0);
    expect(connect_ms).toBeGreaterThanOrEqual(0);
    expect(ttfb_ms).toBeGreaterThanOrEqual(HEAD_MS - 5);
    expect(ttft_ms).toBeGreaterThanOrEqual(ttfb_ms ?? Number.POSITIVE_INFINITY);
    // At least thirty deltas followed the first token.
    expect(duration_ms).toBeGreaterThanOrEqual((ttft_ms ?? 0) + 20 * EVENT_MS);
    // Each value is rounded separately.
    expect(start_ms + duration_ms).toBeLessThanOrEqual(call.duration_ms + 1);
    const gatewayMs = call.duration_ms - duration_ms;
    expect(gatewayMs).toBeLessThan(duration_ms);
  });

  test('an answer in one piece has a head and an end, and no first token', () => {
    const call = records.get(`${side} false`);
    const [attempt] = call?.attempts ?? [];
    expect(attempt?.ttft_ms).toBeNull();
    expect(attempt?.ttfb_ms).toBeGreaterThanOrEqual(HEAD_MS - 5);
    expect(attempt?.duration_ms).toBeGreaterThanOrEqual(attempt?.ttfb_ms ?? Number.POSITIVE_INFINITY);
  });
});
