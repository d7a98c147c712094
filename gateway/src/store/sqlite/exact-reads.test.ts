/**
 * Tests that every reader of money and requests knows of all that the journal was given before the question, also of ends
 * that are not durable yet, while other calls go on.
 */
import { expect, test } from 'bun:test';
import { newRequestId } from '../../lib/request-id.ts';
import type { UsageQuestion } from '../ports/usage.ts';
import { heldCall, settledCall } from '../testing/sample-call.ts';
import { bind, randomOf, totalOf } from '../testing/sample-claims.ts';
import { sampleRecord } from '../testing/sample-record.ts';
import { temporaryFolders } from '../testing/temporary-folder.ts';
import { openStore } from './open-store.ts';

const newFolder = temporaryFolders();
const MOMENTS = process.env.TOLLGATE_EXHAUSTIVE === '1' ? 1_000 : 60;
const HOUR_MS = 3_600_000;
const HELD = 100n;
/** A moment's calls of others: more than the questions take to answer, without a backlog that grows. */
const OTHERS = 20;

test(`at ${MOMENTS} moments all sums are those of the calls that ended before`, async () => {
  const store = await openStore({ dataDir: newFolder() });
  const { ledger, recorder } = store;
  const random = randomOf(Number(process.env.TOLLGATE_SEED ?? 1));
  const startMs = Date.now();
  const range = { fromMs: startMs - HOUR_MS, toMs: startMs + 24 * HOUR_MS };
  const question: UsageQuestion = {
    tenant: { account: 'default', workspaces: null },
    condition: {
      model: null,
      provider: null,
      keys: null,
      workspace: null,
      end_user: null,
      session: null,
      protocol: null,
    },
    ...range,
    buckets: [range.fromMs],
    timeZone: 'UTC',
    by: [],
    owners: null,
    latencies: 'none',
    rankedBy: 'cost',
    drawn: 0,
    timeMsMax: 20_000,
  };
  /** Of other subjects: calls that go on while questions are answered, so many for each moment. */
  let allowed = 0;
  let isBusy = true;
  await store.policies.save([
    {
      of: 'account',
      isNew: true,
      account: {
        id: 'busy',
        name: 'Busy',
        mode: 'postpaid',
        markUpPpm: 0,
        timeZone: 'UTC',
        holds: null,
        createdAtMs: 1,
      },
    },
  ]);
  const others = (async () => {
    while (isBusy) {
      if (allowed-- <= 0) {
        await Bun.sleep(1);
        continue;
      }
      const id = newRequestId();
      await ledger.hold(heldCall(id, HELD, 'busy'));
      await ledger.settle(settledCall(id, { held: HELD, output: 1, account: 'busy', changes: { at_ms: Date.now() } }));
    }
  })();
  let calls = 0;
  let charged = 0n;
  let cost = 0n;
  let ofKey = 0;
  for (let moment = 0; moment < MOMENTS; moment++) {
    const ends: Promise<void>[] = [];
    // The records of one key are read whole, so no key has many.
    const key_id = `own-${Math.floor(moment / 50)}`;
    if (moment % 50 === 0) ofKey = 0;
    allowed = OTHERS;
    for (let left = random(8); left > 0; left--) {
      const id = newRequestId();
      const changes = { at_ms: Date.now(), key_id };
      calls += 1;
      ofKey += 1;
      if (random(4) === 0) {
        ends.push(recorder.append(sampleRecord(id, { ...changes, cost_nano_usd: '0', usage_source: 'void' })));
        continue;
      }
      const { draft, amount } = heldCall(id, HELD);
      const settlement = settledCall(id, { held: HELD, output: 1 + random(60), changes });
      charged += settlement.posted;
      cost += settlement.posted + settlement.writtenOff;
      ends.push(
        ledger.hold({ draft: { ...draft, at_ms: changes.at_ms, stream: random(2) === 0 }, amount }),
        ledger.settle(settlement),
      );
    }
    // Asked in the same turn: nothing of this is durable yet.
    const [balances, usage, statement, spent, records] = await Promise.all([
      ledger.readBalances('default'),
      store.usage.readUsage({ all: question, none: null }),
      store.statements.readStatement('default', range, null),
      store.spends.readSettled(bind(totalOf(1n), { kind: 'account', id: 'default' }), () => [], []),
      store.calls.readCalls({ limit: 100_000, sinceMs: null, requestId: null, keyId: key_id }),
    ]);
    const billed = statement.charges.reduce((sum, { amount }) => sum + amount, 0n);
    const { total } = usage.all;
    expect([balances[0]?.charged, billed, spent, records.length, total.requests]).toEqual([
      charged,
      charged,
      charged,
      ofKey,
      calls,
    ]);
    expect(total.cost).toBe(cost);
    expect([balances[0]?.held, balances[0]?.available, statement.closing]).toEqual([0n, -charged, -charged]);
    await Promise.all(ends);
    if (random(5) === 0) await Bun.sleep(random(300));
  }
  isBusy = false;
  await others;
  await store.close();
  expect(calls).toBeGreaterThan(MOMENTS);
}, 600_000);
