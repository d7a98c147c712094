/** Defines the dependencies of the routes about keys, limits, workspaces, billing and audit. */

import type { CallDeps } from '../../call/deps.ts';
import type { Control } from '../../control/control.ts';
import type { PersonNames } from '../../people/members/members.ts';
import type { AuditTrail } from '../../store/ports/audit.ts';
import type { Ledger } from '../../store/ports/ledger.ts';
import type { BindingCaps } from '../../store/ports/limits.ts';
import type { PolicyReader } from '../../store/ports/policy.ts';
import type { StatementReader } from '../../store/ports/statements.ts';
import type { UsageReader } from '../../store/ports/usage.ts';

export interface PolicyParts {
  readonly control: Control;
  readonly deps: Pick<CallDeps, 'directory' | 'settings' | 'billing'>;
  readonly policies: Pick<PolicyReader, 'readLimitRules'>;
  readonly ledger: Pick<Ledger, 'readBalances'>;
  readonly audit: Pick<AuditTrail, 'read'>;
  /** As `BudgetSpends.readSpends`, with the names of the models served now. */
  readSpends(bindings: readonly BindingCaps[]): Promise<ReadonlyMap<string, bigint>>;
  readonly usage: Pick<UsageReader, 'readUsage' | 'readLogs'>;
  readonly statements: StatementReader;
  readonly personNames: PersonNames;
  /** Facts about the installation, for its operators. */
  readFacts(): readonly { readonly name: string; readonly text: string }[];
  /** The current time, unix ms. */
  nowMs(): number;
}
