/** Tests of drift-watch.ts: what is sampled, from when on sums are an alarm, and that each model has one a day. */
import { describe, expect, test } from 'bun:test';
import { ZERO_USAGE } from '../generation/usage.ts';
import { newRequestId } from '../lib/request-id.ts';
import { type Drift, DriftWatch, type SampledPrompt } from './drift-watch.ts';

const DAY_MS = Date.UTC(2026, 10, 20);
const prompt = (changes: Partial<SampledPrompt> = {}): SampledPrompt => ({
  protocol: 'chat',
  provider: 'lab',
  model: 'm',
  body: Buffer.from('{}'),
  ...changes,
});

/** A watch whose counter finds `own` tokens in every prompt; null: it has no room. `answer` false: it answers later. */
function watch(own: number | null | 'no room', answer = true) {
  const told: Drift[] = [];
  const later: (() => void)[] = [];
  const counter = {
    count(_: unknown, onCounted: (tokens: number | null) => void) {
      if (own === 'no room') return false;
      if (answer) onCounted(own);
      else later.push(() => onCounted(own));
      return true;
    },
    close: () => undefined,
  };
  const drift = new DriftWatch({ counter, tell: (found) => told.push(found) });
  const note = (calls: number, counted: number, changes: Partial<SampledPrompt> = {}, nowMs = DAY_MS) => {
    for (let call = 0; call < calls; call++) drift.note(prompt(changes), { ...ZERO_USAGE, input: counted }, nowMs);
    return told.length;
  };
  return { drift, told, later, note };
}

describe('the sample', () => {
  test('is one call in two hundred, the same for the same id', () => {
    const { drift } = watch(1);
    const ids = Array.from({ length: 40_000 }, newRequestId);
    const taken = ids.filter((id) => drift.takes(id, 0));
    expect(taken.length).toBeGreaterThan(100);
    expect(taken.length).toBeLessThan(320);
    expect(taken.every((id) => drift.takes(id, 0))).toBe(true);
    expect(taken.some((id) => drift.takes(id, 1))).toBe(false);
  });

  test('is another one where it is asked for', () => {
    const counter = { count: () => false, close: () => undefined };
    const all = new DriftWatch({ counter, tell: () => undefined, oneIn: 1 });
    expect(Array.from({ length: 100 }, newRequestId).every((id) => all.takes(id, 0))).toBe(true);
  });
});

describe('an alarm', () => {
  test.each([
    [5_000, 5_263, 0],
    [5_000, 5_264, 1],
    [5_000, 4_762, 0],
    [5_000, 4_761, 1],
  ])('of our %d where the provider has %d: %d', (own, counted, alarms) => {
    // 4,761 times 20 calls exceeds the least sum, so do the others.
    expect(watch(own).note(20, counted)).toBe(alarms);
  });

  test('needs twenty calls and fifty thousand tokens on both sides', () => {
    expect(watch(9_000).note(19, 5_000)).toBe(0);
    expect(watch(2_499).note(20, 9_000)).toBe(0);
    expect(watch(2_500).note(20, 9_000)).toBe(1);
    expect(watch(9_000).note(20, 2_499)).toBe(0);
    expect(watch(9_000).note(20, 2_500)).toBe(1);
  });

  test('comes once for each model of a provider and day, with its numbers', () => {
    const { note, told } = watch(5_000);
    expect(note(60, 10_000)).toBe(1);
    expect(told[0]).toEqual({
      provider: 'lab',
      model: 'm',
      day: '2026-11-20',
      calls: 20,
      ownTokens: 100_000,
      providerTokens: 200_000,
      dropped: 0,
    });
    expect(note(20, 10_000, { provider: 'other' })).toBe(2);
    expect(note(20, 10_000, {}, DAY_MS + 86_399_999)).toBe(2);
    expect(note(20, 10_000, {}, DAY_MS + 86_400_000)).toBe(3);
    expect(told[2]).toMatchObject({ day: '2026-11-21', calls: 20 });
  });

  test('counts all of the prompt, cached or not', () => {
    const { drift, told } = watch(5_000);
    const usage = {
      input: 1_000,
      cache_read: 2_000,
      cache_write_5m: 1_000,
      cache_write_1h: 1_000,
      output: 9,
      reasoning: 0,
    };
    for (let call = 0; call < 30; call++) drift.note(prompt(), usage, DAY_MS);
    expect(told).toEqual([]);
  });
});

describe('what is not counted', () => {
  test.each([
    ['too large', 5_000, Buffer.alloc(1024 * 1024 + 1)],
    ['without room at the counter', 'no room', Buffer.from('{}')],
    ['not readable', null, Buffer.from('{}')],
  ] as const)('because it is %s is dropped, and said to be', (_, own, body) => {
    const { note, told, drift } = watch(own);
    expect(note(40, 10_000, { body })).toBe(0);
    const good = watch(5_000);
    expect(good.note(1, 10_000, { body: Buffer.alloc(1024 * 1024 + 1) }) + good.note(20, 10_000)).toBe(1);
    expect(good.told[0]?.dropped).toBe(1);
    expect(told).toEqual([]);
    drift.close();
  });

  test('is what is counted only after its day has turned', () => {
    const { note, later, told } = watch(5_000, false);
    note(20, 10_000);
    note(1, 10_000, {}, DAY_MS + 86_400_000);
    for (const answer of later.slice(0, 20)) answer();
    expect(told).toEqual([]);
  });
});
