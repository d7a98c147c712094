/** Owns what the routes about keys, limits, workspaces, money and the audit trail work on. Holds no logic. */
import type { Control } from '../control/control.ts';
import type { Gate } from '../gateway/gate.ts';
import type { PersonNames } from '../people/person-names.ts';
import type { ActivityReader, SpanSums } from '../store/activity-port.ts';
import type { AuditTrail } from '../store/audit-port.ts';
import type { Ledger } from '../store/ledger-port.ts';
import type { PolicyReader } from '../store/policy-port.ts';
import type { StatementReader } from '../store/statement-port.ts';

export interface PolicyParts {
  readonly control: Control;
  readonly gate: Pick<Gate, 'directory' | 'settings' | 'desk'>;
  readonly policies: Pick<PolicyReader, 'readLimitRules'>;
  readonly ledger: Pick<Ledger, 'readBalances'>;
  readonly audit: Pick<AuditTrail, 'read'>;
  readonly activity: ActivityReader;
  readonly statements: StatementReader;
  readonly personNames: PersonNames;
  /** By key: requests and cost in each span; a span begins at each bound (unix ms) but the last. */
  weekOf(
    account: string,
    keyIds: readonly string[],
    bounds: readonly number[],
  ): Promise<ReadonlyMap<string, readonly SpanSums[]>>;
  /** What there is to know of the installation, for whoever runs it. */
  readFacts(): readonly { readonly name: string; readonly text: string }[];
  /** The present, unix ms. */
  nowMs(): number;
}
