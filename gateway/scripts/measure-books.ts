/**
 * Measures a data folder with many calls: how long reading a budget's window takes and blocks the request thread, how
 * long the verification takes, and how a backup slows concurrent calls. Run as `bun gateway/scripts/measure-books.ts
 * DIR [calls]`: fills an empty folder first.
 */
import { existsSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { prove } from '../src/cli/commands/data.ts';
import { newRequestId } from '../src/lib/request-id.ts';
import type { Store } from '../src/store/ports/store.ts';
import { backupDatabase } from '../src/store/sqlite/database/backup-database.ts';
import { databasePath } from '../src/store/sqlite/database/connection.ts';
import { openStore } from '../src/store/sqlite/open-store.ts';
import { heldCall, settledCall } from '../src/store/testing/sample-call.ts';
import { bind, totalOf } from '../src/store/testing/sample-claims.ts';

const ROUNDS = 5;
const [dataDir, calls = '1000000', only] = process.argv.slice(2);
if (dataDir === undefined)
  throw new Error('found no data folder; run as bun gateway/scripts/measure-books.ts DIR [calls]');
const path = databasePath(dataDir);

if (only === 'backup') {
  const startMs = performance.now();
  const bytes = backupDatabase(path, join(dataDir, 'measured-backup.db'), () => undefined);
  say(`backup of ${Math.round(bytes / 1e6)} MB: ${Math.round(performance.now() - startMs)} ms`);
} else await measure(dataDir);

async function measure(folder: string): Promise<void> {
  if (!existsSync(path)) await run('../src/store/sqlite/testing/generate-calls.ts', folder, calls, '1000');
  const store = await openStore({ dataDir: folder });
  await measureSpends(store);
  await measureBackup(store, folder);
  await store.close();
  measureProof();
}

async function measureSpends(store: Store): Promise<void> {
  // The baseline: how long turns take on this machine with its other load.
  const nothing = await longestTurn(new Promise((resolve) => setTimeout(resolve, 5_000)));
  say(`nothing read for 5,000 ms: ${nothing}`);
  for (let round = 0; round < ROUNDS; round++) {
    const startMs = performance.now();
    const keys = Array.from({ length: 100 }, (_, index) => bind(totalOf(1n), { id: `key_${index}` }));
    const reading = Promise.all(keys.map((binding) => store.spends.readSettled(binding, () => [], [])));
    const turn = await longestTurn(reading);
    const spent = (await reading).reduce((sum, one) => sum + one, 0n);
    say(`spends of 100 keys (${spent} nano-USD): ${sinceMs(startMs)} ms, ${turn}`);
  }
}

/** Calls continue in this process while another one copies; the copy's own verification is measured separately. */
async function measureBackup(store: Store, folder: string): Promise<void> {
  const copy = join(folder, 'measured-backup.db');
  rmSync(copy, { force: true });
  const before = await settleUntil(store, new Promise((resolve) => setTimeout(resolve, 3_000)));
  const during = await settleUntil(store, run('./measure-books.ts', folder, calls, 'backup'));
  say(
    `a request's hold and settlement, worst: ${before.toFixed(1)} ms alone, ${during.toFixed(1)} ms during the backup`,
  );
  rmSync(copy);
}

function measureProof(): void {
  const startMs = performance.now();
  const cpu = process.cpuUsage();
  const { entries, calls: ended, problem } = prove(path);
  const { user, system } = process.cpuUsage(cpu);
  const cpuMs = Math.round((user + system) / 1_000);
  const megabytes = Math.round(statSync(path).size / 1e6);
  say(`proof of ${entries} entries, ${ended} requests, ${megabytes} MB: ${sinceMs(startMs)} ms, ${cpuMs} ms of CPU`);
  if (problem !== null) throw new Error(problem.message);
}

/** Runs calls one after another in ten lanes; returns the longest duration of a call, ms. */
async function settleUntil(store: Store, end: Promise<unknown>): Promise<number> {
  let ended = false;
  let worstMs = 0;
  const lane = async () => {
    while (!ended) {
      const id = newRequestId();
      const startMs = performance.now();
      await store.ledger.hold(heldCall(id, 3_000n));
      await store.ledger.settle(settledCall(id, { held: 3_000n, output: 7 }));
      worstMs = Math.max(worstMs, performance.now() - startMs);
    }
  };
  const lanes = Promise.all(Array.from({ length: 10 }, lane));
  await end;
  ended = true;
  await lanes;
  return worstMs;
}

/** CPU time of this thread alone: delays by other processes appear only in the first number. */
async function longestTurn(during: Promise<unknown>): Promise<string> {
  let going = true;
  const stop = () => {
    going = false;
  };
  during.then(stop, stop);
  const longest = { lateMs: 0, cpuMs: 0 };
  while (going) {
    const startMs = performance.now();
    const cpu = process.threadCpuUsage();
    await new Promise((resolve) => setTimeout(resolve, 1));
    const { user, system } = process.threadCpuUsage(cpu);
    longest.lateMs = Math.max(longest.lateMs, performance.now() - startMs - 1);
    longest.cpuMs = Math.max(longest.cpuMs, (user + system) / 1_000);
  }
  return `longest turn ${longest.lateMs.toFixed(1)} ms, ${longest.cpuMs.toFixed(1)} ms of it own CPU`;
}

async function run(program: string, ...given: string[]): Promise<void> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, program), ...given], { stdio: ['ignore', 2, 2] });
  if ((await child.exited) !== 0) throw new Error(`${program} failed`);
}

function sinceMs(startMs: number): number {
  return Math.round(performance.now() - startMs);
}

function say(words: string): void {
  process.stdout.write(`${words}\n`);
}
