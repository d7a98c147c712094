/**
 * Answers `GET /v1/key`: reads the calling key's permissions, usage and limits, and what remains of them. Contract, 3.
 */
import { windowAt } from '../admission/window.ts';
import type { NanoUsd } from '../billing/money.ts';
import type { CallOrigin } from '../call/call.ts';
import type { CallDeps } from '../call/deps.ts';
import { allowAddress, identify, readCredential } from '../call/request/identify.ts';
import type { Defaults } from '../config/config.ts';
import { EVERY_CALL } from '../console-api/logs/call-condition.ts';
import { CallFailure } from '../errors/call-failure.ts';
import type { Principal } from '../identity/principal.ts';
import type { Ledger } from '../store/ports/ledger.ts';
import type { BindingCaps, BudgetState, CallSubjects, CapsUse, LimitStore } from '../store/ports/limits.ts';
import type { StoredKey } from '../store/ports/records.ts';
import { type UsageQuestion, type UsageReader, UsageRefusal, type UsageSums } from '../store/ports/usage.ts';
import { replyFailure, replyJson } from './reply-json.ts';

const PATH = '/v1/key';

/** The dependencies of this endpoint. */
interface Asked extends Pick<CallDeps, 'directory' | 'log'> {
  readonly settings: { readonly config: { readonly defaults: Pick<Defaults, 'holds'> } };
}

/**
 * Answers any valid key about itself, whatever its scopes. Throws CallFailure at once for a client that may not ask.
 */
export function showKey(
  request: Request,
  origin: Pick<CallOrigin, 'address'>,
  deps: Asked,
  readRateLimitStatus: ReadKeyLimitStatus,
): Promise<Response> {
  const principal = identify(deps.directory, readCredential(request.headers, true));
  allowAddress(principal, principal.ranges === null ? null : origin.address());
  const { defaults } = deps.settings.config;
  const key = deps.directory.keys.get(principal.keyId);
  if (key === undefined) throw new Error(`the directory holds no key ${principal.keyId}`);
  return readRateLimitStatus(principal).then(
    (rateLimitStatus) => replyJson(renderKey(key, principal, defaults, rateLimitStatus)),
    (cause: unknown) => {
      deps.log.fault('', 'the limits of an API key could not be read', cause);
      const failure = new CallFailure(
        'store_unavailable',
        'the limits of this API key cannot be read at the moment; try again soon',
      );
      return replyFailure(failure, PATH, request.headers);
    },
  );
}

function renderKey(
  key: StoredKey,
  { account, holds }: Principal,
  defaults: Pick<Defaults, 'holds'>,
  { rules, available, usage }: KeyLimitStatus,
): object {
  return {
    object: 'key',
    id: key.id,
    name: key.name,
    workspace: key.workspaceId,
    account: account.id,
    mode: account.mode,
    balance_nano_usd: available === null ? null : available.toString(),
    scopes: key.scopes,
    models: key.models,
    strict: key.strict,
    holds: holds ?? defaults.holds,
    expires_at: renderTime(key.expiresAtMs),
    usage: usage === null ? null : { day: renderUsage(usage.day), month: renderUsage(usage.month) },
    limits: rules.map(renderLimit),
  };
}

function renderUsage({ sinceMs, sums }: KeyUsage['day']): object {
  const { requests, input, cache_read, cache_write_5m, cache_write_1h, output, reasoning, cost } = sums;
  return {
    starts_at: renderTime(sinceMs),
    requests,
    input,
    cache_read,
    cache_write_5m,
    cache_write_1h,
    output,
    reasoning,
    cost_nano_usd: cost.toString(),
  };
}

function renderLimit({ binding, use, budget }: RuleStatus): object {
  const { subject, caps } = binding;
  const { running } = use;
  return {
    of: subject.kind,
    id: subject.id,
    rpm: caps.requestsPerMinute,
    tpm: caps.tokensPerMinute,
    concurrency: caps.concurrency,
    requests: renderRate(caps.requestsPerMinute, use.requests),
    tokens: renderRate(caps.tokensPerMinute, use.tokens),
    calls:
      caps.concurrency === null || running === null ? null : { running, remaining: left(caps.concurrency, running) },
    budget: caps.budget === null || budget === null ? null : renderBudget(binding, caps.budget, budget),
  };
}

function renderRate(limit: number | null, use: CapsUse['requests']): object | null {
  if (limit === null || use === null) return null;
  return { used: use.used, remaining: left(limit, use.used), resets_at: renderTime(use.wholeAtMs) };
}

/** Usage can exceed the limit: the limit was lowered, or a call used more than its estimate. */
function left(limit: number, used: number): number {
  return Math.max(0, limit - used);
}

function renderBudget(
  { windowStartMs, windowEndMs }: BindingCaps,
  { window, amount }: NonNullable<BindingCaps['caps']['budget']>,
  { settled, held }: BudgetState,
): object {
  const left = amount - settled - held;
  return {
    window,
    amount_nano_usd: amount.toString(),
    spent_nano_usd: settled.toString(),
    held_nano_usd: held.toString(),
    remaining_nano_usd: (left > 0n ? left : 0n).toString(),
    // A budget for all time has no start.
    starts_at: window === 'total' ? null : renderTime(windowStartMs),
    resets_at: renderTime(windowEndMs),
  };
}

function renderTime(timeMs: number | null): string | null {
  return timeMs === null ? null : new Date(timeMs).toISOString();
}

/** A rule with its usage; rate resets are in unix ms. `budget`: null if it has none. */
interface RuleStatus {
  readonly binding: BindingCaps;
  readonly use: CapsUse;
  readonly budget: BudgetState | null;
}

interface KeyLimitStatus {
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

interface KeyUsage {
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
