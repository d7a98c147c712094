/** Serves the routes about several keys at once: their changes, and the requests that these would stop. */

import { ConsoleFailure } from '../../errors/console-failure.ts';
import type { StoredKey } from '../../store/ports/records.ts';
import type { Body } from '../contract/contract.ts';
import type { ConsoleCall, Handlers } from '../kernel/handlers.ts';
import { readSpans } from '../usage/usage-range.ts';
import { capsArguments } from './caps.ts';
import { checkMayEnable, checkTightens, showKeys } from './keys.ts';
import { checkScopes, findOwnKey, type PolicyParts, runCommand, seesWorkspace } from './policy-parts.ts';

const HOUR_MS = 3_600_000;

export function bulkKeyHandlers(parts: PolicyParts) {
  const { directory, billing } = parts.deps;
  return {
    'POST /accounts/{account}/keys/bulk': async (call) => {
      const { action, set } = call.body;
      const ids = [...new Set(call.body.keys)];
      const { caps, ...given } = settingsOf(action, set);
      const limits = caps === undefined ? {} : capsArguments(caps);
      await runCommand(parts.control, call, 'keys.bulk', { ids, action, set: { ...given, ...limits } }, () => {
        for (const id of ids) checkChange(parts, call, findOwnKey(parts, call, id));
      });
      const changed = ids.flatMap((id) => directory.keys.get(id) ?? []);
      return { keys: await showKeys(parts, changed, call.tenancy, parts.nowMs()) };
    },
    'GET /accounts/{account}/key-requests': async ({ tenancy, query }) => {
      const nowMs = parts.nowMs();
      const { account, workspaces } = tenancy;
      // No others count; they have no requests that the caller may see.
      const ids = query.keys.filter((id) => {
        const key = directory.keys.get(id);
        return key?.accountId === account && seesWorkspace(tenancy, key.workspaceId);
      });
      const timeZone = billing.timeZoneOf(account);
      const bounds = [nowMs - HOUR_MS, nowMs + 1];
      const spans = await readSpans(parts.usage, {
        account,
        workspaces,
        timeZone,
        by: 'key',
        ids: [...new Set(ids)],
        bounds,
      });
      return { hour_requests: [...spans.values()].reduce((sum, [hour]) => sum + (hour?.requests ?? 0), 0) };
    },
  } satisfies Partial<Handlers>;
}

type BulkCall = ConsoleCall<'POST /accounts/{account}/keys/bulk'>;
type BulkBody = Body<'POST /accounts/{account}/keys/bulk'>;

/** @throws ConsoleFailure for settings with another action, and for none with `set` */
function settingsOf(action: BulkBody['action'], set: BulkBody['set']): NonNullable<BulkBody['set']> {
  const isEmpty = set === undefined || Object.keys(set).length === 0;
  if (isEmpty !== (action === 'set')) return set ?? {};
  const message =
    action === 'set'
      ? 'found no setting, expected tags, expires_at or caps'
      : `found settings with the action ${action}, expected the action set`;
  throw new ConsoleFailure('invalid', `set: ${message}`, { member: 'set' });
}

/** Checks what changing the key alone would. @throws ConsoleFailure that names the key */
function checkChange(parts: PolicyParts, call: BulkCall, key: StoredKey): void {
  const { action, set } = call.body;
  try {
    if (action === 'enable') {
      checkScopes(call, key.scopes);
      checkMayEnable(call, key);
    }
    if (action === 'set') checkScopes(call, key.scopes);
    if (set?.caps !== undefined) checkTightens(parts, call.tenancy, key, set.caps);
  } catch (fault) {
    if (!(fault instanceof ConsoleFailure)) throw fault;
    throw new ConsoleFailure(fault.kind, `${key.name}: ${fault.message}`, { ...fault.details, cause: fault });
  }
}
