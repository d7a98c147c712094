/**
 * Holds, extends and settles calls in the data folder given as its first argument, in a separate process, with the
 * writer that dies at a failpoint. Prints what was acknowledged, one JSON object per line: `held`, `settled` with its
 * cost, `moved`. For tests.
 */
import { heldCall, settledCall, usageOf } from '../../testing/sample-call.ts';
import { openStore } from '../open-store.ts';

const [dataDir = '', round = ''] = process.argv.slice(2);
const { ledger, recovered } = await openStore({
  dataDir,
  writerProgram: new URL('./failpoint-writer.ts', import.meta.url),
});
let count = 0;

function say(said: object): void {
  process.stdout.write(`${JSON.stringify(said)}\n`);
}

async function runCalls(): Promise<never> {
  for (;;) {
    const number = count++;
    const id = `${round}-${number}`;
    await ledger.hold(heldCall(id, 50n));
    say({ held: id });
    let held = 50n;
    if (number % 3 === 0) {
      await ledger.extend(id, 1, 25n);
      held += 25n;
    }
    if (number % 2 === 0) await ledger.checkpoint({ call_id: id, usage: usageOf(10), cost: 20n });
    if (number % 7 === 0) {
      await ledger.topup({ id: `m${id}`, account: 'default', amount: 10n, note: null, at_ms: 1 });
      say({ moved: `m${id}` });
    }
    const settlement = settledCall(id, { held, output: number % 40 });
    await ledger.settle(settlement);
    say({ settled: id, cost: settlement.record.cost_nano_usd });
  }
}

say({ recovered });
await Promise.all(Array.from({ length: 16 }, runCalls));
