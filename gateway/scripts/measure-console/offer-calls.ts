/**
 * Calls a gateway at an even pace until SIGTERM, and then prints the durations. Run as `bun offer-calls.ts URL KEY
 * CALLS_PER_SECOND`. Fails where a call fails.
 */
import { driveCalls } from './drive-calls.ts';
import { quantiles } from './quantiles.ts';

const STEP_MS = 1_000;

const [url = '', key = '', perSecond = ''] = process.argv.slice(2);
let isOver = false;
process.on('SIGTERM', () => {
  isOver = true;
});
const tookMs: number[] = [];
while (!isOver) tookMs.push(...(await driveCalls(url, key, Number(perSecond), STEP_MS)));
const { p50, p95, p99 } = quantiles(tookMs);
process.stdout.write(`calls beside the routes: ${tookMs.length}, p50 ${p50} ms, p95 ${p95} ms, p99 ${p99} ms\n`);
