/**
 * Stores calls and rolls them up in the data folder given as its first argument, in a separate process, and dies at the
 * failpoint given as its second, at the passing given as its third. For tests.
 */

import { randomCall, seededRandom } from '../../testing/random-calls.ts';
import { databasePath } from '../database/connection.ts';
import { openWriterDatabase } from '../writer/writer-database.ts';
import { fillCalls } from './fill-calls.ts';

const [dataDir = '', armed = '', passing = '1', round = '0'] = process.argv.slice(2);
let left = Number(passing);
const random = seededRandom(Number(round) + 1);
const VARIETY = { accounts: ['default'], keysPerAccount: 3, models: 4, endUsersPerAccount: 9, sessionMs: 600_000 };
const START_MS = Date.UTC(2025, 5, 1);

const place = { path: databasePath(dataDir), databaseBytesMax: null, epoch: null };
const writer = openWriterDatabase(place, START_MS, (point) => {
  if (point !== armed) return;
  left -= 1;
  if (left === 0) process.kill(process.pid, 'SIGKILL');
});
for (let batch = 0; ; batch++) {
  const first = Number(round) * 100_000 + batch * 100;
  // Each round goes back in time, so that its calls arrive late.
  const atMs = START_MS + batch * 60_000 - Number(round) * 30_000;
  fillCalls(
    writer,
    Array.from({ length: 100 }, (_, nth) => randomCall(random, VARIETY, atMs + nth, first + nth)),
  );
  writer.foldUsage({ stepMs: 0 });
}
