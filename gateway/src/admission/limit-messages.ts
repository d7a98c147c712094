/**
 * Words the error of a call that a limit refuses, and the reason in its record: which limit, whose, what to do, and when.
 * The error names no id: the caller may be a customer of the account.
 */
import { CallFailure } from '../errors/call-failure.ts';
import type { Reason, ReasonAmount, ReasonDraft, ReasonKind } from '../errors/reason.ts';
import type { LimitRefusal, RefusalKind, SubjectKind } from '../store/ports/limits.ts';

const OWNERS: Readonly<Record<SubjectKind, string>> = {
  key: 'this API key',
  end_user: 'this end user',
  workspace: 'the workspace of this API key',
  account: 'the account of this API key',
  model: 'this model, shared by all callers',
};

/** Clients do not wait longer; the OpenAI SDK ignores greater values. Contract, 5; wire reference 0.6. */
const RETRY_AFTER_SECONDS_MAX = 60;

/**
 * The failure of a call that a limit refuses: `rate_limited`, `rate_out_of_reach` (waiting a minute does not help) or
 * `quota_exceeded`. Messages of a quota contain "insufficient quota" and "will reset at", by which LangChain (1.6,
 * November 2026) decides not to retry; those of a rate do not.
 */
export function refusalOf(refusal: LimitRefusal): CallFailure {
  const reason = reasonOfRefusal(refusal, Date.now());
  switch (refusal.kind) {
    case 'budget':
      return new CallFailure('quota_exceeded', budgetWords(refusal), { reason });
    case 'balance':
      return new CallFailure(
        'quota_exceeded',
        'insufficient quota: the credit balance of the account of this API key doesn’t cover this request; top it up and retry',
        { reason },
      );
    case 'requests':
    case 'tokens':
    case 'concurrency':
      return rateFailure(refusal.kind, refusal, reason);
  }
}

const WINDOW_WORDS = { day: 'daily ', week: 'weekly ', month: 'monthly ', total: '' } as const;

function budgetWords({ subject, window, windowEndMs }: LimitRefusal): string {
  const what = `the ${window === null ? '' : WINDOW_WORDS[window]}budget of ${OWNERS[subject.kind]}`;
  const when = windowEndMs === null ? '' : `it will reset at ${new Date(windowEndMs).toISOString()}; `;
  return `insufficient quota: ${what} doesn’t cover this request; ${when}ask the gateway operator for a higher one`;
}

const LIMIT_WORDS = {
  requests: 'requests per minute',
  tokens: 'tokens per minute',
  concurrency: 'concurrent requests',
} as const;

function rateFailure(
  kind: keyof typeof LIMIT_WORDS,
  { subject, limit, retryAfterMs }: LimitRefusal,
  reason: ReasonDraft,
): CallFailure {
  const reached = `the limit of ${limit} ${LIMIT_WORDS[kind]} of ${OWNERS[subject.kind]}`;
  if (retryAfterMs === null) {
    return new CallFailure(
      'rate_out_of_reach',
      `the prompt of this request alone exceeds ${reached}; shorten it, or ask for a higher limit`,
      { reason },
    );
  }
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1_000));
  const message = `${reached} is reached; try again in ${seconds} s`;
  return seconds <= RETRY_AFTER_SECONDS_MAX
    ? new CallFailure('rate_limited', message, { retryAfterSeconds: seconds, reason })
    : new CallFailure('rate_out_of_reach', message, { retryAfterSeconds: RETRY_AFTER_SECONDS_MAX, reason });
}

type Rule = NonNullable<Reason['rule']>;

const KINDS: Readonly<Record<RefusalKind, readonly [kind: ReasonKind, cap: Rule['cap']]>> = {
  requests: ['rate_limited', 'requests_per_minute'],
  tokens: ['rate_limited', 'tokens_per_minute'],
  concurrency: ['concurrency', 'concurrency'],
  budget: ['budget_spent', 'budget'],
  balance: ['balance_empty', 'balance'],
};

/** `nowMs`: unix ms. */
export function reasonOfRefusal(refusal: LimitRefusal, nowMs: number): ReasonDraft {
  const { subject, use, window } = refusal;
  const [kind, cap] = KINDS[refusal.kind];
  const resetsAtMs = resetOf(refusal, nowMs);
  return {
    kind,
    subject: { type: subject.kind, id: subject.id },
    rule: { id: `${subject.kind}:${subject.id}`, cap, ...(window === null ? {} : { window }) },
    ...(refusal.kind === 'balance' ? {} : { used: amountOf(use.used) }),
    limit: amountOf(use.cap),
    needed: amountOf(use.needed),
    ...(resetsAtMs === null ? {} : { resets_at: new Date(resetsAtMs).toISOString() }),
  };
}

/** A concurrency slot comes free when a running request ends, which cannot be foreseen. */
function resetOf({ kind, windowEndMs, retryAfterMs }: LimitRefusal, nowMs: number): number | null {
  if (kind === 'budget') return windowEndMs;
  return kind === 'concurrency' || retryAfterMs === null ? null : nowMs + retryAfterMs;
}

function amountOf(amount: number | bigint): ReasonAmount {
  return typeof amount === 'bigint' ? amount.toString() : amount;
}
