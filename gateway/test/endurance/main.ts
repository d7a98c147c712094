/**
 * Runs one endurance proof: `main.ts NAME [--sample] [--seed N]`. Prints what it found; exits with 1 if that is not what
 * must hold. A sample is shorter, and its bounds of memory and latency leave room for a busy machine.
 */
import { proveIdleCloses, proveSilence } from './connections.ts';
import { proveCrowd, proveOverload, proveSlope } from './overload.ts';
import { proveDrain, proveRestarts } from './restarts.ts';

export interface Proven {
  readonly words: string;
  /** Empty: proven. */
  readonly problems: readonly string[];
}

type Run = (isSample: boolean, seed: number) => Promise<Proven>;

const RUNS: Readonly<Record<string, Run>> = {
  'idle-closes': (isSample, seed) => proveIdleCloses(isSample ? 6_000 : 100_000, seed),
  silence: (isSample) => proveSilence(isSample ? 25 : 360),
  drain: (isSample) => (isSample ? proveDrain(200, 3, 15) : proveDrain(200, 10, 180)),
  restarts: (isSample) => (isSample ? proveRestarts(3, 10_000) : proveRestarts(10, 2_000)),
  overload: (isSample) => proveOverload(isSample ? 6 : 30),
  slope: (isSample) => (isSample ? proveSlope(60_000, 300) : proveSlope(4_000_000, 1)),
  crowd: (isSample) => (isSample ? proveCrowd(1_000, 50, 8, 100) : proveCrowd(10_000, 300, 60, 20)),
};

const [name = '', ...flags] = process.argv.slice(2);
const run = RUNS[name];
if (run === undefined) {
  process.stderr.write(`found ${JSON.stringify(name)}, expected one of ${Object.keys(RUNS).join(', ')}\n`);
  process.exit(2);
}
const seed = Number(flags[flags.indexOf('--seed') + 1] ?? 1);
const { words, problems } = await run(flags.includes('--sample'), Number.isInteger(seed) ? seed : 1);
process.stdout.write(`  ${name}: ${words}\n`);
for (const problem of problems.slice(0, 10)) process.stdout.write(`  ${name}: PROBLEM: ${problem}\n`);
process.exit(problems.length === 0 ? 0 : 1);
