/** Shows a call to a reader: the parts of its record, reason and attempts that they may see, and why it failed. */
import { renderCallRecord } from '../../billing/render-call-record.ts';
import { publicReason } from '../../call/reason/caller-hint.ts';
import { type Explanation, explainFallback, explainReason, type Remedy } from '../../call/reason/explain-reason.ts';
import type { Reason } from '../../errors/reason.ts';
import type { Permission } from '../../people/roles.ts';
import type { CallRecord } from '../../store/ports/records.ts';
import type { Reply } from '../contract/contract.ts';
import type { Tenancy } from '../kernel/actor.ts';

type Attempt = CallRecord['attempts'][number];
type CallView = Reply<'GET /accounts/{account}/logs'>['calls'][number];

/** The record as `tollgate calls --json` prints it, with the parts of its reason and attempts that the reader may see. */
export function showCall(tenancy: Tenancy, record: CallRecord): CallView {
  const { reason, attempts } = record;
  return renderCallRecord({
    ...record,
    reason: reason === null ? null : visibleReason(tenancy, reason),
    attempts: attempts.map((attempt) => visibleAttempt(tenancy, attempt)),
  });
}

function visibleAttempt(tenancy: Tenancy, attempt: Attempt): Attempt {
  return tenancy.may('operator.read') ? attempt : ofAccount(attempt);
}

/** What providers say about the operator's credentials and configuration. */
const OF_OPERATOR: ReadonlySet<string> = new Set(['credential', 'quota', 'config']);

/** The operator's costs and credentials are not the account's. */
function ofAccount({
  billed: _b,
  usage: _u,
  price_version: _p,
  cost_nano_usd: _c,
  credential: _,
  message,
  ...attempt
}: Attempt): Attempt {
  return message === undefined || OF_OPERATOR.has(attempt.class ?? '') ? attempt : { ...attempt, message };
}

/**
 * Why the call failed, or which attempts failed before it was answered. Null: it was answered at once, or its record is
 * from before reasons were stored.
 */
export function explainCall(tenancy: Tenancy, record: CallRecord, zone: string): Explanation | null {
  const attempts = record.attempts.map((attempt) => visibleAttempt(tenancy, attempt));
  if (record.reason === null) {
    const sentence = explainFallback({ attempts });
    if (sentence === null) return null;
    const remedy = { label: 'Show targets', page: `/app/models?model=${encodeURIComponent(record.model ?? '')}` };
    return { sentence, remedy: mayUse(tenancy, remedy) ? remedy : null };
  }
  const { sentence, remedy } = explainReason(visibleReason(tenancy, record.reason), { ...record, attempts }, zone);
  return { sentence, remedy: remedy !== null && mayUse(tenancy, remedy) ? remedy : null };
}

/** As `explainCall`, for anyone who has the id of the request: without names and amounts. */
export function explainToAnyone(record: CallRecord): string | null {
  if (record.reason === null) return null;
  return explainReason(publicReason(record.reason), { ...record, model: null, attempts: [] }, 'UTC').sentence;
}

/**
 * A model's rule belongs to the operator, and so do credential problems at a provider. An account's balance is visible
 * only to members of the whole account. Other readers see the kind and subject of these reasons only.
 */
function visibleReason(tenancy: Tenancy, reason: Reason): Reason {
  const { kind, subject, rule, upstream, used, limit, needed, ...rest } = reason;
  const ofOperator = subject?.type === 'model' && rule !== undefined;
  const ofBalance = rule?.cap === 'balance';
  const hidesRule = (ofOperator && !tenancy.may('operator.read')) || (ofBalance && tenancy.workspaces !== null);
  const hidesUpstream = kind === 'provider_credential' && !tenancy.may('operator.read');
  if (!hidesRule && !hidesUpstream) return reason;
  return {
    kind,
    ...(subject === undefined ? {} : { subject }),
    ...(rule === undefined ? {} : { rule }),
    ...(upstream === undefined || hidesUpstream ? {} : { upstream }),
    ...(hidesRule || used === undefined ? {} : { used }),
    ...(hidesRule || limit === undefined ? {} : { limit }),
    ...(hidesRule || needed === undefined ? {} : { needed }),
    ...rest,
  };
}

/** The permission needed to use a remedy's page. */
const NEEDS: readonly (readonly [page: string, permission: Permission])[] = [
  ['/app/keys', 'keys.write'],
  ['/app/workspaces', 'workspaces.write'],
  ['/app/limits', 'limits.write'],
  ['/app/models', 'models.read'],
  ['/app/billing', 'operator.write'],
  ['/app/guardrails', 'guardrails.read'],
  ['/app/providers', 'operator.read'],
];

function mayUse(tenancy: Tenancy, { page }: Remedy): boolean {
  return NEEDS.some(([start, permission]) => page.startsWith(start) && tenancy.may(permission));
}
