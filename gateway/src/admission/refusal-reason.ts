/** Renders a limit's refusal as the reason kept in the request's record. */
import type { Reason, ReasonAmount, ReasonDraft, ReasonKind } from '../errors/reason.ts';
import type { LimitRefusal, RefusalKind } from '../store/ports/limits.ts';

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
