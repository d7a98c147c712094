/** Opens a store with calls of two accounts for tests, and the console API over it for any actor. */

import { NEVER_CALLED } from '../../routing/health/provider-health.ts';
import type { AttemptCost } from '../../store/ports/records.ts';
import { openStore } from '../../store/sqlite/open-store.ts';
import { randomCall, seededRandom } from '../../store/testing/random-calls.ts';
import type { Actor, Grant } from '../kernel/actor.ts';
import { createConsoleApi } from '../kernel/console-api.ts';
import { logHandlers } from '../logs/logs.ts';
import { sessionListHandlers } from '../sessions/sessions.ts';
import { overviewHandlers } from '../usage/overview.ts';
import { usageHandlers } from '../usage/usage.ts';
import type { UsageParts } from '../usage/usage-parts.ts';
import { withRest } from './rest-of-routes.ts';

const NO_CONTENT = { content: 'none', conversation: null, raw: null } as const;

export const NOW_MS = Date.UTC(2025, 3, 10, 12);
export const START_MS = NOW_MS - 20 * 86_400_000;
const VARIETY = {
  accounts: ['default', 'acme'],
  keysPerAccount: 6,
  models: 5,
  endUsersPerAccount: 9,
  sessionMs: 3_600_000,
};
const ZONE = 'Europe/Berlin';

/** `count` calls over the twenty days before NOW_MS, rolled up as they arrive. */
export async function openUsageRig(dataDir: string, count: number) {
  const store = await openStore({ dataDir });
  const account = { mode: 'postpaid', markUpPpm: 0, timeZone: ZONE, holds: null, createdAtMs: 1 } as const;
  await store.policies.save([
    { of: 'account', isNew: true, account: { id: 'acme', name: 'Acme', ...account } },
    { of: 'account', isNew: false, account: { id: 'default', name: 'default', ...account } },
  ]);
  const random = seededRandom(4);
  const calls = Array.from({ length: count }, (_, nth) =>
    randomCall(random, VARIETY, START_MS + Math.floor(((NOW_MS - START_MS) * nth) / count), nth),
  );
  await Promise.all(
    calls.map(async (record) => {
      const cost = BigInt(record.cost_nano_usd ?? 0);
      await store.ledger.hold({ draft: record, amount: cost + 7n });
      await store.ledger.settle({ record, posted: cost, released: 7n, writtenOff: 0n });
    }),
  );
  let clockMs = NOW_MS;
  const parts: UsageParts = {
    usage: store.usage,
    readHealth: () => NEVER_CALLED,
    nowMs: () => clockMs,
    timeZoneOf: () => ZONE,
    labelsOf: async () => ({
      keyName: (keyId) => `name of ${keyId}`,
      owners: new Map([['key_default_1', 'usr_ann']]),
      memberName: () => 'Ann',
      namesOfIds: () => [],
      namesToChoose: () => [],
      tagged: (tag) => new Map(tag === 'team' ? [['key_default_1', 'web']] : []),
      tagNames: () => ['team'],
      hasKeys: () => true,
    }),
    readBudget: async (id) =>
      id === 'default' ? { window: 'month', limit: 10n ** 12n, used: 5n * 10n ** 9n, held: 1n } : null,
    readBalance: async () => null,
  };
  async function get(path: string, grants: readonly Grant[] = [OWNER], nowMs = NOW_MS): Promise<Response> {
    clockMs = nowMs;
    const person: Actor = { kind: 'person', id: 'usr_1', name: 'P', email: 'p@x.example', sessionId: 's', grants };
    const faults: unknown[] = [];
    const api = createConsoleApi({
      handlers: withRest({
        ...overviewHandlers({ ...parts, views: store.views }),
        ...usageHandlers(parts),
        ...sessionListHandlers({ ...parts, usage: store.usage, content: store.content, onUnreadable: () => undefined }),
        ...logHandlers({ ...parts, content: store.content, contentOf: async () => NO_CONTENT }),
      }),
      identify: async () => person,
      hasAccount: (account) => VARIETY.accounts.includes(account),
      onFault: (_, cause) => faults.push(cause),
    });
    const headers = { 'sec-fetch-site': 'same-origin' };
    const response = await api.fetch(new Request(`http://x.example/app/api${path}`, { headers }), null);
    if (faults.length > 0) throw faults[0];
    return response;
  }
  return { store, calls, get };
}

export const OWNER: Grant = { account: 'default', role: 'owner', workspaces: null };
/** Restricted to one workspace of `default`. */
export const BOUND: Grant = { account: 'default', role: 'viewer', workspaces: ['default-w0'] };

export function costOf(calls: readonly Pick<AttemptCost, 'cost_nano_usd'>[]): string {
  return calls.reduce((sum, { cost_nano_usd }) => sum + BigInt(cost_nano_usd ?? 0), 0n).toString();
}
