/** Tests that the crash loop's check detects each kind of problem, and reports nothing when all is well. */
import { describe, expect, test } from 'bun:test';
import type { AccountBalance } from '../../src/store/ports/ledger.ts';
import type { CallRecord } from '../../src/store/ports/records.ts';
import { sampleRecord } from '../../src/store/testing/sample-record.ts';
import type { GroundTruth, Sent } from './ground-truth.ts';
import { judgeBooks } from './judge-books.ts';
import type { Books } from './read-books.ts';
import { PAYERS, type Payer, type Role } from './roles.ts';
import type { Received } from './send-call.ts';

const BUDGET = 1_000n;
const COST = 100n;

const role = (payer: Payer): Role => ({
  payer,
  endpoint: 'chat',
  model: 'chat-quick',
  stream: false,
  max_tokens: 64,
  isNamed: true,
});

function received(requestId: string, changes: Partial<Received> = {}): Received {
  return { status: 200, requestId, end: 'complete', replayOf: null, bodyHash: 1n, refusal: null, ...changes };
}

function record(request_id: string, end_user: string, changes: Partial<CallRecord> = {}): CallRecord {
  return sampleRecord(request_id, { end_user, account: 'rich', cost_nano_usd: COST.toString(), ...changes });
}

const void_ = { usage_source: 'void', cost_nano_usd: '0' } as const;
const cached = { usage_source: 'cache', cost_nano_usd: '0' } as const;
const crashed = { status: 500, error: 'gateway_crashed', ...void_ } as const;

interface Case {
  readonly sent: Sent[];
  readonly arrived: Map<string, (bigint | null)[]>;
  readonly topups: GroundTruth['topups'];
  readonly records: CallRecord[];
  readonly balances: Map<Payer, AccountBalance>;
  disproof: string | null;
}

/**
 * A complete call, its replay, one cut by a crash and one refused; a top-up that arrived and was used for the first.
 */
function good(): Case {
  const balance = (account: Payer): AccountBalance => ({
    account,
    mode: account === 'rich' || account === 'poor' ? 'prepaid' : 'postpaid',
    available: 0n,
    held: 0n,
    charged: 0n,
    writtenOff: 0n,
    toppedUp: 0n,
    absorbedAttempts: 0n,
  });
  const balances = new Map(PAYERS.map((payer) => [payer, balance(payer)]));
  balances.set('rich', { ...balance('rich'), available: 900n, charged: COST, toppedUp: 1_000n });
  return {
    sent: [
      { label: 'whole', role: role('rich'), received: received('a') },
      { label: 'whole', role: role('rich'), received: received('b', { replayOf: 'a' }) },
      { label: 'cut', role: role('rich'), received: null },
      {
        label: 'refused',
        role: role('rich'),
        received: received('d', { status: 429, end: 'refused', refusal: 'quota' }),
      },
    ],
    arrived: new Map([
      ['whole', [COST]],
      ['cut', [null]],
    ]),
    topups: [
      { id: '1', account: 'rich', amount: 1_000n, isOpen: false },
      { id: '2', account: 'rich', amount: 50n, isOpen: true },
    ],
    records: [
      record('a', 'whole'),
      record('b', 'whole', cached),
      record('c', 'cut', crashed),
      record('d', 'refused', { status: 429, error: 'quota_exceeded', ...void_ }),
    ],
    balances,
    disproof: null,
  };
}

function judged({ sent, arrived, topups, records, balances, disproof }: Case): string[] {
  const books: Books = { records, balances: [...balances.values()], disproof };
  return judgeBooks({ sent, arrived, topups }, books, BUDGET);
}

function change(given: Case, payer: Payer, changes: Partial<AccountBalance>): void {
  const before = given.balances.get(payer);
  if (before !== undefined) given.balances.set(payer, { ...before, ...changes });
}

const PLANTED: readonly (readonly [what: string, plant: (given: Case) => unknown, message: RegExp])[] = [
  ['the record of a whole answer is missing', ({ records }) => records.splice(0, 1), /^lost: whole, .* has no record/],
  ['a whole answer counts as crashed', ({ records }) => Object.assign(records[0] ?? {}, crashed), /^lost: whole/],
  ['the record of a refusal is missing', ({ records }) => records.pop(), /^lost: refused/],
  [
    'a stream began and has no record',
    ({ sent, records }) => {
      sent[2] = { label: 'cut', role: role('rich'), received: received('c', { end: 'cut' }) };
      records.splice(2, 1);
    },
    /^lost: cut, .*cut\) and has no record/,
  ],
  ['an id has two records', ({ records }) => records.push(record('a', 'whole')), /^double: 2 records of call a/],
  [
    'a run is charged twice',
    ({ records }) => Object.assign(records[1] ?? {}, { usage_source: 'upstream', cost_nano_usd: '100' }),
    /^double: whole is charged 2 times/,
  ],
  ['a run reached upstream twice', ({ arrived }) => arrived.set('whole', [COST, COST]), /^double: whole reached/],
  ['a call has more records than sendings', ({ records }) => records.push(record('e', 'cut', crashed)), /^double: cut/],
  [
    'a call that upstream never saw is charged',
    ({ arrived }) => arrived.delete('whole'),
    /^double: whole is charged and never reached/,
  ],
  [
    'a checkpoint is charged for more than any answer',
    ({ records }) => Object.assign(records[2] ?? {}, { usage_source: 'checkpoint', cost_nano_usd: '99000000' }),
    /^wrong: .*99000000 by a checkpoint/,
  ],
  [
    'a stream whose output was noted has another status than its caller heard',
    ({ sent, records }) => {
      sent[2] = { label: 'cut', role: role('rich'), received: received('c', { end: 'cut' }) };
      Object.assign(records[2] ?? {}, { usage_source: 'checkpoint' });
    },
    /^wrong: cut, .*heard 200 and then output, its record says 500/,
  ],
  [
    'another amount is charged than upstream counted',
    ({ arrived }) => arrived.set('whole', [99n]),
    /^wrong: .*counted 99/,
  ],
  [
    'what a crash cut is charged by more than a checkpoint',
    ({ records }) => Object.assign(records[2] ?? {}, { usage_source: 'counted' }),
    /^wrong: .*charged by counted/,
  ],
  [
    'another account pays',
    ({ records }) => Object.assign(records[0] ?? {}, { account: 'poor' }),
    /^wrong: .*of account poor/,
  ],
  [
    'a replay is another answer',
    ({ sent }) => Object.assign(sent[1]?.received ?? {}, { bodyHash: 2n }),
    /^wrong: .*another answer/,
  ],
  [
    'a replay has no first call',
    ({ sent }) => Object.assign(sent[1]?.received ?? {}, { replayOf: 'z' }),
    /^lost: .*replays z/,
  ],
  [
    'a fresh answer is recorded as a replay',
    ({ sent }) => Object.assign(sent[1]?.received ?? {}, { replayOf: null }),
    /^wrong: .*charged by cache/,
  ],
  [
    'a record that nobody asked for',
    ({ records }) => records.push(record('x', 'ghost', void_)),
    /^unexpected: .*ghost/,
  ],
  [
    'a fault of ours',
    ({ records }) => Object.assign(records[2] ?? {}, { error: 'gateway_fault' }),
    /^unexpected: .*fault/,
  ],
  [
    'a client refused for no good reason',
    ({ sent }) => Object.assign(sent[3]?.received ?? {}, { status: 503 }),
    /^unexpected: refused.*503/,
  ],
  [
    'money is still held',
    (given) => change(given, 'rich', { held: 5n, available: 895n }),
    /^held: account rich holds 5/,
  ],
  ['a balance is below zero', (given) => change(given, 'poor', { available: -1n }), /^overspent: account poor/],
  ['a budget is passed', (given) => change(given, 'capped', { charged: 1_001n }), /^overspent: 1001/],
  ['a balance does not add up', (given) => change(given, 'rich', { available: 901n }), /^wrong: .*does not add up/],
  [
    'records and ledger differ',
    (given) => change(given, 'default', { writtenOff: 1n }),
    /^wrong: the records of default/,
  ],
  ['an acknowledged top-up is gone', (given) => change(given, 'rich', { toppedUp: 999n }), /^lost: top-ups of rich/],
  ['a top-up moved twice', (given) => change(given, 'rich', { toppedUp: 2_000n }), /^double: top-ups of rich/],
  ['an account is gone', ({ balances }) => balances.delete('poor'), /^lost: the account poor/],
  ['the ledger does not prove itself', (given) => (given.disproof = 'a hash'), /^disproved: a hash/],
];

describe('the books against the ground truth', () => {
  test('correct books and a call without a trace report nothing', () => {
    expect(judged(good())).toEqual([]);
    const given = good();
    given.records.splice(2, 1);
    expect(judged(given)).toEqual([]);
  });

  test('a call that was turned away unread reports nothing, unless its record is missing', () => {
    const given = good();
    const away = received('e', { status: 503, end: 'refused', refusal: 'too many' });
    given.sent.push({ label: 'away', role: role('rich'), received: away });
    given.records.push({ ...record('e', '', { status: 503, error: 'over_capacity', ...void_ }), end_user: null });
    expect(judged(given)).toEqual([]);
    given.records.pop();
    expect(judged(given).join()).toMatch(/^lost: away/);
  });

  test.each(PLANTED)('%s: is reported', (_what, plant, message) => {
    const given = good();
    plant(given);
    expect(judged(given).filter((problem) => message.test(problem))).not.toEqual([]);
  });
});
