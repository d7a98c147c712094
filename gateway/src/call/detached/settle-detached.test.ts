/** Tests that a detached call is settled once, within its caps, and the same after a restart. */
import { expect, test } from 'bun:test';
import { createMoneySeeds } from '../../admission/admission.ts';
import { parsePriceVersion } from '../../billing/price.ts';
import { costNanoUsd } from '../../billing/price-book.ts';
import type { Payer } from '../../billing/who-pays.ts';
import { createMemoryLimits } from '../../store/memory/limits.ts';
import type { DetachedJob } from '../../store/ports/ledger.ts';
import { createMemoryLedger } from '../../store/testing/memory-ledger.ts';
import { heldCall, jobOf, PRICE_VERSION, usageOf } from '../../store/testing/sample-call.ts';
import { bind, totalOf } from '../../store/testing/sample-claims.ts';
import { endAtHeldAmount, type JobEnd } from './job-kinds.ts';
import { type SettleDeps, settleDetached } from './settle-detached.ts';

/** The end of a response of `output` tokens, at 2 nano-USD each. */
function endOf(output: number, payer: Payer = 'account'): JobEnd {
  const usage = usageOf(output);
  const outcome = { error: null, reason: null, finish_reason: 'completed', served_model: 'm' };
  const charged = { usage, usage_source: 'upstream', usage_flags: null, price_version: PRICE_VERSION } as const;
  return { ...outcome, ...charged, cost: costNanoUsd(usage, parsePriceVersion(PRICE_VERSION)), payer };
}

/** A detached call of 30 nano-USD of a prepaid account with 100, and a budget of 45 that another process began. */
async function open(kind: DetachedJob['kind'] = 'response') {
  const memory = createMemoryLedger();
  memory.setAccount('paid', 'prepaid');
  await memory.ledger.topup({ id: 'm', account: 'paid', amount: 100n, note: null, at_ms: 1 });
  await memory.ledger.hold(heldCall('a', 30n, 'paid'));
  await memory.ledger.detach({ call_id: 'a', job: { ...jobOf('resp_a'), kind } });
  memory.restart();
  const [call] = memory.ledger.readDetached();
  if (call === undefined) throw new Error('the call is not detached');
  const store = createMemoryLimits({ leaseMs: 1_000, onBudgetReached: () => undefined });
  const budget = bind(totalOf(45n), { kind: 'account', id: 'paid' });
  const subjects = { keyId: '', workspaceId: '', accountId: 'paid', endUser: null, models: [] };
  store.resume({ callId: 'a', subjects, arrivedMs: call.draft.at_ms, prepaidAccount: 'paid', amount: 30n });
  store.beginSeed(budget);
  store.seedBudget(budget, 0n);
  const readAvailable = async () => (await memory.ledger.readBalances('paid'))[0]?.available ?? 0n;
  const seeds = createMoneySeeds(store, { readSettled: async () => 0n, readAvailable });
  const ended: (readonly [string, string | null, Payer])[] = [];
  const tokens: number[] = [];
  const release: typeof store.release = (callId, charged, used, nowMs) => {
    tokens.push(used);
    return store.release(callId, charged, used, nowMs);
  };
  const deps = {
    billing: { ledger: memory.ledger, limits: { store: { ...store, release }, seeds } },
    directory: { accounts: new Map([['paid', { mode: 'prepaid' }]]) },
    observer: {
      ended: (record: { request_id: string }, model: string | null, payer: Payer) =>
        ended.push([record.request_id, model, payer]),
    },
    settings: { routes: new Map([[call.draft.model, { model: 'of the operator' }]]) },
  } as unknown as SettleDeps;
  const settle = (end: JobEnd) => settleDetached(deps, call, end, call.draft.at_ms + 90_000);
  return { memory, call, store, budget, ended, tokens, settle };
}

test.each([
  ['less than its hold', endOf(10), { charged: 20n, writtenOff: 0n, available: 80n }],
  ['more than its hold, as far as the budget covers it', endOf(30), { charged: 45n, writtenOff: 15n, available: 55n }],
  ['nothing, where the operator pays', endOf(10, 'operator'), { charged: 0n, writtenOff: 20n, available: 100n }],
] as const)('a call is charged %s', async (_, end, balance) => {
  const { memory, store, budget, ended, tokens, settle } = await open();
  await settle(end);
  expect(tokens).toEqual([end.usage.input + end.usage.output]);
  expect((await memory.ledger.readBalances('paid'))[0]).toMatchObject({ ...balance, held: 0n });
  expect(store.readBudget(budget)).toEqual({ settled: balance.charged, held: 0n });
  expect(memory.readCalls()).toMatchObject([{ request_id: 'a', status: 200, duration_ms: 90_000, usage: end.usage }]);
  expect(ended).toEqual([['a', 'of the operator', end.payer]]);
  expect(memory.prove().problem).toBeNull();
});

test('a call whose usage stays unknown is charged at what it held', async () => {
  const { memory, call, tokens, settle } = await open();
  await settle(endAtHeldAmount(call, 'overdue'));
  expect(tokens).toEqual([call.job.held_tokens.input]);
  expect((await memory.ledger.readBalances('paid'))[0]).toMatchObject({ charged: 30n, available: 70n, held: 0n });
});

test('a settlement that the journal refuses leaves the call open, and is repeated', async () => {
  const { memory, ended, settle } = await open();
  memory.journal.isHeld = true;
  const refused = settle(endOf(10));
  await Bun.sleep(0);
  memory.journal.refuse();
  await expect(refused).rejects.toThrow();
  expect([ended, memory.ledger.readDetached()]).toMatchObject([[], [{ amount: 30n }]]);
  memory.journal.isHeld = false;
  await settle(endOf(10));
  expect((await memory.ledger.readBalances('paid'))[0]).toMatchObject({ charged: 20n, held: 0n });
  expect(memory.prove().problem).toBeNull();
});

test('a batch counts no tokens against limits per minute', async () => {
  const { tokens, settle } = await open('batch');
  await settle(endOf(10));
  expect(tokens).toEqual([0]);
});
