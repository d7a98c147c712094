/** Owns what the routes about keys, limits, workspaces, money and the audit trail work on. Holds no logic. */
import type { Control } from '../control/control.ts';
import type { Gate } from '../gateway/gate.ts';
import type { PersonNames } from '../people/members.ts';
import type { AuditTrail } from '../store/audit-port.ts';
import type { BudgetSpends } from '../store/budget-spends-port.ts';
import type { Ledger } from '../store/ledger-port.ts';
import type { PolicyReader } from '../store/policy-port.ts';
import type { StatementReader } from '../store/statement-port.ts';
import type { UsageReader } from '../store/usage-port.ts';

export interface PolicyParts {
  readonly control: Control;
  readonly gate: Pick<Gate, 'directory' | 'settings' | 'desk'>;
  readonly policies: Pick<PolicyReader, 'readLimitRules'>;
  readonly ledger: Pick<Ledger, 'readBalances'>;
  readonly audit: Pick<AuditTrail, 'read'>;
  readonly spends: BudgetSpends;
  readonly usage: Pick<UsageReader, 'readUsage' | 'readLogs'>;
  readonly statements: StatementReader;
  readonly personNames: PersonNames;
  /** What there is to know of the installation, for whoever runs it. */
  readFacts(): readonly { readonly name: string; readonly text: string }[];
  /** The present, unix ms. */
  nowMs(): number;
}
