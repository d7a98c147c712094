/**
 * Creates one call's held money for tests, with in-memory limits and a ledger that logs its operations, at one
 * nano-dollar per token.
 */
import { type Admission, admitCall, createMoneySeeds } from '../../admission/admission.ts';
import { parseConfigPrice } from '../../billing/config-price.ts';
import { chooseHold, type HoldRequest } from '../../billing/reserve.ts';
import { createMemoryLimits, type MemoryLimits } from '../../store/memory/limits.ts';
import type { Ledger } from '../../store/ports/ledger.ts';
import type { BindingCaps, BudgetState, LimitStore } from '../../store/ports/limits.ts';
import type { CallRecord } from '../../store/ports/records.ts';
import { bind, claim, START_MS, totalOf } from '../../store/testing/sample-claims.ts';
import { CallMoney } from '../money/call-money.ts';
import { draftRecord } from '../money/settle.ts';
import { routedCall } from './routed-call.ts';

/** One nano-dollar per token, input and output. */
export const NANO_PER_TOKEN = parseConfigPrice({ input: '0.001', output: '0.001' });

export interface HeldMoney {
  readonly money: CallMoney;
  readonly admission: Admission;
  readonly ledger: NotedLedger;
  /** The current state of the call's budget. */
  budget(): BudgetState | null;
}

export interface HeldPlan {
  /** The budget in nano-USD. */
  readonly cap: bigint;
  readonly stream?: boolean;
  readonly inputTokens?: number;
  readonly outputTokensMax?: number | null;
  /** Null: the model has no price. */
  readonly price?: typeof NANO_PER_TOKEN | null;
  /** Whether the limits return promises, as those on a server would. */
  readonly far?: boolean;
  /** Default: the hold is on disk. */
  readonly durable?: Promise<void>;
}

/** Holds money for the call `req_1`. */
export async function holdMoney(plan: HeldPlan): Promise<HeldMoney> {
  const { cap, stream = true, inputTokens = 0, outputTokensMax = null, price = NANO_PER_TOKEN, far = false } = plan;
  const store: MemoryLimits = createMemoryLimits({
    leaseMs: Number.MAX_SAFE_INTEGER,
    onBudgetReached: () => undefined,
  });
  const binding: BindingCaps = bind(totalOf(cap));
  store.seedBudget(binding, 0n);
  const holdRequest: HoldRequest | null =
    price === null ? null : { mode: 'adaptive', stream, inputTokens, outputTokensMax, price };
  const slice = holdRequest === null ? { amount: 0n, outputTokens: 0, extendAtTokens: null } : chooseHold(holdRequest);
  const limits: LimitStore = far ? answeringLater(store) : store;
  const seeds = createMoneySeeds(limits, { readSettled: async () => 0n, readAvailable: async () => 0n });
  const claimed = claim('req_1', [binding], { amount: slice.amount });
  const admitted = await admitCall({ store: limits, seeds }, claimed, START_MS);
  if (admitted.kind === 'refused') throw new Error(`the cap ${cap} does not cover the hold ${slice.amount}`);
  const { admission } = admitted;
  const ledger = createNotedLedger();
  const draft = draftRecord(routedCall({ price }), price?.version ?? null);
  const saved = plan.durable ?? Promise.resolve();
  const unsaved = { explain: (cause: unknown) => cause, record: async () => undefined };
  const parts = { admission, ledger, price, holdRequest, slice, draft, saved, unsaved, brokenAnswers: 'bill' } as const;
  const money = new CallMoney(parts);
  return { money, admission, ledger, budget: () => readNow(store, binding) };
}

function readNow(store: MemoryLimits, binding: BindingCaps): BudgetState | null {
  const state = store.readBudget(binding);
  if (state instanceof Promise) throw new Error('limits in memory answer at once');
  return state;
}

function answeringLater(store: LimitStore): LimitStore {
  return {
    ...store,
    beginSeed: async (binding) => store.beginSeed(binding),
    acquire: async (claimed, nowMs) => store.acquire(claimed, nowMs),
    extend: async (callId, amount, nowMs) => store.extend(callId, amount, nowMs),
    extendUpTo: async (callId, amount, nowMs) => store.extendUpTo(callId, amount, nowMs),
    release: async (callId, charged, tokens, nowMs) => store.release(callId, charged, tokens, nowMs),
  };
}

interface NotedLedger extends Ledger {
  /** The operations: `hold req_1 40`, `extend req_1 #1 5`, `settle req_1 posted 9 released 36 absorbed 0` … */
  readonly kept: string[];
  readonly records: CallRecord[];
  /** Operations to reject from now on. */
  readonly failing: Set<'hold' | 'extend' | 'checkpoint' | 'settle'>;
}

/** Creates an empty ledger that accepts everything. */
export function createNotedLedger(): NotedLedger {
  const kept: string[] = [];
  const records: CallRecord[] = [];
  const failing: NotedLedger['failing'] = new Set();
  const keep = async (operation: 'hold' | 'extend' | 'checkpoint' | 'settle', what: string): Promise<void> => {
    if (failing.has(operation)) throw new Error(`no ${operation} is kept`);
    kept.push(`${operation} ${what}`);
  };
  const unasked = (): never => {
    throw new Error('no call asks for this');
  };
  return {
    kept,
    records,
    failing,
    hold: ({ draft, amount }) => keep('hold', `${draft.request_id} ${amount}`),
    writeHold: () => undefined,
    extend: (call_id, nth, amount) => keep('extend', `${call_id} #${nth} ${amount}`),
    checkpoint: ({ call_id, usage, cost }) => keep('checkpoint', `${call_id} output ${usage.output} cost ${cost}`),
    async settle({ record, posted, released, writtenOff }) {
      await keep('settle', `${record.request_id} posted ${posted} released ${released} absorbed ${writtenOff}`);
      records.push(record);
    },
    async settleUnheld({ record, posted, released, writtenOff }) {
      kept.push(`settle ${record.request_id} unheld posted ${posted} released ${released} absorbed ${writtenOff}`);
      records.push(record);
    },
    append: unasked,
    detach: unasked,
    readDetached: () => [],
    async abandon(call_id) {
      kept.push(`abandon ${call_id}`);
    },
    topup: unasked,
    correct: unasked,
    readMovement: unasked,
    readBalances: async () => [],
    writable: () => true,
  };
}
