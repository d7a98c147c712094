/** Reads from the audit trail how the budgets of an account changed. */

import type { AuditEntry, AuditedMembers, AuditTrail } from '../store/ports/audit.ts';
import { inLayer, type LimitLayer, SUBJECT_KINDS } from '../store/ports/limits.ts';
import type { BudgetChange } from './find-money.ts';

/** More changes than a person makes while a server is stopped. */
const CHANGES_MAX = 10_000;
/** The names of a layer's members begin so. */
const LAYERS: readonly (readonly [layer: LimitLayer, prefix: string])[] = [
  ['operator', ''],
  ['account', 'own_'],
];

/** Since `sinceMs`, oldest first. */
export async function readBudgetChanges(
  audit: Pick<AuditTrail, 'read'>,
  account: string,
  sinceMs: number,
): Promise<readonly BudgetChange[]> {
  const any = { workspaces: null, beforeSeq: null, actor: null, act: null, subject: null } as const;
  const entries = await audit.read({ account, ...any, fromMs: sinceMs, toMs: null, limit: CHANGES_MAX });
  return entries.toReversed().flatMap(changesIn);
}

function changesIn({ subject: { kind: named, id }, atMs, before, after }: AuditEntry): BudgetChange[] {
  const kind = SUBJECT_KINDS.find((one) => one === named);
  if (kind === undefined) return [];
  return LAYERS.flatMap(([layer, prefix]) => {
    const amountOf = (members: AuditedMembers | null) => members?.[`${prefix}budget_nano_usd`];
    const windowOf = (members: AuditedMembers | null) => members?.[`${prefix}budget_window`];
    const hasWindow = windowOf(before) !== undefined || windowOf(after) !== undefined;
    if (!hasWindow && amountOf(after) === undefined) return [];
    const amount = hasWindow ? null : amountOf(before);
    return [
      { subject: inLayer({ kind, id }, layer), atMs, before: typeof amount === 'string' ? BigInt(amount) : null },
    ];
  });
}
