/** Checks rolling up where the process is killed in the middle of it: each call is summed up once. */
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { databasePath, openReadConnection } from '../connection.ts';
import { FAILPOINTS } from '../failpoints.ts';
import { temporaryFolders } from '../testing/temporary-folder.ts';
import { openWriterDatabase } from '../writer-database.ts';
import { proveUsage } from './prove-usage.ts';

const newFolder = temporaryFolders();
const FOLDING = FAILPOINTS.filter((point) => point.startsWith('fold'));
const QUESTION = {
  tenant: { account: 'default', workspaces: null },
  fromMs: 0,
  toMs: Date.UTC(2026, 0, 1),
  timeZone: 'UTC',
  timeMsMax: 30_000,
};

async function runUntilKilled(dataDir: string, point: string, passing: number, round: number): Promise<void> {
  const program = join(import.meta.dir, '../testing/fold-until-killed.ts');
  const child = Bun.spawn([process.execPath, program, dataDir, point, `${passing}`, `${round}`], { stderr: 'inherit' });
  await child.exited;
  expect(child.signalCode).toBe('SIGKILL');
}

function prove(dataDir: string) {
  const reading = openReadConnection(databasePath(dataDir));
  try {
    return proveUsage(reading, QUESTION);
  } finally {
    reading.close();
  }
}

test.each(FOLDING)(
  'kill -9 at %s: usage, records and ledger stay the same',
  async (point) => {
    const folder = newFolder();
    for (const round of [0, 1, 2]) {
      await runUntilKilled(folder, point, 3 + round, round);
      const { usage, records, ledger, calls } = prove(folder);
      expect([usage, usage]).toEqual([records, ledger]);
      expect(calls).toBeGreaterThan(250 * (round + 1));
    }
    const writer = openWriterDatabase(
      { path: databasePath(folder), databaseBytesMax: null, epoch: null },
      1,
      () => undefined,
    );
    while (writer.foldUsage());
    writer.close();
    const { usage, records } = prove(folder);
    expect(usage).toBe(records);
  },
  30_000,
);
