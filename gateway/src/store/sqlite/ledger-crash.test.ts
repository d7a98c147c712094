/**
 * Tests the guarantees about money when the process is killed at each named point of the writer's work, recovery
 * included.
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
async function runUntilKilled(
  dataDir: string,
  round: string,
  point: Failpoint,
  passing: number,
  program = 'run-calls-until-killed.ts',
): Promise<Said> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'testing', program), dataDir, round], {
    stdout: 'pipe',
    stderr: 'inherit',
    env: { ...process.env, TOLLGATE_TEST_FAILPOINT: `${point}:${passing}` },
  });
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

/** The sample is every second one: each starts two processes. */
const AT_WORK = FAILPOINTS.filter((point) => !/^(recovery|fold)/.test(point) && !point.includes('spool')).filter(
  (_, nth) => process.env.TOLLGATE_EXHAUSTIVE === '1' || nth % 2 === 0,
);
const IN_SPOOL = FAILPOINTS.filter((point) => point.includes('spool'));
/** The failpoints that a call passes on its way from the spool into the ledger. */
const IN_DRAINING = ['after-hold-insert', 'after-extend', 'after-release', 'after-post', 'after-record'] as const;
const SPOOLING = 'spool-calls-until-killed.ts';
const IN_RECOVERY = FAILPOINTS.filter((point) => point.startsWith('recovery'));

describe('kill -9', () => {
  test.each(AT_WORK)(
    '%s: nothing acknowledged is lost, nothing is charged twice',
    async (point) => {
      const folder = newFolder();
      const batchwise = /begin|balances|commit/.test(point);
      const said = [
        await runUntilKilled(folder, 'a', point, batchwise ? 12 : 90),
        await runUntilKilled(folder, 'b', point, batchwise ? 5 : 31),
      ];
      expect(said[0]?.held.length).toBeGreaterThan(15);
      await judge(folder, said);
    },
    20_000,
  );

  test.each(IN_SPOOL)(
    '%s: what was spooled is in the ledger after the next start, once',
    async (point) => {
      const folder = newFolder();
      // A settlement that is drained but not yet removed from the file is drained again at the next start.
      const again = point === 'after-spool-drain' ? 2 : 1;
      const said = [
        await runUntilKilled(folder, 'a', point, 1, SPOOLING),
        await runUntilKilled(folder, 'b', point, again, SPOOLING),
      ];
      for (const { held, settled } of said) {
        expect(held).toHaveLength(40);
        expect(settled.size).toBe(point === 'after-spool-drain' ? 40 : 0);
      }
      const ended = await judge(folder, said);
      // A settlement that is not yet written is lost with its process, and was never acknowledged.
      if (point === 'before-spool-append') expect(ended).toBe(80);
      else expect(ended).toBeLessThan(80);
    },
    20_000,
  );

  test.each(IN_DRAINING)(
    '%s, while the spool is drained at a start: the next one drains it whole',
    async (point) => {
      const folder = newFolder();
      const said = [await runUntilKilled(folder, 'a', 'after-spool-drain', 1, SPOOLING)];
      said.push(await runUntilKilled(folder, 'b', 'after-spool-append', 2, SPOOLING));
      const cut = await runUntilKilled(folder, 'c', point, point === 'after-hold-insert' ? 1 : 3, SPOOLING);
      expect(cut.held).toEqual([]);
      expect(await judge(folder, said)).toBe(0);
    },
    20_000,
  );

  test.each(IN_RECOVERY)(
    '%s: the next start recovers it whole',
    async (point) => {
      const folder = newFolder();
      const said = [await runUntilKilled(folder, 'a', 'after-post', 40)];
      said.push(await runUntilKilled(folder, 'b', point, point === 'recovery-call-ended' ? 3 : 1));
      said.push(await runUntilKilled(folder, 'c', point, 1));
      expect(await judge(folder, said)).toBeGreaterThan(2);
    },
    20_000,
  );
});
