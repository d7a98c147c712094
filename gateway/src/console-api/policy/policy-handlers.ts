/** Combines the handlers that share `PolicyParts`, and serves the settings routes. */

import { alertHandlers } from '../books/alerts.ts';
import { guardrailHandlers } from '../books/guardrails.ts';
import { reconciliationHandlers } from '../books/reconciliations.ts';
import type { Handlers } from '../kernel/handlers.ts';
import { savedViewHandlers } from '../logs/saved-views.ts';
import { auditHandlers } from './audit.ts';
import { accountHandlers, billingHandlers, readAccount } from './billing.ts';
import { bulkKeyHandlers } from './bulk-keys.ts';
import { keyDetailHandlers } from './key-details.ts';
import { keyHandlers } from './keys.ts';
import { limitHandlers } from './limits.ts';
import { findAccount, type PolicyParts, runCommand } from './policy-parts.ts';
import { statementHandlers } from './statements.ts';
import { workspaceHandlers } from './workspaces.ts';

export function policyHandlers(parts: PolicyParts) {
  return {
    ...keyHandlers(parts),
    ...keyDetailHandlers(parts),
    ...bulkKeyHandlers(parts),
    ...limitHandlers(parts),
    ...workspaceHandlers(parts),
    ...accountHandlers(parts),
    ...billingHandlers(parts),
    ...statementHandlers(parts),
    ...auditHandlers(parts),
    ...reconciliationHandlers(parts),
    ...alertHandlers(parts),
    ...guardrailHandlers(parts),
    ...savedViewHandlers(parts),
    ...settingsHandlers(parts),
  };
}

function settingsHandlers(parts: PolicyParts) {
  return {
    'GET /accounts/{account}/settings': async ({ tenancy }) => {
      const { id } = findAccount(parts, tenancy);
      return {
        account: await readAccount(parts, id),
        facts: tenancy.may('operator.read') ? [...parts.readFacts()] : [],
      };
    },
    'PATCH /accounts/{account}/settings': async (call) => {
      const { id } = findAccount(parts, call.tenancy);
      await runCommand(parts.control, call, 'accounts.set', { id, ...call.body });
      return {};
    },
  } satisfies Partial<Handlers>;
}
