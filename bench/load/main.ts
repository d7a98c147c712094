/** Owns the load generator as a process of its own: one LoadPlan as JSON on standard input, one LoadResult on standard output. */
import type { LoadPlan } from './load-plan.ts';
import { runLoad } from './run-load.ts';

const plan: LoadPlan = await Bun.stdin.json();
process.stdout.write(`${JSON.stringify(await runLoad(plan))}\n`);
process.exit(0);
