/** Tests the money of a call whose next attempt goes to another target: one hold, and one price at its end. */
import { describe, expect, test } from 'bun:test';
import { parseConfigPrice } from '../../billing/config-price.ts';
import type { Price } from '../../billing/price.ts';
import { bookOf } from '../../billing/price-book.ts';
import { CallFailure } from '../../errors/call-failure.ts';
import { ZERO_USAGE } from '../../generation/usage.ts';
import { RoutingState } from '../../routing/health/routing-state.ts';
import type { Target } from '../../routing/route.ts';
import type { Subject } from '../../store/ports/limits.ts';
import { InsufficientFunds } from '../../store/ports/store-errors.ts';
import { type Held, setMoney } from '../call.ts';
import { budgetOf, openDesk } from '../testing/open-desk.ts';
import { type CallPlan, routedCall } from '../testing/routed-call.ts';
import { holdCall } from './hold-call.ts';
import { settle } from './settle.ts';
import { switchTarget } from './switch-target.ts';

const KEY: Subject = { kind: 'key', id: 'key_1' };
const priceOf = (perToken: string) => parseConfigPrice({ input: perToken, output: perToken });
/** Of 400 bytes of input and 1,000 tokens of output, at a nano-dollar per token. */
const WORST = 1_115n;

async function held(plan: CallPlan, budget = 1_000_000n) {
  const desk = openDesk([[KEY, budgetOf(budget)]]);
  const call = routedCall({ ...plan, billing: desk.billing }, { routing: new RoutingState() });
  setMoney(call, await holdCall(call));
  return { ...desk, call: call as Held };
}

function other({ target }: Held, price: Price | null, changes: Partial<Target> = {}): Target {
  const upstream = { ...target.upstream, provider: 'spare', model: 'other', key: 'spare other' };
  return { ...target, name: 'spare', upstream, prices: bookOf(price), ...changes };
}

describe('a switch to', () => {
  test('a cheaper target keeps the hold; its price and its name are those of the end', async () => {
    const { call, ledger } = await held({});
    const cheap = priceOf('0.0005');
    expect(await switchTarget(call, other(call, cheap))).toBe(true);
    call.dispatched = call.attempted = true;
    const usage = { ...ZERO_USAGE, input: 100, output: 20 };
    const facts = { usage, usageFlags: [], usageSoFar: null, finish_reason: 'stop', model: null };
    const bytes = { outputBytes: 0, reasoningBytes: 0, outputBytesMax: 0 };
    await settle(call, { status: 200, failure: null, facts: { ...facts, ...bytes } });
    const id = call.requestId;
    expect(ledger.kept).toEqual([`hold ${id} ${WORST}`, `settle ${id} posted 60 released ${WORST - 60n} absorbed 0`]);
    const told = { provider: 'spare', served_model: 'other', price_version: cheap.version, cost_nano_usd: '60' };
    expect(ledger.records).toMatchObject([told]);
  });

  test('a dearer target extends the hold first', async () => {
    const { call, ledger } = await held({});
    expect(await switchTarget(call, other(call, priceOf('0.003')))).toBe(true);
    expect(call.money.price?.version).toBe(priceOf('0.003').version);
    expect(ledger.kept).toEqual([`hold ${call.requestId} ${WORST}`, `extend ${call.requestId} #1 ${WORST * 2n}`]);
    expect(await switchTarget(call, other(call, priceOf('0.004')))).toBe(true);
    expect(ledger.kept[2]).toBe(`extend ${call.requestId} #2 ${WORST}`);
  });

  test('a target that the caps do not cover is refused, and changes nothing', async () => {
    const { call, ledger } = await held({}, WORST);
    const before = call.target;
    expect(await switchTarget(call, other(call, priceOf('0.003')))).toBe(false);
    expect([call.target, call.folded]).toEqual([before, false]);
    expect(call.money.draft).toMatchObject({ provider: 'lab', served_model: 'm-upstream' });
    expect(await switchTarget(call, other(call, priceOf('0.001')))).toBe(true);
    expect(ledger.kept).toEqual([`hold ${call.requestId} ${WORST}`]);
  });

  test('a target whose maximum the caps do not cover is metered, and folded', async () => {
    const { call, ledger } = await held({ facts: { outputTokensMax: 9_000 } }, 13_000n);
    // The maximum would be 18,230, the first slice is 4,326: the hold covers it.
    expect(await switchTarget(call, other(call, priceOf('0.002')))).toBe(true);
    expect([call.folded, call.money.isMetered, call.money.allowedTokens]).toEqual([true, true, 2_048]);
    expect(ledger.kept).toEqual([`hold ${call.requestId} 9115`]);
  });

  test('a target that the ledger refuses is skipped, and one whose extension cannot be stored fails the call', async () => {
    const { call, ledger } = await held({});
    const before = call.target;
    ledger.extend = async () => Promise.reject(new InsufficientFunds('less than that'));
    expect(await switchTarget(call, other(call, priceOf('0.003')))).toBe(false);
    ledger.extend = async () => Promise.reject(new Error('the disk is gone'));
    const failed = switchTarget(call, other(call, priceOf('0.003')));
    await expect(failed).rejects.toMatchObject({ kind: 'store_unavailable' });
    expect(call.target).toBe(before);
  });

  test('a target without a price is refused where money is bound', async () => {
    const { call } = await held({});
    const before = call.target;
    const failed = switchTarget(call, other(call, null));
    await expect(failed).rejects.toBeInstanceOf(CallFailure);
    await expect(failed).rejects.toMatchObject({ kind: 'unpriced' });
    expect(call.target).toBe(before);
  });
});

test('a stream goes on with the slices of its new target, and its checkpoints name it', async () => {
  const { call, ledger } = await held({ facts: { stream: true, outputTokensMax: 64_000 } });
  const dear = priceOf('0.002');
  expect(await switchTarget(call, other(call, dear))).toBe(true);
  expect(ledger.kept).toEqual([`hold ${call.requestId} 2163`, `extend ${call.requestId} #1 2163`]);
  expect(call.money.allowedTokens).toBe(2_048);
  const next = call.money.dueSlice(1_600);
  expect(next?.amount).toBe(4_096n);
  let target: unknown = null;
  ledger.checkpoint = async (checkpoint) => {
    target = checkpoint.target;
  };
  call.money.checkpoint({ ...ZERO_USAGE, output: 9 });
  expect(target).toEqual({ provider: 'spare', served_model: 'other', price_version: dear.version });
});
