/**
 * Shows the reason of a failed call: the details that the reader may see, a sentence, and a remedy that they may use.
 */
import { renderCallRecord } from '../../billing/render-call-record.ts';
import { explainReason, type Remedy } from '../../call/reason/explain-reason.ts';
import type { Reason } from '../../errors/reason.ts';
import type { Permission } from '../../people/roles.ts';
import type { CallRecord } from '../../store/ports/records.ts';
import type { Reply } from '../contract/contract.ts';
import type { Tenancy } from '../kernel/actor.ts';

type CallView = Reply<'GET /accounts/{account}/logs'>['calls'][number];
type Explanation = NonNullable<Reply<'GET /accounts/{account}/logs/{request}'>['explanation']>;

/** The record as `tollgate calls --json` prints it, with the parts of its reason that the reader may see. */
export function showCall(tenancy: Tenancy, record: CallRecord): CallView {
  return renderCallRecord(
    record.reason === null ? record : { ...record, reason: visibleReason(tenancy, record.reason) },
  );
}

/** Null: the call did not fail, or its record is from before reasons were stored. */
export function explainCallFailure(tenancy: Tenancy, record: CallRecord, zone: string): Explanation | null {
  if (record.reason === null) return null;
  const { sentence, remedy } = explainReason(visibleReason(tenancy, record.reason), record, zone);
  return { sentence, remedy: remedy !== null && mayUse(tenancy, remedy) ? remedy : null };
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
  ['/app/providers', 'operator.read'],
];

function mayUse(tenancy: Tenancy, { page }: Remedy): boolean {
  return NEEDS.some(([start, permission]) => page.startsWith(start) && tenancy.may(permission));
}
