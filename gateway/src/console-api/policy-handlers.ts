/** Owns the list of handlers that stand on the same parts: keys, limits, workspaces, money, audit, settings. */
import { accountHandlers } from './accounts.ts';
import { auditHandlers } from './audit.ts';
import { billingHandlers } from './billing.ts';
import { keyDetailHandlers } from './key-details.ts';
import { keyHandlers } from './keys.ts';
import { limitHandlers } from './limits.ts';
import type { PolicyParts } from './policy-parts.ts';
import { settingsHandlers } from './settings.ts';
import { workspaceHandlers } from './workspaces.ts';

export function policyHandlers(parts: PolicyParts) {
  return {
    ...keyHandlers(parts),
    ...keyDetailHandlers(parts),
    ...limitHandlers(parts),
    ...workspaceHandlers(parts),
    ...accountHandlers(parts),
    ...billingHandlers(parts),
    ...auditHandlers(parts),
    ...settingsHandlers(parts),
  };
}
