/** Owns that a change of policy is durable, with its entry in the audit trail, before it binds calls, and binds them at once. Decides no change. */
import { putAccount, putKey, putWorkspace } from '../identity/key-directory.ts';
import type { NewAuditEntry } from '../store/audit-port.ts';
import type { PolicyChange } from '../store/policy-port.ts';
import type { CommandRun, ControlContext } from './command.ts';

/** Keeps all of the changes and entries or none, then binds each. Rejects where the store fails; nothing has changed then. */
export async function keepAndBind(
  run: CommandRun,
  changes: readonly PolicyChange[],
  entries: readonly NewAuditEntry[],
): Promise<void> {
  if (changes.length === 0) return;
  await run.policies.keep(changes, entries);
  for (const change of changes) if (change.of === 'account') await run.bindAccount(change.account);
  // In one turn of the event loop: no call sees a key without its rule.
  for (const change of changes) bind(run, change);
}

function bind({ directory, limits }: ControlContext, change: PolicyChange): void {
  switch (change.of) {
    case 'key':
      putKey(directory, change.key);
      break;
    case 'workspace':
      putWorkspace(directory, change.workspace);
      break;
    case 'account':
      putAccount(directory, change.account);
      break;
    case 'rule':
      limits.put(change.subject, change.caps);
      break;
  }
}
