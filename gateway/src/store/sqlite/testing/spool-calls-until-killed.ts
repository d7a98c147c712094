/**
 * Holds calls in the data folder given as its first argument, in a separate process, fills the database, ends the
 * calls, gives it space again, and dies at a failpoint on the way. Prints what was acknowledged as
 * `run-calls-until-killed.ts` does. For tests.
 */

import { heldCall, settledCall } from '../../testing/sample-call.ts';
import { openStore } from '../open-store.ts';
import { armedReach } from './armed-reach.ts';
import { FILLED_BYTES, fillDatabase, giveRoom } from './fill-database.ts';

const [dataDir = '', round = ''] = process.argv.slice(2);
const CALLS = 40;
const HELD = 50n;

function say(said: object): void {
  process.stdout.write(`${JSON.stringify(said)}\n`);
}

// The previous process may have died while the database was full.
giveRoom(dataDir);
const store = await openStore({
  dataDir,
  databaseBytesMax: FILLED_BYTES,
  writerProgram: new URL('./failpoint-writer.ts', import.meta.url),
  reach: armedReach(),
});
const { ledger } = store;
const ids = Array.from({ length: CALLS }, (_, number) => `${round}-${number}`);
for (const id of ids) {
  await ledger.hold(heldCall(id, HELD));
  say({ held: id });
}
await fillDatabase(dataDir, store).catch(() => undefined);

async function end(id: string, number: number): Promise<void> {
  let held = HELD;
  if (number % 3 === 0) {
    await ledger.extend(id, 1, 25n);
    held += 25n;
  }
  const settlement = settledCall(id, { held, output: 1 + (number % 40) });
  await ledger.settle(settlement);
  say({ settled: id, cost: settlement.record.cost_nano_usd });
}

const unheld = settledCall(`${round}-unheld`, { held: 0n, output: 7 });
await Promise.all([...ids.map(end), ledger.settleUnheld(unheld)]);
giveRoom(dataDir);
// The failpoint ends this process, here or earlier.
setInterval(() => undefined, 1_000);
