/**
 * Holds, extends and settles calls in the data folder given as its first argument, in a separate process that dies at a
 * failpoint. Prints what was acknowledged, one JSON object per line: `held`, `settled` with its cost, `moved`. Every
 * second call does not stream: only its settlement is acknowledged. For tests.
 */
import { heldCall, settledCall, usageOf } from '../../testing/sample-call.ts';
import { armFailpoints } from '../failpoints.ts';
import { openStore } from '../open-store.ts';
import { armedReach } from './armed-reach.ts';

const [dataDir = '', round = ''] = process.argv.slice(2);
armFailpoints(armedReach());
const { ledger, calls, recovered } = await openStore({
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
    const { draft, amount } = heldCall(id, 50n);
    const stream = number % 2 === 0;
    await ledger.hold({ amount, draft: { ...draft, stream } });
    if (stream) say({ held: id });
    let held = amount;
    if (number % 3 === 0) {
      await ledger.extend(id, 1, 25n);
      say({ held: id });
      held += 25n;
    }
    if (number % 4 === 0) await ledger.checkpoint({ call_id: id, usage: usageOf(10), cost: 20n });
    if (number % 7 === 0) {
      await ledger.topup({ id: `m${id}`, account: 'default', amount: 10n, note: null, at_ms: 1 });
      say({ moved: `m${id}` });
    }
    const settlement = settledCall(id, { held, output: number % 40 });
    await ledger.settle(settlement);
    say({ settled: id, cost: settlement.record.cost_nano_usd });
    // Every read ingests.
    if (number % 11 === 0) await calls.readCalls({ limit: 1, sinceMs: null, requestId: id, keyId: null });
  }
}

say({ recovered });
await Promise.all(Array.from({ length: 16 }, runCalls));
