/**
 * Owns the interface of the limits that bind calls: requests and tokens per minute, calls at once, budgets and balances.
 * One decision takes all of a call's limits or none. Knows neither memory nor a server; every implementation is run
 * through `store/contracts/limits-contract.ts`.
 */

/** Integer nano-USD. */
type NanoUsd = bigint;

export const SUBJECT_KINDS = ['key', 'end_user', 'workspace', 'account', 'model'] as const;
export type SubjectKind = (typeof SUBJECT_KINDS)[number];
export const BUDGET_WINDOWS = ['day', 'week', 'month', 'total'] as const;
export type BudgetWindow = (typeof BUDGET_WINDOWS)[number];

/**
 * Who set a rule. The operator's rules and those of an account's own people bind side by side, so the lower cap decides.
 * All rules of models and of the account that runs the installation are the operator's.
 */
export type LimitLayer = 'operator' | 'account';

/** Whom a limit binds. `id` is unique within its kind (an end user's begins with its account). */
export interface Subject {
  readonly kind: SubjectKind;
  readonly id: string;
  /** Of the rule that the account's own people set; left out: of the operator's. What is used of each is counted apart. */
  readonly layer?: 'account';
}

/** The same subject in a layer. */
export function inLayer({ kind, id }: Pick<Subject, 'kind' | 'id'>, layer: LimitLayer): Subject {
  return layer === 'account' ? { kind, id, layer } : { kind, id };
}

export function layerOf({ layer }: Subject): LimitLayer {
  return layer ?? 'operator';
}

/** Stands for every end user of an account that has no rule of his own. */
export const EVERY_END_USER = '*';

/**
 * An end user's subject, or (with `EVERY_END_USER`) that of an account's end users without a rule. Null: all requests that
 * name no end user, which share one subject. No account's id holds a `/`, and no end user's name is empty.
 */
export function endUserSubject(accountId: string, endUser: string | null): Subject {
  return { kind: 'end_user', id: `${accountId}/${endUser ?? ''}` };
}

/** The caps of one subject; null: none. Rates and slots are whole numbers. */
export interface Caps {
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
  readonly concurrency: number | null;
  readonly budget: { readonly window: BudgetWindow; readonly amount: NanoUsd } | null;
}

/** A cap as it binds now: a budget's window has a beginning and an end. Unix ms; an end of null: never. */
export interface BindingCaps {
  readonly subject: Subject;
  readonly caps: Caps;
  readonly windowStartMs: number;
  readonly windowEndMs: number | null;
}

/** Whom a call is made for, and with what. */
export interface CallSubjects {
  readonly keyId: string;
  readonly workspaceId: string;
  readonly accountId: string;
  /** As the caller named him; null: nobody in particular. */
  readonly endUser: string | null;
  /** Every public name of the model: a rule under any of them binds it. */
  readonly models: readonly string[];
}

/** What one call asks for. */
export interface LimitClaim {
  readonly callId: string;
  /** All that a budget could bind which is set while it runs. */
  readonly subjects: CallSubjects;
  /** Its arrival by the clock of windows, unix ms. */
  readonly arrivedMs: number;
  readonly binding: readonly BindingCaps[];
  /** The prepaid account whose balance pays; null: postpaid. */
  readonly prepaidAccount: string | null;
  /** Estimated tokens, for limits per minute. */
  readonly tokens: number;
  /** The hold, for budgets and the balance. */
  readonly amount: NanoUsd;
  /** What each of them must have left before the hold; left out, or less than the amount: the amount. */
  readonly room?: NanoUsd;
}

export type RefusalKind = 'requests' | 'tokens' | 'concurrency' | 'budget' | 'balance';

/** How a cap stood when it refused: whole numbers, or nano-USD of a budget (settled and held) and a balance (`cap`: what is left, `used`: 0). */
export interface LimitUse {
  readonly used: number | bigint;
  readonly cap: number | bigint;
  readonly needed: number | bigint;
}

/**
 * The cap that keeps the call out the longest. `retryAfterMs`: from when on it would no longer (of slots, which nobody can
 * foresee: when to ask again); null: waiting does not help, or (a budget's) only its next window does.
 */
export interface LimitRefusal {
  readonly kind: RefusalKind;
  readonly subject: Subject;
  /** The cap of requests, tokens or calls at once; null of money. */
  readonly limit: number | null;
  readonly use: LimitUse;
  readonly retryAfterMs: number | null;
  /** Of a budget: the window and when it ends. */
  readonly window: BudgetWindow | null;
  readonly windowEndMs: number | null;
}

export type LimitDecision =
  | { readonly kind: 'admitted'; readonly standing: Standing }
  | { readonly kind: 'refused'; readonly refusal: LimitRefusal; readonly standing: Standing }
  /** Nothing is decided or taken: these budgets, and this balance, must be seeded first. */
  | { readonly kind: 'unseeded'; readonly budgets: readonly BindingCaps[]; readonly account: string | null };

/** What a budget's alert tells of: half of it, four fifths, or all of it. */
export const BUDGET_MARKS = [50, 80, 100] as const;
export type BudgetMark = (typeof BUDGET_MARKS)[number];

/**
 * A budget whose settled money has reached a mark; told once per window, and not of what was reached when it was seeded. Of
 * another amount for the same window the marks above what is settled are told anew, and those that it newly lies below.
 * Of 100 it is told, too, once a call is refused for what is settled alone, with 80 settled: few budgets end on the nano.
 */
export interface BudgetReached {
  readonly subject: Subject;
  readonly window: BudgetWindow;
  readonly windowStartMs: number;
  readonly mark: BudgetMark;
  readonly settled: NanoUsd;
  readonly amount: NanoUsd;
}

/** What the tightest limit of each sort leaves; null: there is no such limit. Times: when it is whole again, on the clock of `LimitStore`. */
export interface Standing {
  readonly requests: { readonly limit: number; readonly remaining: number; readonly resetMs: number } | null;
  readonly tokens: { readonly limit: number; readonly remaining: number; readonly resetMs: number } | null;
}

/** What a subject has used of its budget's window, and has held now. */
export interface BudgetState {
  readonly settled: NanoUsd;
  readonly held: NanoUsd;
}

/** What is used of a subject's caps at a moment, whole numbers; null: no such cap. A cap that was passed may show more than its limit. */
export interface CapsUse {
  readonly requests: { readonly used: number; readonly wholeAtMs: number } | null;
  readonly tokens: { readonly used: number; readonly wholeAtMs: number } | null;
  /** Calls that run; null: their number has no cap. */
  readonly running: number | null;
}

/** `nowMs`: unix ms on one clock that does not step, whatever becomes of the system's; windows come with the claim. */
export interface LimitStore {
  /**
   * Takes all or nothing. A call id that is taken already is a fault and throws. A call of amount 0 passes every budget and
   * balance. A budget goes on by itself from one window into the next.
   */
  acquire(claim: LimitClaim, nowMs: number): LimitDecision | Promise<LimitDecision>;
  /** What `acquire` would answer now. Takes nothing, tells nobody of a budget. */
  peek(claim: LimitClaim, nowMs: number): LimitDecision | Promise<LimitDecision>;
  /** Takes more money for a running call, from each of its budgets and its balance, or nothing. */
  extend(callId: string, amount: NanoUsd, nowMs: number): boolean | Promise<boolean>;
  /** Which budget or balance has the least room for so much more; null: all of them have enough, or the call holds nothing. */
  explainExtension(callId: string, amount: NanoUsd): LimitRefusal | null | Promise<LimitRefusal | null>;
  /** Takes as much of the amount as all of them allow, in one step; answers how much. */
  extendUpTo(callId: string, amount: NanoUsd, nowMs: number): NanoUsd | Promise<NanoUsd>;
  /**
   * The call ended: what it charged is settled in the window that held it; the rest of its money, its slots and the tokens
   * that it did not use are given back. Once; of a call that holds nothing (any more) it does nothing and answers false.
   * A charge above what is held of a budget or a balance is a fault, changes nothing and throws RangeError: extend first.
   */
  release(callId: string, charged: NanoUsd, tokens: number, nowMs: number): boolean | Promise<boolean>;
  /** Money that came to a prepaid account (negative: left it) from outside of calls. Nothing where the balance is not seeded. */
  credit(account: string, amount: NanoUsd): void | Promise<void>;
  /**
   * A budget that is not known is about to be read. Every running call of its subject that arrived within the window counts
   * in it from now on, though it began before there was the budget. Answers those calls: what is read must be without them.
   */
  beginSeed(binding: BindingCaps): readonly string[] | Promise<readonly string[]>;
  /**
   * What must be known before a budget or a balance binds: what the ledger has of it. Nothing where it is known. What a call
   * of the budget was charged that ended since `beginSeed`, or else since the budget was forgotten, is added.
   */
  seedBudget(binding: BindingCaps, settled: NanoUsd): void | Promise<void>;
  seedBalance(account: string, available: NanoUsd): void | Promise<void>;
  /** The subject's rule has changed: its budget (of `ACCOUNT/*`: its end users') must be seeded anew before it admits. */
  forgetBudget(subject: Subject): void | Promise<void>;
  /**
   * The subject's rule has another amount for the same window: it binds the next extension of calls that run, too. Not of
   * `ACCOUNT/*`, whose end users are bound by their next calls. `atMs`: the present by the clock of windows, unix ms.
   */
  capBudget(subject: Subject, amount: NanoUsd, atMs: number): void | Promise<void>;
  /** The account's mode has changed: its balance must be seeded anew before it admits. */
  forgetBalance(account: string): void | Promise<void>;
  /** Null: not seeded. */
  readBudget(binding: BindingCaps): BudgetState | null | Promise<BudgetState | null>;
  /** What is used now of rates and slots. */
  readUse(binding: BindingCaps, nowMs: number): CapsUse | Promise<CapsUse>;
  /** Gives back what calls hold whose lease has passed; answers how many. */
  sweep(nowMs: number): number | Promise<number>;
}
