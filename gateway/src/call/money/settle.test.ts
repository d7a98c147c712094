/**
 * Tests settle.ts: anomalous usage is billed as reported, noted in the record and reported to the operator. The ends
 * are covered by who-pays.test.ts.
 */
import { expect, test } from 'bun:test';
import { ZERO_USAGE } from '../../generation/usage.ts';
import type { AnswerFacts } from '../../protocols/upstream-protocol.ts';
import { ChoiceState } from '../../routing/choose/choose.ts';
import { makeRequest } from '../../routing/choose/testing/routes.ts';
import { RoutingState } from '../../routing/health/routing-state.ts';
import type { CallRecord } from '../../store/ports/records.ts';
import { InsufficientFunds } from '../../store/ports/store-errors.ts';
import { setMoney } from '../call.ts';
import { holdMoney, NANO_PER_TOKEN } from '../testing/held-money.ts';
import { openDesk } from '../testing/open-desk.ts';
import { routedCall } from '../testing/routed-call.ts';
import type { BillingDeps } from './billing-deps.ts';
import { CallMoney } from './call-money.ts';
import { RefusedHold } from './hold-call.ts';
import { draftRecord, type Outcome, settle } from './settle.ts';
import { TokenRatio, type UsageAnomaly, UsageAnomalyLog } from './usage-checks.ts';

const NOWHERE = { append: async () => undefined, writable: () => true };
const usage = { ...ZERO_USAGE, input: 100, output: 9 };
const FACTS: AnswerFacts = {
  usage,
  usageFlags: ['sum'],
  usageSoFar: usage,
  finish_reason: 'stop',
  model: 'm',
  outputBytes: 30,
  reasoningBytes: 0,
  outputBytesMax: 30,
};

async function settled(outcome: Outcome) {
  const records: CallRecord[] = [];
  const told: UsageAnomaly[] = [];
  const usageAnomalies = new UsageAnomalyLog((odd) => told.push(odd));
  const billing = { ratio: new TokenRatio(), usageAnomalies } as Partial<BillingDeps> as BillingDeps;
  const recorder = { append: async (record: CallRecord) => void records.push(record), writable: () => true };
  const call = routedCall({}, { recorder, billing, routing: new RoutingState() });
  call.dispatched = true;
  await settle(call, outcome);
  return { record: records[0], told, call };
}

test('anomalous usage is billed as reported, and flagged', async () => {
  const { record, told, call } = await settled({ status: 200, failure: null, facts: FACTS });
  expect(record).toMatchObject({ usage, usage_source: 'upstream', usage_flags: ['sum'] });
  const { provider, model } = call.target.upstream;
  expect(told).toEqual([{ provider, model, flags: ['sum'], requestId: call.requestId, calls: 1 } as UsageAnomaly]);
});

test('usage far from our estimate is flagged', async () => {
  const far = { ...usage, input: 200_000 };
  const { record } = await settled({ status: 200, failure: null, facts: { ...FACTS, usage: far, usageFlags: [] } });
  expect(record).toMatchObject({ usage: far, usage_source: 'upstream', usage_flags: ['far_input'] });
});

test.each([
  ['in which nothing is odd', { status: 200, failure: null, facts: { ...FACTS, usageFlags: [] } }],
  ['that is not whole', { status: 200, failure: 'upstream_truncated', facts: FACTS }],
  ['without usage', { status: 200, failure: null, facts: { ...FACTS, usage: null } }],
] as const)('an answer %s has no flags', async (_, outcome) => {
  const { record, told } = await settled(outcome);
  expect([record?.usage_flags, told.length]).toEqual([null, 0]);
});

/** An answer of a thousand tokens, and the bytes and tokens that it teaches the ratio; null: none. */
test.each([
  ['all that came was shown', 'never', { outputBytes: 4_000 }, 0, [4_000, 1_000]],
  ['reasoning that is told apart did not show', 'never', { outputBytes: 500 }, 750, [500, 250]],
  ['reasoning that is told apart was shown', 'never', { outputBytes: 2_000, reasoningBytes: 1_500 }, 750, [500, 250]],
  ['reasoning was shown and not told apart', 'never', { outputBytes: 4_000, reasoningBytes: 3_000 }, 0, [4_000, 1_000]],
  [
    'a summary was shown, and its reasoning told apart',
    'on_request',
    { outputBytes: 800, reasoningBytes: 300 },
    750,
    [500, 250],
  ],
  [
    'a summary was shown, and its reasoning not told apart',
    'on_request',
    { outputBytes: 4_000, reasoningBytes: 1_000 },
    0,
    null,
  ],
  ['the answer came in one piece', 'never', { outputBytes: 0, outputBytesMax: 4_000 }, 0, null],
  ['and its text was counted for being odd', 'never', { outputBytes: 5_000, outputBytesMax: 6_000 }, 0, null],
] as const)('bytes a token, learnt where %s', async (_, hiddenReasoning, bytes, reasoning, sample) => {
  const ratio = new TokenRatio();
  const told = { usageFlags: [], usage: { ...usage, output: 1_000, reasoning } };
  const facts = { ...FACTS, ...told, outputBytesMax: bytes.outputBytes, ...bytes };
  const billing = {
    ratio,
    usageAnomalies: new UsageAnomalyLog(() => undefined),
  } as Partial<BillingDeps> as BillingDeps;
  const call = routedCall({ hiddenReasoning }, { recorder: NOWHERE, billing, routing: new RoutingState() });
  const { upstream } = call.target;
  call.dispatched = true;
  setMoney(call, (await holdMoney({ cap: 1_000_000n })).money);
  await settle(call, { status: 200, failure: null, facts });
  const learnt = new TokenRatio();
  if (sample !== null) learnt.learn(upstream, sample[0], sample[1]);
  expect(ratio.tokensIn(upstream, 100_000)).toBe(learnt.tokensIn(upstream, 100_000));
});

test.each([
  ['a complete answer of a call that was chosen for', makeRequest(), null, 9],
  ['no broken answer', makeRequest(), 'upstream_truncated', 500],
  ['no answer where nothing was to choose', null, null, 500],
] as const)('the expected length of answers is learned from %s', async (_, routed, failure, expected) => {
  const billing = {
    ratio: new TokenRatio(),
    usageAnomalies: new UsageAnomalyLog(() => undefined),
  } as Partial<BillingDeps> as BillingDeps;
  const choice = new ChoiceState(new RoutingState());
  const call = routedCall({}, { recorder: NOWHERE, billing, routing: new RoutingState(), choice });
  call.dispatched = true;
  call.routed = routed;
  setMoney(call, (await holdMoney({ cap: 1_000_000n })).money);
  await settle(call, { status: 200, failure, facts: FACTS });
  expect(choice.answerLengths.expected(call.route.model, call.principal.keyId, null)).toBe(expected);
});

test('a call whose hold the ledger refuses is reported once, as refused and free', async () => {
  const [told, kept]: [CallRecord[], CallRecord[]] = [[], []];
  const observer = { ended: (record: CallRecord) => void told.push(record), counted() {}, turnedAway() {} };
  const recorder = { append: async (record: CallRecord) => void kept.push(record), writable: () => true };
  const { billing } = openDesk();
  const call = routedCall({ billing }, { recorder, observer, routing: new RoutingState() });
  call.dispatched = true;
  const { admission, ledger } = await holdMoney({ cap: 1_000_000n });
  const slice = { amount: admission.amount, outputTokens: 2_048, extendAtTokens: null };
  const saved = Promise.reject(new InsufficientFunds('the account is prepaid'));
  const unsaved = new RefusedHold(call, slice.amount);
  const held = { admission, ledger, price: NANO_PER_TOKEN, holdRequest: null, slice, saved, unsaved } as const;
  setMoney(call, new CallMoney({ ...held, draft: draftRecord(call, NANO_PER_TOKEN.version), brokenAnswers: 'bill' }));
  await expect(call.money?.whenSaved()).rejects.toMatchObject({ kind: 'quota_exceeded' });
  const settled = settle(call, { status: 200, failure: null, facts: FACTS });
  await expect(settled).rejects.toMatchObject({ kind: 'quota_exceeded' });
  expect(told).toMatchObject([{ error: 'quota_exceeded', cost_nano_usd: '0' }]);
  expect(kept).toEqual(told);
});
