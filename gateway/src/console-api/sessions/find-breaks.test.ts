/** Tests each cause of a break of the prompt cache, its cost by the price engine, and what is no break. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { parsePriceVersion } from '../../billing/price.ts';
import { costNanoUsd } from '../../billing/price-book.ts';
import type { Usage } from '../../generation/usage.ts';
import type { AttemptRecord, CallRecord } from '../../store/ports/records.ts';
import { sampleRecord } from '../../store/testing/sample-record.ts';
import { findBreaks } from './find-breaks.ts';

const START_MS = Date.UTC(2026, 10, 27);
const MINUTE_MS = 60_000;
const PRICE = 'config@3_0.3_3.75_6_15_15';
const ATTEMPT: AttemptRecord = { provider: 'lab', model: 'm', status: 200, error: null, duration_ms: 900 };

interface Step extends Partial<Usage> {
  readonly atMs?: number;
  readonly attempt?: Partial<AttemptRecord>;
  readonly changes?: Partial<CallRecord>;
}

/** One request a minute; the first byte of each came after a second. */
function records(steps: readonly Step[]): CallRecord[] {
  return steps.map(({ atMs, attempt, changes, ...counters }, nth) => {
    const usage = {
      input: 10,
      cache_read: 0,
      cache_write_5m: 0,
      cache_write_1h: 0,
      output: 5,
      reasoning: 0,
      ...counters,
    };
    return sampleRecord(`req_${nth}`, {
      at_ms: START_MS + (atMs ?? nth * MINUTE_MS),
      protocol: 'messages',
      served_model: attempt?.model ?? 'm',
      provider: attempt?.provider ?? 'lab',
      usage,
      price_version: PRICE,
      cost_nano_usd: '1',
      ttfb_ms: 1_000,
      attempts: [{ ...ATTEMPT, ...attempt }],
      ...changes,
    });
  });
}

const causes = (steps: readonly Step[]) => [...findBreaks(records(steps))].map(([id, { cause }]) => [id, cause]);
const WRITTEN: Step = { cache_write_5m: 20_000 };

describe('a request that reads less than the one before left in the cache', () => {
  test.each<[string, Partial<Step>, string]>([
    ['another model', { attempt: { model: 'other' } }, 'model'],
    ['another provider', { attempt: { provider: 'spare' } }, 'provider'],
    ['another credential', { attempt: { credential: 'second' } }, 'credential'],
    ['another region', { attempt: { region: 'eu-west-1' } }, 'credential'],
    ['after more than five minutes', { atMs: 5 * MINUTE_MS + 1_001 }, 'expired'],
    ['of the same target in time', { atMs: 5 * MINUTE_MS + 1_000 }, 'prompt'],
  ])('%s', (_, change, cause) => {
    expect(causes([WRITTEN, { cache_write_5m: 21_000, ...change }])).toEqual([['req_1', cause]]);
  });

  test('an hour passes where the cache was asked to keep the prompt for one', () => {
    const first: Step = { cache_write_1h: 20_000 };
    expect(causes([first, { ...WRITTEN, atMs: 59 * MINUTE_MS }])).toEqual([['req_1', 'prompt']]);
    expect(causes([first, { ...WRITTEN, atMs: 61 * MINUTE_MS }])).toEqual([['req_1', 'expired']]);
  });

  test('a prompt too short for a cache', () => {
    expect(causes([{ cache_read: 20_000 }, { input: 900 }])).toEqual([['req_1', 'short']]);
  });

  test('a provider that caches by itself reports no writes: a later read shows that it does', () => {
    const steps = [{ input: 8_000 }, { input: 400, cache_read: 7_936 }, { input: 9_000 }, { input: 9_500 }];
    expect(causes(steps)).toEqual([
      ['req_2', 'prompt'],
      ['req_3', 'prompt'],
    ]);
  });
});

describe('no break', () => {
  test.each<[string, readonly Step[]]>([
    ['the first request', [WRITTEN]],
    ['all was read', [WRITTEN, { cache_read: 20_000, cache_write_5m: 500 }]],
    ['a little less was read: caches have blocks', [WRITTEN, { cache_read: 19_000, cache_write_5m: 500 }]],
    ['the prompt is a shorter one, read whole', [WRITTEN, { cache_read: 6_000 }]],
    ['the provider reports no cache', [{ input: 20_000 }, { input: 21_000 }, { input: 22_000 }]],
    [
      'the model returns in time, to its own cache',
      [WRITTEN, { attempt: { model: 'other' }, input: 300 }, { cache_read: 20_000 }],
    ],
    ['numbers are our estimate', [WRITTEN, { input: 30_000, changes: { usage_source: 'counted' } }]],
    ['the answer came from the gateway’s cache', [WRITTEN, { input: 30_000, changes: { usage_source: 'cache' } }]],
    ['embeddings have no prompt cache', [WRITTEN, { input: 30_000, changes: { protocol: 'embeddings' } }]],
  ])('%s', (_, steps) => {
    expect(causes(steps)).toEqual([]);
  });

  test('a conversation that grows, with each prompt read as far as it was cached, never breaks', () => {
    const grown = fc.array(
      fc.record({ more: fc.integer({ min: 0, max: 50_000 }), waitMs: fc.integer({ min: 1, max: 9e6 }) }),
    );
    fc.assert(
      fc.property(grown, fc.boolean(), (steps, writes) => {
        let atMs = 0;
        let prompt = 0;
        const turns = steps.map(({ more, waitMs }): Step => {
          atMs += waitMs;
          const cached = prompt;
          prompt += more;
          return { atMs, cache_read: cached, input: writes ? 0 : more, cache_write_5m: writes ? more : 0 };
        });
        expect(causes(turns)).toEqual([]);
      }),
    );
  });
});

describe('the cost of a break', () => {
  test('is what the lost tokens cost more than read from the cache, by the price engine', () => {
    const steps = [{ cache_write_5m: 20_000 }, { cache_read: 4_000, cache_write_5m: 10_000, input: 8_000 }];
    const [found] = findBreaks(records(steps)).values();
    // 10,000 were written again, 6,000 were charged as input.
    const price = parsePriceVersion(PRICE);
    const zero = { input: 0, cache_read: 0, cache_write_5m: 0, cache_write_1h: 0, output: 0, reasoning: 0 };
    const more =
      costNanoUsd({ ...zero, cache_write_5m: 10_000, input: 6_000 }, price) -
      costNanoUsd({ ...zero, cache_read: 16_000 }, price);
    expect(found).toMatchObject({ previous: 'req_0', expected: 20_000, lost: 16_000, cost: more, gapMs: 59_000 });
  });

  test('is never below zero, and unknown without a price or for several runs', () => {
    const run = { input: 20_000, cache_read: 0, cache_write_5m: 0, cache_write_1h: 0, output: 5, reasoning: 0 };
    const costOf = (changes: Partial<CallRecord>) =>
      [...findBreaks(records([WRITTEN, { input: 20_000, changes }])).values()].map(({ cost }) => cost);
    expect(costOf({ price_version: 'config@1_9_9_9_1_1' })).toEqual([0n]);
    expect(costOf({ price_version: null, cost_nano_usd: null })).toEqual([null]);
    expect(costOf({ price_version: 'catalogue 2025' })).toEqual([null]);
    expect(costOf({ usage: { ...run, extras: { parts: [run] } } })).toEqual([null]);
  });

  test('leaves audio, images and half-hour writes as they are', () => {
    const usage: Usage = {
      ...{ input: 5_000, cache_read: 0, cache_write_5m: 6_000, cache_write_1h: 0, output: 5, reasoning: 0 },
      extras: { audio_input: 4_000, cache_write_30m: 6_000 },
    };
    const [found] = findBreaks(records([WRITTEN, { changes: { usage } }])).values();
    expect(found?.lost).toBe(11_000);
    expect(found?.cost).toBeGreaterThan(0n);
  });
});
