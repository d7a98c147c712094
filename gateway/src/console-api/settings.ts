/** Owns the routes about an account's settings, and what there is to know of the installation. */
import { readAccount } from './account-view.ts';
import { findAccount } from './find-subject.ts';
import type { Handlers } from './handlers.ts';
import type { PolicyParts } from './policy-parts.ts';
import { runCommand } from './run-command.ts';

export function settingsHandlers(
  parts: PolicyParts,
): Handlers<'GET /accounts/{account}/settings' | 'PATCH /accounts/{account}/settings'> {
  return {
    'GET /accounts/{account}/settings': async ({ tenancy }) => {
      const { id } = findAccount(parts, tenancy);
      return {
        account: await readAccount(parts, id),
        facts: tenancy.may('house.read') ? [...parts.readFacts()] : [],
      };
    },
    'PATCH /accounts/{account}/settings': async (call) => {
      const { id } = findAccount(parts, call.tenancy);
      await runCommand(parts.control, call, 'accounts.set', { id, ...call.body });
      return {};
    },
  };
}
