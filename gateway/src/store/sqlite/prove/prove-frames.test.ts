/** Tests that the proof of frames refuses every act that the ledger would not have done. */
import { describe, expect, test } from 'bun:test';
import type { Balance } from '../../ledger/fold-balance.ts';
import type { EndFrame, Frame } from '../../ports/journal.ts';
import type { AttemptRecord, CallRecord } from '../../ports/records.ts';
import { heldCall, jobOf, lostAttempt, recompute, settledCall, usageOf } from '../../testing/sample-call.ts';
import { sampleRecord } from '../../testing/sample-record.ts';
import { LedgerInvariantError } from './ledger-invariant-error.ts';
import { CallsProof } from './prove-calls.ts';
import { FramesProof } from './prove-frames.ts';

const HOLD: Frame = { kind: 'hold', ...heldCall('a', 30n), prepaid: false };
const EXTEND: Frame = { kind: 'extend', call_id: 'a', nth: 1, amount: 20n, prepaid: false, at_ms: 1 };
const DETACH: Frame = { kind: 'detach', call_id: 'a', at_ms: 1, job: jobOf('resp_1') };
const TOPUP: Frame = {
  kind: 'movement',
  of: 'topup',
  movement: { id: 'm', account: 'default', amount: 100n, note: null, at_ms: 1 },
  prepaid: true,
  audit: null,
};

function end(changes: Partial<EndFrame> = {}, record: Partial<CallRecord> = {}): EndFrame {
  return {
    kind: 'end',
    ...settledCall('a', { held: 30n, output: 10, changes: record }),
    hold: null,
    at_ms: 2,
    ...changes,
  };
}

/** The end of a call whose cost is the amount that was held, by its flag. */
function heldEnd(cost: bigint): EndFrame {
  const record = sampleRecord('a', { usage: usageOf(1), usage_flags: ['held_amount'], cost_nano_usd: `${cost}` });
  return end({
    record,
    posted: cost < 30n ? cost : 30n,
    released: cost < 30n ? 30n - cost : 0n,
    writtenOff: cost < 30n ? 0n : cost - 30n,
  });
}

/** What the proof says of the last frame; null: it is sound. All before it must be. */
function problemOf(frames: readonly Frame[]): string | null {
  const proof = new FramesProof(new CallsProof(recompute), new Map<string, Balance>());
  const last = frames.at(-1);
  for (const frame of frames.slice(0, -1)) proof.take(frame, 1);
  if (last === undefined) throw new Error('there is no frame');
  try {
    proof.take(last, 1);
    return null;
  } catch (fault) {
    if (!(fault instanceof LedgerInvariantError)) throw fault;
    return fault.message;
  }
}

test('a sound call is accepted, with its hold before it or within its end', () => {
  expect(problemOf([HOLD, end()])).toBeNull();
  expect(problemOf([end({ hold: { amount: 30n, prepaid: false } })])).toBeNull();
  const extended = settledCall('a', { held: 50n, output: 40 });
  expect(problemOf([HOLD, EXTEND, { ...end(), ...extended }])).toBeNull();
  expect(problemOf([HOLD, end({}, { attempts: [lostAttempt('yes', 7), lostAttempt('maybe', 0)] })])).toBeNull();
  expect(problemOf([HOLD, { kind: 'checkpoint', call_id: 'a', usage: usageOf(1), cost: 2n }, end()])).toBeNull();
  expect(problemOf([HOLD, DETACH, end()])).toBeNull();
  expect(problemOf([HOLD, DETACH, heldEnd(30n)])).toBeNull();
  expect(problemOf([TOPUP, { ...HOLD, prepaid: true }, { ...EXTEND, prepaid: true }])).toBeNull();
});

describe('the proof of frames finds', () => {
  const prepaid = { ...HOLD, ...heldCall('b', 80n), prepaid: true };
  const lost = (changes: Partial<AttemptRecord>) => end({}, { attempts: [{ ...lostAttempt('yes', 7), ...changes }] });
  const lostWithout = (member: keyof AttemptRecord) => {
    const { [member]: _, ...attempt } = lostAttempt('yes', 7);
    return end({}, { attempts: [attempt as AttemptRecord] });
  };
  const cases: readonly [what: string, frames: Frame[], words: string][] = [
    ['a detachment of a call that holds nothing', [DETACH], 'a detachment of call a, which holds nothing then'],
    ['less than the held amount in its place', [HOLD, heldEnd(29n)], 'costs 29 nano-USD as the amount that was held'],
    ['more than the held amount in its place', [HOLD, heldEnd(31n)], 'costs 31 nano-USD as the amount that was held'],
    ['a second detachment', [HOLD, DETACH, DETACH], 'a second detachment of call a'],
    ['another cost of an attempt', [HOLD, lost({ cost_nano_usd: '15' })], 'attempt 1 of call a costs 15 nano-USD, its'],
    ['an attempt whose usage is gone', [HOLD, lostWithout('usage')], 'lacks whether it was billed, its usage'],
    ['an attempt with a cost that was not billed', [HOLD, lostWithout('billed')], 'lacks whether it was billed'],
    ['an attempt without its price', [HOLD, lostWithout('price_version')], 'costs 14 nano-USD and names no price'],
    [
      'an attempt of an unknown price',
      [HOLD, lost({ price_version: 'x' })],
      'attempt 1 of call a cannot be recomputed',
    ],
    [
      'the same in a call that held nothing',
      [
        {
          kind: 'refused',
          record: sampleRecord('r', {
            cost_nano_usd: '0',
            attempts: [{ ...lostAttempt('yes', 7), cost_nano_usd: '15' }],
          }),
        },
      ],
      'attempt 1 of call r costs 15',
    ],
    ['a second hold', [HOLD, HOLD], 'a second hold of call a'],
    ['a second hold within an end', [HOLD, end({ hold: { amount: 30n, prepaid: false } })], 'a second hold of call a'],
    ['an end of nothing', [end()], 'a post of call a, which holds nothing then'],
    ['a second end', [HOLD, end(), end()], 'a post of call a, which holds nothing then'],
    ['an extension of nothing', [EXTEND], 'a extend of call a, which holds nothing then'],
    ['a wrong number of an extension', [HOLD, { ...EXTEND, nth: 2 }], 'extension 2 of call a, expected 1'],
    ['an extension that comes twice', [HOLD, EXTEND, EXTEND], 'extension 1 of call a, expected 2'],
    ['a checkpoint of nothing', [{ kind: 'checkpoint', call_id: 'a', usage: usageOf(1), cost: 2n }], 'holds nothing'],
    [
      'a checkpoint of less than nothing',
      [HOLD, { kind: 'checkpoint', call_id: 'a', usage: usageOf(1), cost: -2n }],
      'a checkpoint of -2',
    ],
    ['an end of less than was held', [HOLD, end({ released: 9n })], 'call a held 30, its end disposes of 29'],
    ['an end of more than was held', [HOLD, end({ released: 11n })], 'call a held 30, its end disposes of 31'],
    ['an end of another account', [HOLD, end({}, { account: 'x' })], 'is of account x, expected default'],
    ['another cost', [HOLD, end({}, { cost_nano_usd: '19' })], 'costs 19 nano-USD, its entries post and absorb 20'],
    [
      'a post that the usage does not cost',
      [HOLD, end({ posted: 21n, released: 9n }, { cost_nano_usd: '21' })],
      'costs 21 nano-USD, its usage at',
    ],
    ['a cost written off beyond the cost', [HOLD, end({ writtenOff: 1n })], 'post and absorb 21'],
    [
      'less than nothing written off',
      [HOLD, end({ posted: 30n, released: 0n, writtenOff: -10n })],
      'account default: a absorb of -10',
    ],
    ['a cost without a price', [HOLD, end({}, { price_version: null })], 'names no price'],
    ['a price that cannot be read', [HOLD, end({}, { price_version: 'gone' })], 'cannot be recomputed'],
    [
      'a cost of a call that held nothing',
      [{ kind: 'refused', record: sampleRecord('r', { cost_nano_usd: '1' }) }],
      'call r held nothing, and costs 1 nano-USD',
    ],
    [
      'a prepaid hold beyond the balance',
      [TOPUP, prepaid, { ...HOLD, prepaid: true }],
      'has 20 nano-USD available, 30',
    ],
    [
      'a prepaid extension beyond the balance',
      [TOPUP, prepaid, HOLD, { ...EXTEND, amount: 1n, prepaid: true }],
      'the account is prepaid',
    ],
    [
      'a prepaid correction beyond the balance',
      [TOPUP, { ...TOPUP, of: 'correct', movement: { ...TOPUP.movement, amount: -101n } }],
      'the account is prepaid',
    ],
    ['a hold of less than nothing', [{ ...HOLD, amount: -1n }], 'a hold of -1, expected 0 or more'],
    [
      'a top-up of nothing',
      [{ ...TOPUP, movement: { ...TOPUP.movement, amount: 0n } }],
      'a topup of 0, expected more than 0',
    ],
    [
      'a balance beyond 64 bits',
      [TOPUP, { ...TOPUP, movement: { ...TOPUP.movement, amount: 2n ** 63n - 1n } }],
      'would leave the range of 64 bits',
    ],
  ];
  test.each(cases)('%s', (_, frames, words) => {
    expect(problemOf(frames)).toContain(words);
  });
});
