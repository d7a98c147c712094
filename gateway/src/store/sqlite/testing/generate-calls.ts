/**
 * Fills the data folder given as its first argument with as many calls as its second says, each held and settled, and
 * prints what one cost the request thread and the whole process. For measuring the ledger and its proof.
 */
import { performance } from 'node:perf_hooks';
import { newRequestId } from '../../../lib/request-id.ts';
import { heldCall, settledCall } from '../../testing/sample-call.ts';
import { openStore } from '../open-store.ts';

const [dataDir = '', countText = '10000', atOnceText = '200'] = process.argv.slice(2);
const store = await openStore({ dataDir });
const calls = Number(countText);
let begun = 0;

async function runCalls(): Promise<void> {
  while (begun < calls) {
    const id = newRequestId();
    begun += 1;
    // Before the wait: after it, all concurrent calls would have the same number.
    const output = begun % 1_000;
    await store.ledger.hold(heldCall(id, 3_000n));
    await store.ledger.settle(settledCall(id, { held: 3_000n, output }));
  }
}

const startMs = performance.now();
const cpu = process.cpuUsage();
await Promise.all(Array.from({ length: Number(atOnceText) }, runCalls));
const used = process.cpuUsage(cpu);
const wallMs = performance.now() - startMs;
await store.close();
process.stdout.write(
  `${calls} calls in ${Math.round(wallMs)} ms: ${((used.user + used.system) / calls).toFixed(1)} µs of CPU each\n`,
);
