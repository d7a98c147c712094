/** Owns that a change of policy is durable before it binds calls, and binds them at once. Decides no change. */
import { putAccount, putKey, putWorkspace } from '../identity/key-directory.ts';
import type { PolicyChange } from '../store/policy-port.ts';
import type { ControlContext } from './command.ts';

/** Keeps all of the changes or none, then binds each. Rejects where the store fails; nothing has changed then. */
export async function keepAndBind(context: ControlContext, changes: readonly PolicyChange[]): Promise<void> {
  if (changes.length === 0) return;
  await context.policies.keep(changes);
  for (const change of changes) if (change.of === 'account') await context.bindAccount(change.account);
  // In one turn of the event loop: no call sees a key without its rule.
  for (const change of changes) bind(context, change);
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
