/**
 * Defines the limits on calls: requests and tokens per minute, concurrent calls, budgets and balances. One decision
 * takes all of a call's limits or none. Also defines how the spend of budgets is read. Every implementation passes the suite in `store/contracts/limits-contract.ts`.
 */

/** Integer nano-USD. */
type NanoUsd = bigint;

export const SUBJECT_KINDS = ['key', 'end_user', 'workspace', 'account', 'model'] as const;
export type SubjectKind = (typeof SUBJECT_KINDS)[number];
export const BUDGET_WINDOWS = ['day', 'week', 'month', 'total'] as const;
export type BudgetWindow = (typeof BUDGET_WINDOWS)[number];

/**
 * The layer that set a rule. Rules of the operator and of an account's own members both apply, so the lower cap
 * decides. Rules for models, and for the account that runs the installation, always belong to the operator.
 */
export type LimitLayer = 'operator' | 'account';

/** The subject that a limit applies to. `id` is unique within its kind (an end user's begins with the account id). */
export interface Subject {
  readonly kind: SubjectKind;
  readonly id: string;
  /**
   * `account`: the rule was set by the account's own members; omitted: by the operator. Use is counted separately per
   * layer.
   */
  readonly layer?: 'account';
}

/** Returns the subject in the given layer. */
export function inLayer({ kind, id }: Pick<Subject, 'kind' | 'id'>, layer: LimitLayer): Subject {
  return layer === 'account' ? { kind, id, layer } : { kind, id };
}

export function layerOf({ layer }: Subject): LimitLayer {
  return layer ?? 'operator';
}

/** Stands for every end user of an account without a rule of their own. */
export const EVERY_END_USER = '*';

/**
 * The subject of an end user or, with `EVERY_END_USER`, of all end users of an account without a rule of their own.
 * Null: all requests that name no end user, which share one subject. Unambiguous, since an account id contains no `/`
 * and an end user's name is never empty.
 */
export function endUserSubject(accountId: string, endUser: string | null): Subject {
  return { kind: 'end_user', id: `${accountId}/${endUser ?? ''}` };
}

/** The caps of one subject; null: no cap. Rates and concurrency are whole numbers. */
export interface Caps {
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
  readonly concurrency: number | null;
  readonly budget: { readonly window: BudgetWindow; readonly amount: NanoUsd } | null;
}

/** Caps as they apply now, with the budget's current window in unix ms; a null end: never. */
export interface BindingCaps {
  readonly subject: Subject;
  readonly caps: Caps;
  readonly windowStartMs: number;
  readonly windowEndMs: number | null;
}

/** The subjects of a call. */
export interface CallSubjects {
  readonly keyId: string;
  readonly workspaceId: string;
  readonly accountId: string;
  /** As the client named them; null: no end user named. */
  readonly endUser: string | null;
  /** Every public name of the model; a rule under any of them applies. */
  readonly models: readonly string[];
}

/** The limits and amounts that one call requests. */
export interface LimitClaim {
  readonly callId: string;
  /** All subjects of the call: a budget set while it runs may apply to any of them. */
  readonly subjects: CallSubjects;
  /** Time of arrival on the clock that budget windows use, unix ms. */
  readonly arrivedMs: number;
  readonly binding: readonly BindingCaps[];
  /** The prepaid account that pays; null: postpaid. */
  readonly prepaidAccount: string | null;
  /** Estimated tokens, for the token rate limits. */
  readonly tokens: number;
  /** The hold on budgets and the balance. */
  readonly amount: NanoUsd;
  /** What each budget and the balance must have left before the hold. Default and minimum: `amount`. */
  readonly room?: NanoUsd;
}

/** What a detached call still holds. */
export type ResumedClaim = Pick<LimitClaim, 'callId' | 'subjects' | 'arrivedMs' | 'prepaidAccount' | 'amount'>;

export type RefusalKind = 'requests' | 'tokens' | 'concurrency' | 'budget' | 'balance';

/**
 * State of the refusing cap: whole numbers, or nano-USD. Budget: `used` is settled plus held. Balance: `cap` is the
 * amount left, `used` is 0.
 */
export interface LimitUse {
  readonly used: number | bigint;
  readonly cap: number | bigint;
  readonly needed: number | bigint;
}

/**
 * The cap that blocks the call the longest. `retryAfterMs`: time until it would admit the call (for concurrency, which
 * cannot be predicted, when to retry); null: waiting does not help or, for a budget, only its next window does.
 */
export interface LimitRefusal {
  readonly kind: RefusalKind;
  readonly subject: Subject;
  /** The cap on requests, tokens or concurrent calls; null for budgets and balances. */
  readonly limit: number | null;
  readonly use: LimitUse;
  readonly retryAfterMs: number | null;
  /** Set for budgets only: the window and its end. */
  readonly window: BudgetWindow | null;
  readonly windowEndMs: number | null;
}

export type LimitDecision =
  | { readonly kind: 'admitted'; readonly rateLimitStatus: RateLimitStatus }
  | { readonly kind: 'refused'; readonly refusal: LimitRefusal; readonly rateLimitStatus: RateLimitStatus }
  /** Nothing is decided or taken: seed these budgets, and this account's balance, first. */
  | { readonly kind: 'unseeded'; readonly budgets: readonly BindingCaps[]; readonly account: string | null };

/** Alert thresholds of a budget, in percent. */
export const BUDGET_MARKS = [50, 80, 100] as const;
export type BudgetMark = (typeof BUDGET_MARKS)[number];

/**
 * Settled spend of a budget reached a mark. Reported once per window; marks already reached at seeding are not
 * reported. A new amount for the same window re-arms the marks that settled spend no longer reaches, and reports those
 * that it newly reaches. Mark 100 is also reported when a call is refused because of settled spend alone and mark 80 is
 * reached: few budgets end exactly on their last nano-USD.
 */
export interface BudgetReached {
  readonly subject: Subject;
  readonly window: BudgetWindow;
  readonly windowStartMs: number;
  readonly mark: BudgetMark;
  readonly settled: NanoUsd;
  readonly amount: NanoUsd;
}

/**
 * What the tightest rate limit of each kind leaves; null: no such limit. `resetMs`: when the limit is fully
 * replenished, on the clock of `LimitStore`.
 */
export interface RateLimitStatus {
  readonly requests: { readonly limit: number; readonly remaining: number; readonly resetMs: number } | null;
  readonly tokens: { readonly limit: number; readonly remaining: number; readonly resetMs: number } | null;
}

/** Settled and held spend of a budget in its window. */
export interface BudgetState {
  readonly settled: NanoUsd;
  readonly held: NanoUsd;
}

/**
 * Current use of a subject's caps, in whole numbers; null: no such cap. An exceeded cap may show more than its limit.
 */
export interface CapsUse {
  readonly requests: { readonly used: number; readonly wholeAtMs: number } | null;
  readonly tokens: { readonly used: number; readonly wholeAtMs: number } | null;
  /** Running calls; null: concurrency has no cap. */
  readonly running: number | null;
}

/**
 * `nowMs`: unix ms on one steady clock that does not jump when the system clock does; budget windows come with the
 * claim.
 */
export interface LimitStore {
  /**
   * Takes all limits of the claim or none. Throws ConstraintViolation where the call id already holds limits, or an amount is
   * out of range. A call with amount 0 passes
   * every budget and balance. A budget moves from one window to the next without seeding.
   */
  acquire(claim: LimitClaim, nowMs: number): LimitDecision | Promise<LimitDecision>;
  /** Returns what `acquire` would return now. Takes nothing and reports no budget mark. */
  peek(claim: LimitClaim, nowMs: number): LimitDecision | Promise<LimitDecision>;
  /** Holds more money for a running call, from each of its budgets and its balance, or nothing. */
  extend(callId: string, amount: NanoUsd, nowMs: number): boolean | Promise<boolean>;
  /**
   * The refusal of the budget or balance with the least room for this extension; null: all have enough, or the call
   * holds nothing.
   */
  explainExtension(callId: string, amount: NanoUsd): LimitRefusal | null | Promise<LimitRefusal | null>;
  /** Holds as much of the amount as all budgets and the balance allow, in one step; returns that part. */
  extendUpTo(callId: string, amount: NanoUsd, nowMs: number): NanoUsd | Promise<NanoUsd>;
  /**
   * Ends the call: settles its charge in the window that held it, and returns the rest of the money, its concurrency
   * slots and unused tokens. Takes effect once; returns false and does nothing for a call that holds nothing. Throws
   * ConstraintViolation for a charge above what the call holds of a budget or balance: extend first.
   */
  release(callId: string, charged: NanoUsd, tokens: number, nowMs: number): boolean | Promise<boolean>;
  /**
   * Gives back the concurrency slots of a call that goes on at its provider without its client. Its money stays held
   * until it is released, without a lease; its tokens are corrected then. Does nothing for a call that holds nothing.
   */
  detach(callId: string, nowMs: number): void | Promise<void>;
  /**
   * Counts a detached call of an earlier process again, as `detach` left it: in the budgets that are seeded from now on.
   * The ledger's balance, by which its account is seeded, is without its hold.
   */
  resume(claim: ResumedClaim): void | Promise<void>;
  /**
   * Adds money that did not come from calls to a prepaid account (negative: removes it). Does nothing where the balance
   * is not seeded.
   */
  credit(account: string, amount: NanoUsd): void | Promise<void>;
  /**
   * Prepares the seeding of an unknown budget. From now on it counts every running call of its subject that arrived
   * within the window, even one that began before the budget existed. Returns those calls: the settled spend to be read
   * must exclude them.
   */
  beginSeed(binding: BindingCaps): readonly string[] | Promise<readonly string[]>;
  /**
   * Seeds a budget or balance with the ledger's amount; until then it admits nothing. Does nothing where it is known.
   * Charges of calls that ended since `beginSeed`, or else since the budget was forgotten, are added.
   */
  seedBudget(binding: BindingCaps, settled: NanoUsd): void | Promise<void>;
  seedBalance(account: string, available: NanoUsd): void | Promise<void>;
  /**
   * Call when the subject's rule has changed: its budget (for `ACCOUNT/*`: those of its end users) admits nothing until
   * seeded again.
   */
  forgetBudget(subject: Subject): void | Promise<void>;
  /**
   * Call when the rule's amount has changed within the same window: also applies to the next extension of running
   * calls. For `ACCOUNT/*` it does nothing; the next call of each end user applies the new amount. `atMs`: now on the
   * clock of windows, unix ms.
   */
  capBudget(subject: Subject, amount: NanoUsd, atMs: number): void | Promise<void>;
  /** Call when the account's mode has changed: its balance admits nothing until seeded again. */
  forgetBalance(account: string): void | Promise<void>;
  /** Null: not seeded. */
  readBudget(binding: BindingCaps): BudgetState | null | Promise<BudgetState | null>;
  /** Current use of rate and concurrency limits. */
  readUse(binding: BindingCaps, nowMs: number): CapsUse | Promise<CapsUse>;
  /** Releases what calls with an expired lease hold; returns their number. */
  sweep(nowMs: number): number | Promise<number>;
}

/** Returns every public name of a model, given one of them: a record keeps the name that the client requested. */
export type NamesOfModel = (model: string) => readonly string[];

/** All amounts in nano-USD. No call waits for them. */
export interface BudgetSpends {
  /** For console pages. Keyed by subject id; all bindings must have the same kind and window. */
  readSpends(bindings: readonly BindingCaps[], namesOfModel: NamesOfModel): Promise<ReadonlyMap<string, bigint>>;
  /**
   * To seed a budget: the spend within the binding's window, except of the calls listed. Rejects as Unavailable while
   * the store accepts no writes, since some charges may not be readable yet.
   */
  readSettled(binding: BindingCaps, namesOfModel: NamesOfModel, exceptCalls: readonly string[]): Promise<bigint>;
  /** Makes the next `readSettled` fast; call when a budget begins to apply. */
  prepare(): void;
}
