/**
 * Tests the guarantees about money when the process is killed at each named point of the work of journal and
 * writer, at a start too.
 */
import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { recompute } from '../testing/sample-call.ts';
import { temporaryFolders } from '../testing/temporary-folder.ts';
import { databasePath } from './database/connection.ts';
import { FAILPOINTS, type Failpoint } from './failpoints.ts';
import { openStore } from './open-store.ts';
import { proveLedger } from './prove/prove-ledger.ts';

const newFolder = temporaryFolders();

interface Said {
  readonly held: string[];
  readonly settled: Map<string, string>;
  readonly moved: string[];
}

/** Runs calls until the process is killed at the failpoint; returns what it had acknowledged by then. */
async function runUntilKilled(dataDir: string, round: string, point: Failpoint, passing: number): Promise<Said> {
  const child = Bun.spawn(
    [process.execPath, join(import.meta.dir, 'testing/run-calls-until-killed.ts'), dataDir, round],
    {
      stdout: 'pipe',
      stderr: 'inherit',
      env: { ...process.env, TOLLGATE_TEST_FAILPOINT: `${point}:${passing}` },
    },
  );
  const text = await child.stdout.text();
  await child.exited;
  expect(child.signalCode).toBe('SIGKILL');
  const said: Said = { held: [], settled: new Map(), moved: [] };
  for (const line of text.split('\n').slice(0, -1)) {
    const { held, settled, cost, moved } = JSON.parse(line);
    if (held !== undefined) said.held.push(held);
    if (settled !== undefined) said.settled.set(settled, cost);
    if (moved !== undefined) said.moved.push(moved);
  }
  return said;
}

/**
 * Restarts and checks the store against what was acknowledged; returns how many calls recovery had to end, then or
 * before.
 */
async function judge(dataDir: string, said: readonly Said[]): Promise<number> {
  const store = await openStore({ dataDir });
  const records = await store.calls.readCalls({ limit: 1_000_000, sinceMs: null, requestId: null, keyId: null });
  const [balance] = await store.ledger.readBalances();
  await store.close();
  expect(proveLedger(databasePath(dataDir), recompute).problem).toBeNull();
  expect(balance?.held).toBe(0n);
  const byId = new Map(records.map((record) => [record.request_id, record]));
  expect(byId.size).toBe(records.length);
  for (const { held, settled } of said) {
    for (const [id, cost] of settled) expect(byId.get(id)).toMatchObject({ status: 200, cost_nano_usd: cost });
    for (const id of held) expect(byId.has(id)).toBe(true);
  }
  // Unacknowledged operations that were stored may be there too.
  const moved = said.reduce((count, each) => count + each.moved.length, 0);
  expect(balance?.toppedUp ?? 0n).toBeGreaterThanOrEqual(BigInt(10 * moved));
  expect(balance?.charged).toBe(sum(records.map(({ cost_nano_usd }) => cost_nano_usd)) - (balance?.writtenOff ?? 0n));
  return records.filter(({ error }) => error === 'gateway_crashed').length;
}

function sum(amounts: readonly (string | null)[]): bigint {
  return amounts.reduce((total, amount) => total + BigInt(amount ?? 0), 0n);
}

/** The sample is every sixth one: each starts two processes. */
const AT_WORK = FAILPOINTS.filter((point) =>
  /^(journal-(before|after)-(block|sync)|journal-after-sync|ingest)/.test(point),
).filter((_, nth) => process.env.TOLLGATE_EXHAUSTIVE === '1' || nth % 6 === 0);
/** A start opens a segment, ends what is open, and ingests it. */
const AT_START = FAILPOINTS.filter((point) => /^(recovery|ingest|journal)/.test(point)).filter(
  (_, nth) => process.env.TOLLGATE_EXHAUSTIVE === '1' || nth % 6 === 1,
);

/** How many are open at a kill differs from run to run: only their sum is certain. */
let endedByStarts = 0;

describe('kill -9', () => {
  test.each(AT_WORK)('%s: nothing acknowledged is lost, nothing is charged twice', async (point) => {
    const folder = newFolder();
    const said = [await runUntilKilled(folder, 'a', point, 25), await runUntilKilled(folder, 'b', point, 7)];
    expect(said[0]?.held.length).toBeGreaterThan(15);
    await judge(folder, said);
  });

  test.each(AT_START)('%s at a start: the next one recovers everything', async (point) => {
    const folder = newFolder();
    const said = [await runUntilKilled(folder, 'a', 'journal-after-sync', 40)];
    said.push(await runUntilKilled(folder, 'b', point, 1));
    said.push(await runUntilKilled(folder, 'c', point, 1));
    endedByStarts += await judge(folder, said);
  });

  test('the starts had calls to end', () => {
    expect(endedByStarts).toBeGreaterThan(2 * AT_START.length);
  });
});
