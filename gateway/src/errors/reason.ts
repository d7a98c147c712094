/**
 * Declares why a request was refused, failed or was cut: the `reason` of its record. Made where the decision is made, kept with the record,
 * rendered by `call/reason/explain-reason.ts`. Holds no content of prompts or answers. Contract, 10.6.
 */

export const REASON_KINDS = [
  /** A budget does not cover the request. */
  'budget_spent',
  /** The balance of a prepaid account does not cover the request. */
  'balance_empty',
  /** Requests or tokens per minute. */
  'rate_limited',
  /** Requests in progress at the same time. */
  'concurrency',
  /** The key or its workspace does not allow the model, or no model has this name. */
  'model_not_allowed',
  /** The key may not be used for this, or from this address. */
  'key_restricted',
  /** A balance or a budget pays, and the model has no price. */
  'unpriced',
  /** The request itself: refused here, or by the provider (`upstream`). */
  'invalid_request',
  /** The provider failed, timed out, was overloaded or limited us, before an answer began. */
  'provider_error',
  /** The provider refused our credential or our account. */
  'provider_credential',
  /** The provider failed after its answer had begun. */
  'cut',
  'client_closed',
  /** A budget or a balance was used up while the answer was produced. */
  'money_ran_out',
  /** A fault, or a state, of this gateway. */
  'ours',
] as const;
export type ReasonKind = (typeof REASON_KINDS)[number];

export const REASON_SUBJECTS = ['key', 'end_user', 'workspace', 'account', 'model'] as const;

export const REASON_CAPS = [
  'requests_per_minute',
  'tokens_per_minute',
  'concurrency',
  'budget',
  'balance',
  'models',
  'addresses',
  'scopes',
] as const;

/** How far a request came. */
export const REASON_STEPS = ['read', 'route', 'limits', 'provider', 'answer'] as const;

/** Whom a rule binds. `name` is what people call it; the id where it has no other name. */
export interface ReasonSubject {
  readonly type: (typeof REASON_SUBJECTS)[number];
  readonly id: string;
  readonly name: string;
}

/** What the provider said. `status` null: it gave none. `type`: its word, or that of the connection's fault. `message`: at most 300 characters, without secrets. */
export interface ReasonUpstream {
  readonly status: number | null;
  readonly type: string | null;
  readonly message: string | null;
}

/** A count; or an amount of money, as decimal text of nano-USD. */
export type ReasonAmount = number | string;

/** Members only where they apply. */
export interface Reason {
  readonly kind: ReasonKind;
  readonly subject?: ReasonSubject;
  /** `id` is the rule's; `window` is a budget's. */
  readonly rule?: {
    readonly id: string;
    readonly cap: (typeof REASON_CAPS)[number];
    readonly window?: 'day' | 'week' | 'month' | 'total';
  };
  /** What was used of the limit when the request came. Of a budget: settled and held. */
  readonly used?: ReasonAmount;
  /** The limit. Of a balance: what was left of it. */
  readonly limit?: ReasonAmount;
  /** What the request needed. */
  readonly needed?: ReasonAmount;
  /** ISO 8601: when the limit allows such a request again. */
  readonly resets_at?: string;
  /** The allowed model patterns, at most 20 of them. */
  readonly allowed?: readonly string[];
  /** The member of the request that is at fault, as a path. */
  readonly param?: string;
  /** Our words about the request or about us, without values of the request that are text. */
  readonly message?: string;
  readonly target?: { readonly provider: string; readonly model: string };
  readonly upstream?: ReasonUpstream;
  readonly at_step: (typeof REASON_STEPS)[number];
}

/** What the place that decides knows of the reason. `buildReason` completes it: names, target, step. */
export type ReasonDraft = Omit<Reason, 'at_step' | 'subject' | 'target'> & {
  readonly subject?: Pick<ReasonSubject, 'type' | 'id'>;
};
