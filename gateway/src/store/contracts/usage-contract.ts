/** Tests any implementation of the usage reader against its contract: sums, lists and details of the same calls. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Reason } from '../../errors/reason.ts';
import { requestIdFloor } from '../../lib/request-id.ts';
import type { CallRecord } from '../ports/records.ts';
import { type CallCondition, NONE, type UsageQuestion, type UsageReader } from '../ports/usage.ts';
import { heldCall, lostAttempt, settledCall } from '../testing/sample-call.ts';
import type { StoreRig } from './store-rig.ts';

const HOUR_MS = 3_600_000;
const START_MS = Date.UTC(2026, 10, 20);
const TIME_MS_MAX = 10_000;
const TENANT = { account: 'default', workspaces: null };
const ANY: CallCondition = {
  model: null,
  provider: null,
  keys: null,
  workspace: null,
  end_user: null,
  session: null,
  protocol: null,
};
const QUESTION: UsageQuestion = {
  tenant: TENANT,
  condition: ANY,
  fromMs: START_MS,
  toMs: START_MS + 4 * HOUR_MS,
  buckets: [START_MS, START_MS + 2 * HOUR_MS],
  timeZone: 'UTC',
  by: ['model'],
  owners: null,
  latencies: 'none',
  rankedBy: 'cost',
  drawn: 1,
  timeMsMax: TIME_MS_MAX,
};
const LOGS = {
  tenant: TENANT,
  condition: ANY,
  outcome: null,
  fromMs: null,
  toMs: null,
  idPrefix: null,
  beforeId: null,
  limit: 10,
  withHistogram: false,
  timeMsMax: TIME_MS_MAX,
} as const;

const { price_version: _, ...unpriced } = lostAttempt('maybe', 9);
const LOST = [lostAttempt('yes', 7), lostAttempt('maybe', 4), { ...unpriced, cost_nano_usd: null }];

const REASON: Reason = { kind: 'provider_error', target: { provider: 'lab', model: 'm' }, at_step: 'provider' };

/** Runs the suite; `openRig` opens new data. */
export function testUsage(name: string, openRig: () => Promise<StoreRig<'usage' | 'ledger'>>): void {
  describe(`usage read from ${name}`, () => {
    let rig: StoreRig<'usage' | 'ledger'>;
    let usage: UsageReader;
    const ids = [0, 1, 2, 3].map((hour) => requestIdFloor(START_MS + hour * HOUR_MS));

    /** One call an hour: `small` thrice, once failed, then `large`. A token costs 2 nano-USD. */
    beforeAll(async () => {
      rig = await openRig();
      usage = rig.store.usage;
      for (const [hour, id] of ids.entries()) {
        const changes: Partial<CallRecord> = {
          at_ms: START_MS + hour * HOUR_MS,
          model: hour === 3 ? 'large' : 'small',
          session: hour === 0 ? 's' : null,
          ...(hour === 1 ? { status: 502, error: 'upstream_failed', reason: REASON } : {}),
          ...(hour > 0 ? { attempts: LOST } : {}),
        };
        await rig.store.ledger.hold(heldCall(id, 1_000n));
        await rig.store.ledger.settle(settledCall(id, { held: 1_000n, output: hour === 3 ? 100 : 10, changes }));
      }
    });
    afterAll(() => rig.close());

    test('sums by group, in total, and in buckets', async () => {
      const { asked } = await usage.readUsage({ asked: QUESTION });
      expect(asked.groups.map(({ values, sums }) => [values, sums.requests, sums.serverErrors, sums.cost])).toEqual([
        [['large'], 1, 0, 200n],
        [['small'], 3, 1, 60n],
      ]);
      expect(asked.total).toMatchObject({ requests: 4, serverErrors: 1, output: 130, cost: 260n });
      expect(asked.totals.map((sums) => sums?.cost)).toEqual([40n, 220n]);
      expect(asked.groups.map(({ buckets }) => buckets?.map((sums) => sums?.cost ?? null) ?? null)).toEqual([
        [null, 200n],
        null,
      ]);
    });

    test('counts the calls of a condition only, and of the tenant', async () => {
      const requests = async (changes: Partial<UsageQuestion>) =>
        (await usage.readUsage({ asked: { ...QUESTION, ...changes } })).asked.total.requests;
      expect(await requests({ condition: { ...ANY, model: 'small' } })).toBe(3);
      expect(await requests({ condition: { ...ANY, session: NONE } })).toBe(3);
      expect(await requests({ fromMs: START_MS + HOUR_MS, buckets: [START_MS + HOUR_MS] })).toBe(3);
      expect(await requests({ tenant: { account: 'other', workspaces: null } })).toBe(0);
      expect(await requests({ tenant: { account: 'default', workspaces: [] } })).toBe(0);
    });

    test('usage, records and ledger prove the same amount', async () => {
      const { fromMs, toMs, timeZone, timeMsMax } = QUESTION;
      expect(await usage.proveUsage({ tenant: TENANT, fromMs, toMs, timeZone, timeMsMax })).toMatchObject({
        usage: 260n,
        records: 260n,
        ledger: 260n,
        calls: 4,
        chain: { holds: true },
      });
    });

    test('lists calls, newest first, page by page', async () => {
      const first = await usage.readLogs({ ...LOGS, limit: 3 });
      expect(first.calls.map(({ request_id }) => request_id)).toEqual(ids.slice(1).reverse());
      const second = await usage.readLogs({ ...LOGS, limit: 3, beforeId: first.next });
      expect(second.calls.map(({ request_id }) => request_id)).toEqual(ids.slice(0, 1));
      expect(second.next).toBeNull();
      const failed = await usage.readLogs({ ...LOGS, outcome: 'server_error' });
      expect(failed.calls.map(({ request_id }) => request_id)).toEqual(ids.slice(1, 2));
    });

    test('groups the failed calls of a tenant by their reason, which is a filter', async () => {
      const asked = {
        tenant: TENANT,
        condition: ANY,
        outcome: null,
        fromMs: START_MS,
        toMs: QUESTION.toMs,
        timeMsMax: TIME_MS_MAX,
      };
      const { groups, ...rest } = await usage.readReasons(asked);
      expect(rest).toEqual({ requests: 1, otherGroups: 0, countedFromMs: null });
      expect(groups.map(({ requests, newest, oldestMs }) => [requests, newest.request_id, oldestMs])).toEqual([
        [1, ids[1] ?? '', START_MS + HOUR_MS],
      ]);
      expect(groups[0]?.newest.reason).toEqual(REASON);
      const listed = async (reason: string) =>
        (await usage.readLogs({ ...LOGS, reason })).calls.map(({ request_id }) => request_id);
      expect(await listed('provider_error')).toEqual(ids.slice(1, 2));
      expect(await listed(groups[0]?.group ?? '')).toEqual(ids.slice(1, 2));
      expect(await listed('budget_spent')).toEqual([]);
      const none = { requests: 0, otherGroups: 0, countedFromMs: null, groups: [] };
      expect(await usage.readReasons({ ...asked, tenant: { account: 'other', workspaces: null } })).toEqual(none);
      expect(await usage.readReasons({ ...asked, tenant: { account: 'default', workspaces: [] } })).toEqual(none);
      expect(await usage.readReasons({ ...asked, toMs: START_MS + HOUR_MS })).toEqual(none);
    });

    test('adds up the attempts that did not answer, of all accounts', async () => {
      const range = { fromMs: START_MS + HOUR_MS, toMs: START_MS + 3 * HOUR_MS, timeMsMax: TIME_MS_MAX };
      const lab = { provider: 'lab', model: 'm', input: 0 };
      expect(await usage.readAttemptCosts(range)).toEqual([
        { ...lab, billed: 'yes', attempts: 2, unpriced: 0, output: 14, cost: 28n },
        { ...lab, billed: 'maybe', attempts: 4, unpriced: 2, output: 26, cost: 16n },
      ]);
      expect(await usage.readAttemptCosts({ ...range, fromMs: START_MS, toMs: START_MS + HOUR_MS })).toEqual([]);
    });

    test('a call has its entries, for its own tenant only', async () => {
      const [id = ''] = ids;
      expect(await usage.readCall(TENANT, id)).toMatchObject({
        call: { request_id: id },
        entries: [
          { kind: 'hold', amount: 1_000n },
          { kind: 'post', amount: 20n, released: 980n },
        ],
      });
      expect(await usage.readCall({ account: 'other', workspaces: null }, id)).toBeNull();
      expect(await usage.readCall(TENANT, requestIdFloor(1))).toBeNull();
    });
  });
}
