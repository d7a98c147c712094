/**
 * Runs `npm run prove -- crash [--rounds N] [--failpoints N|all] [--seed N]`: the crash loop, then failpoints, drawn by
 * the seed. Prints both tallies; exits with status 1 at the first problem and then keeps that data folder.
 */
import { parseArgs } from 'node:util';
import { buildConsole } from '../../src/app/build-console.ts';
import { startFakeUpstream } from '../fake-upstream/start-fake-upstream.ts';
import { emptyTally, runCrashLoop, type Tally } from './crash-loop.ts';
import { startChances } from './start-chances.ts';
import { AT_WORK, dieAtWork, dieInRecovery, IN_RECOVERY } from './sweep-failpoints.ts';

const ROUNDS_DEFAULT = 1_000;
const SAY_EVERY_ROUNDS = 50;

const { values } = parseArgs({
  options: { rounds: { type: 'string' }, failpoints: { type: 'string' }, seed: { type: 'string' } },
});
const rounds = wholeNumber('rounds', values.rounds ?? String(ROUNDS_DEFAULT));
const seed = wholeNumber('seed', values.seed ?? String(Date.now() % 1_000_000));
const failpoints = values.failpoints === undefined || values.failpoints === 'all' ? null : values.failpoints;
const deaths = drawDeaths(failpoints === null ? null : wholeNumber('failpoints', failpoints));

function wholeNumber(name: string, text: string): number {
  if (/^\d{1,7}$/.test(text)) return Number(text);
  process.stderr.write(`--${name}: found ${JSON.stringify(text)}, expected a whole number, such as 30\n`);
  process.exit(2);
}

/** A kill of a gateway at a failpoint, at work or in recovery. */
type Death = (swept: Tally) => Promise<void>;

/** `count` failpoints drawn by the seed; null: all of them. */
function drawDeaths(count: number | null): Death[] {
  const all: Death[] = [
    ...AT_WORK.map(
      (point): Death =>
        (swept) =>
          dieAtWork(fake, swept, point, seed),
    ),
    ...IN_RECOVERY.map(
      (point): Death =>
        (swept) =>
          dieInRecovery(fake, swept, point),
    ),
  ];
  if (count === null) return all;
  const chances = startChances(seed);
  return Array.from({ length: Math.min(count, all.length) }, () =>
    all.splice(chances.whole(0, all.length - 1), 1),
  ).flat();
}

function say(what: string, tally: Readonly<Tally>, startMs: number): void {
  const seconds = (performance.now() - startMs) / 1_000;
  const { rounds, complete, replayed, cut, arrived, records, recoveredPosts, recoveredVoids, topups } = tally;
  process.stdout.write(
    `${what}: ${rounds} kills in ${seconds.toFixed(0)} s (${(rounds / seconds).toFixed(2)}/s); ${arrived} calls at the upstream, ` +
      `${complete} whole answers (${replayed} replayed), ${cut} cut off, ${records} records, ` +
      `${recoveredPosts} recovered by checkpoint, ${recoveredVoids} for nothing, ${topups} top-ups; lost 0, double 0, verify clean\n`,
  );
}

// A gateway killed during this build would leave it to the next one, and so on.
await buildConsole();
const fake = await startFakeUpstream();
try {
  const startMs = performance.now();
  const onRound = ({ rounds: played }: Readonly<Tally>) => {
    if (played % SAY_EVERY_ROUNDS === 0) process.stdout.write(`crash loop: ${played} of ${rounds} rounds\n`);
  };
  const looped = await runCrashLoop(fake, { rounds, seed, onRound });
  say(`crash loop, seed ${seed}`, looped, startMs);
  const sweepMs = performance.now();
  const swept = emptyTally();
  for (const die of deaths) await die(swept);
  // Some stream always has a checkpoint; if none was charged by it, recovery loses them.
  if (looped.recoveredPosts + swept.recoveredPosts === 0 && deaths.length > 0)
    throw new Error('lost: no recovery charged a checkpoint');
  if (deaths.length > 0) say(`${deaths.length} failpoints, seed ${seed}`, swept, sweepMs);
} catch (fault) {
  process.stderr.write(`${fault instanceof Error ? fault.message : String(fault)}\n`);
  process.exitCode = 1;
} finally {
  await fake.stop();
}
