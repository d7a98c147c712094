/**
 * Declares why a request was refused, failed or was cut: the `reason` of its record. Created where the decision is
 * made, stored with the record, rendered by `call/reason/explain-reason.ts`. Holds no content of prompts or responses.
 * Contract, 10.6.
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
  /** The key may not be used for this operation, or from this address. */
  'key_restricted',
  /** A balance or a budget would pay, but the model has no price. */
  'unpriced',
  /** The request itself is invalid: refused here, or by the provider (`upstream`). */
  'invalid_request',
  /** The provider failed, timed out, was overloaded or rate-limited us, before a response began. */
  'provider_error',
  /** No attempt was made: every target of the model is unavailable (`targets`). */
  'no_target',
  /** The provider rejected our credential or our account. */
  'provider_credential',
  /** The provider failed after its response had begun. */
  'cut',
  'client_closed',
  /** A budget or a balance was exhausted during the response. */
  'money_ran_out',
  /** A guardrail of the workspace or the account. */
  'guardrail',
  /** An error or a state of this gateway. */
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
  'tags',
  'guardrail',
] as const;

/** The last step that a request reached. */
export const REASON_STEPS = ['read', 'route', 'limits', 'provider', 'answer'] as const;

/** The subject of a rule. `name` is its display name; the id if it has none. */
export interface ReasonSubject {
  readonly type: (typeof REASON_SUBJECTS)[number];
  readonly id: string;
  readonly name: string;
}

/**
 * The provider's error. `status` null: it sent none. `type`: the provider's, or that of the connection error.
 * `message`: at most 300 characters, without secrets.
 */
export interface ReasonUpstream {
  readonly status: number | null;
  readonly type: string | null;
  readonly message: string | null;
}

export const TARGET_STATES = ['open', 'cooling', 'benched', 'full'] as const;

/**
 * A target that could not take the request. `open`: switched off after failures; `cooling`: its provider limits our rate;
 * `benched`: its provider refuses our credential or our configuration; `full`: it has as many requests as it may.
 */
export interface ReasonTarget {
  readonly provider: string;
  readonly model: string;
  readonly state: (typeof TARGET_STATES)[number];
  /** ISO 8601. Absent: unknown. */
  readonly until?: string;
}

/** A count; or an amount of money, as decimal text of nano-USD. */
export type ReasonAmount = number | string;

/** Members are present only where they apply. */
export interface Reason {
  readonly kind: ReasonKind;
  readonly subject?: ReasonSubject;
  /** `id` is the rule's; `window` is a budget's. */
  readonly rule?: {
    readonly id: string;
    readonly cap: (typeof REASON_CAPS)[number];
    readonly window?: 'day' | 'week' | 'month' | 'total';
  };
  /** Usage of the limit when the request arrived. Of a budget: settled and held. */
  readonly used?: ReasonAmount;
  /** The limit. Of a balance: its remainder. */
  readonly limit?: ReasonAmount;
  /** The amount the request needed. */
  readonly needed?: ReasonAmount;
  /** ISO 8601: when the limit allows such a request again. */
  readonly resets_at?: string;
  /** The allowed model patterns, or the required data tags: at most 20 of them. */
  readonly allowed?: readonly string[];
  /** The path of the invalid member of the request. */
  readonly param?: string;
  /** Our message about the request or about the gateway, without text values from the request. */
  readonly message?: string;
  readonly target?: { readonly provider: string; readonly model: string };
  /** The targets that were not tried because of their state: at most 10. */
  readonly targets?: readonly ReasonTarget[];
  readonly upstream?: ReasonUpstream;
  readonly at_step: (typeof REASON_STEPS)[number];
}

/** The part of a reason that the error body tells the caller. */
export interface ReasonHint {
  readonly kind: ReasonKind;
  readonly sentence: string;
  readonly resets_at?: string;
}

/** The part of the reason known at the place of the decision. `buildReason` adds names, target and step. */
export type ReasonDraft = Omit<Reason, 'at_step' | 'subject' | 'target' | 'targets'> & {
  readonly subject?: Pick<ReasonSubject, 'type' | 'id'>;
};
