/**
 * Runs the load generator as a separate process: reads one LoadPlan as JSON from standard input, writes one LoadResult
 * to standard output.
 */
import type { LoadPlan } from './load-plan.ts';
import { runLoad } from './run-load.ts';

const plan: LoadPlan = await Bun.stdin.json();
process.stdout.write(`${JSON.stringify(await runLoad(plan))}\n`);
process.exit(0);
