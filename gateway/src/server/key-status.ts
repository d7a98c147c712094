/** Reads the current status of a key: the rules that apply to it with their usage, the balance, and its own usage. */

import { windowAt } from '../admission/window.ts';
import type { NanoUsd } from '../billing/money.ts';
import { EVERY_CALL } from '../console-api/logs/call-condition.ts';
import type { Principal } from '../identity/principal.ts';
import type { Ledger } from '../store/ports/ledger.ts';
import type { BindingCaps, BudgetState, CallSubjects, CapsUse, LimitStore } from '../store/ports/limits.ts';
import { type UsageQuestion, type UsageReader, UsageRefusal, type UsageSums } from '../store/ports/usage.ts';

/** A rule with its usage; rate resets are in unix ms. `budget`: null if it has none. */
export interface RuleStatus {
  readonly binding: BindingCaps;
  readonly use: CapsUse;
  readonly budget: BudgetState | null;
}

export interface KeyLimitStatus {
  /** The rules that apply to every call of the key, whatever its model and end user. */
  readonly rules: readonly RuleStatus[];
  /** What a prepaid account can still spend; null: postpaid. */
  readonly available: NanoUsd | null;
  /** Of this key alone; null: the sums were not ready in time. */
  readonly usage: KeyUsage | null;
}

/** Rejects if the store cannot be read. */
export type ReadKeyLimitStatus = (principal: Principal) => Promise<KeyLimitStatus>;

/** The parts of the billing dependencies that the status is read from. */
export interface KeyLimitSources {
  bindingCapsOf(subjects: CallSubjects, nowMs: number): readonly BindingCaps[];
  /** Gives the limits the ledger's totals for budgets. */
  seed(budgets: readonly BindingCaps[]): Promise<void>;
  readonly limits: Pick<LimitStore, 'readBudget' | 'readUse'>;
  readonly ledger: Pick<Ledger, 'readBalances'>;
  readonly readUsage: ReadKeyUsage;
}

/** The current time, unix ms: by the clock of windows and clients, and by that of the limits. */
interface Clocks {
  nowMs(): number;
  steadyNowMs(): number;
}

/** Rules of models and end users are left out: they apply to some calls of the key only. */
const NO_MODELS: readonly string[] = [];

/** Creates a reader of key status over the limits, the ledger and the records. */
export function createKeyLimitReader(sources: KeyLimitSources, clocks: Clocks): ReadKeyLimitStatus {
  return async (principal) => {
    const { keyId, workspaceId, accountId, account } = principal;
    const subjects = { keyId, workspaceId, accountId, endUser: null, models: NO_MODELS };
    const bindings = sources
      .bindingCapsOf(subjects, clocks.nowMs())
      .filter(({ subject }) => subject.kind !== 'end_user');
    const [rules, available, usage] = await Promise.all([
      Promise.all(bindings.map((binding) => readRule(sources, binding, clocks))),
      account.mode === 'prepaid' ? readAvailable(sources, accountId) : null,
      sources.readUsage(principal),
    ]);
    return { rules, available, usage };
  };
}

async function readRule(sources: KeyLimitSources, binding: BindingCaps, clocks: Clocks): Promise<RuleStatus> {
  const budget = binding.caps.budget === null ? null : await readSeeded(sources, binding);
  const steadyMs = clocks.steadyNowMs();
  const { requests, tokens, running } = await sources.limits.readUse(binding, steadyMs);
  const aheadMs = clocks.nowMs() - steadyMs;
  return { binding, budget, use: { requests: shift(requests, aheadMs), tokens: shift(tokens, aheadMs), running } };
}

function shift(use: CapsUse['requests'], aheadMs: number): CapsUse['requests'] {
  return use === null ? null : { used: use.used, wholeAtMs: Math.ceil(use.wholeAtMs + aheadMs) };
}

async function readSeeded({ limits, seed }: KeyLimitSources, binding: BindingCaps): Promise<BudgetState> {
  const known = await limits.readBudget(binding);
  if (known !== null) return known;
  await seed([binding]);
  const seeded = await limits.readBudget(binding);
  if (seeded === null) throw new Error(`the budget of ${binding.subject.kind} ${binding.subject.id} is not known`);
  return seeded;
}

async function readAvailable({ ledger }: KeyLimitSources, accountId: string): Promise<NanoUsd> {
  const [balance] = await ledger.readBalances(accountId);
  if (balance === undefined) throw new Error(`the ledger knows no account ${accountId}`);
  return balance.available;
}

/** The counters do not overlap, except `reasoning`, which is part of `output`. */
type KeySums = Pick<
  UsageSums,
  'requests' | 'input' | 'cache_read' | 'cache_write_5m' | 'cache_write_1h' | 'output' | 'reasoning' | 'cost'
>;

/** Calls of a key since a time, unix ms. */
interface UsageSince {
  readonly sinceMs: number;
  readonly sums: KeySums;
}

export interface KeyUsage {
  readonly day: UsageSince;
  readonly month: UsageSince;
}

/** Null: the sums were not ready in time. Rejects if the store cannot be read. */
type ReadKeyUsage = (principal: Principal) => Promise<KeyUsage | null>;

/** A key may ask often, and one thread serves all keys. */
const TIME_MS_MAX = 500;

/** Creates a reader of usage: one query per key runs at a time, and concurrent requests share its result. */
export function createKeyUsageReader(usage: Pick<UsageReader, 'readUsage'>, nowMs: () => number): ReadKeyUsage {
  const running = new Map<string, Promise<KeyUsage | null>>();
  return (principal) => {
    const begun = running.get(principal.keyId);
    if (begun !== undefined) return begun;
    const reading = readUsage(usage, principal, nowMs()).finally(() => running.delete(principal.keyId));
    running.set(principal.keyId, reading);
    return reading;
  };
}

async function readUsage(
  usage: Pick<UsageReader, 'readUsage'>,
  { keyId, account }: Principal,
  nowMs: number,
): Promise<KeyUsage | null> {
  const { timeZone } = account;
  const { startMs: monthMs } = windowAt('month', timeZone, nowMs);
  const { startMs: dayMs } = windowAt('day', timeZone, nowMs);
  const question: UsageQuestion = {
    tenant: { account: account.id, workspaces: null },
    condition: { ...EVERY_CALL, keys: [keyId] },
    fromMs: monthMs,
    toMs: nowMs + 1,
    buckets: dayMs > monthMs ? [monthMs, dayMs] : [monthMs],
    timeZone,
    by: [],
    owners: null,
    latencies: 'none',
    rankedBy: 'cost',
    drawn: 0,
    timeMsMax: TIME_MS_MAX,
  };
  try {
    const { month } = await usage.readUsage({ month: question });
    return {
      day: { sinceMs: dayMs, sums: month.totals.at(-1) ?? NONE },
      month: { sinceMs: monthMs, sums: month.total },
    };
  } catch (fault) {
    if (fault instanceof UsageRefusal) return null;
    throw fault;
  }
}

const NONE: KeySums = {
  requests: 0,
  input: 0,
  cache_read: 0,
  cache_write_5m: 0,
  cache_write_1h: 0,
  output: 0,
  reasoning: 0,
  cost: 0n,
};
