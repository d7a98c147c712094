/**
 * Runs the crash loop: rounds of load and kill at random moments over a series of data folders, with a tally of the
 * results.
 */
import type { FakeUpstream } from '../fake-upstream/start-fake-upstream.ts';
import { type CrashFolder, createCrashFolder } from './crash-folder.ts';
import { playLast, playRound, type RoundPlan } from './play-round.ts';
import { readBooks } from './read-books.ts';
import { scriptModels } from './roles.ts';
import { type Chances, startChances } from './start-chances.ts';

/** Counts over all folders. */
export interface Tally {
  rounds: number;
  /** Whole answers that clients got, repeated ones included. */
  complete: number;
  replayed: number;
  /** Calls that a kill cut off, as seen by clients. */
  cut: number;
  arrived: number;
  records: number;
  /** Calls that recovery ended: charged by a checkpoint, or not at all. */
  recoveredPosts: number;
  recoveredVoids: number;
  topups: number;
}

export interface LoopPlan {
  readonly rounds: number;
  readonly seed: number;
  /** Called after each round. */
  readonly onRound?: (tally: Readonly<Tally>) => void;
}

/** All books of a folder are checked after each kill, so its size is limited. */
const ROUNDS_PER_FOLDER = 10;
const KILL_WITHIN_MS = 1_200;
/** On a busy machine these moments would all come before the first whole answer, so most kills also wait for some. */
const ANSWERS_MAX = 40;
/** One start in this many is killed itself first, once or twice, mostly during its recovery. */
const DOOMED_START_IN = 5;
const START_MS_MAX = 350;

/** Runs the rounds. Throws at the first problem with all its messages, and keeps that data folder. */
export async function runCrashLoop(fake: FakeUpstream, { rounds, seed, onRound }: LoopPlan): Promise<Tally> {
  const chances = startChances(seed);
  const tally = emptyTally();
  while (tally.rounds < rounds) {
    await withFolder(fake, tally, async (folder) => {
      for (let left = Math.min(ROUNDS_PER_FOLDER, rounds - tally.rounds); left > 0; left--) {
        refuseProblems(
          await playRound(folder, drawRound(chances)),
          folder,
          `round ${tally.rounds + 1} of seed ${seed}`,
        );
        tally.rounds += 1;
        onRound?.(tally);
      }
    });
  }
  return tally;
}

/** Runs the work in a new folder, checks all of it afterwards, and deletes it if there is no problem. */
export async function withFolder(
  fake: FakeUpstream,
  tally: Tally,
  play: (folder: CrashFolder) => Promise<void>,
): Promise<void> {
  scriptModels(fake);
  const folder = await createCrashFolder(fake);
  await play(folder);
  refuseProblems(await playLast(folder), folder, 'the end of the folder');
  await addUp(tally, folder);
  folder.remove();
}

/** @throws Error if there are any problems. */
export function refuseProblems(problems: readonly string[], { dataDir }: CrashFolder, when: string): void {
  if (problems.length === 0) return;
  const shown = problems.slice(0, 20).join('\n  ');
  throw new Error(`${problems.length} problems at ${when}; the data folder is ${dataDir}\n  ${shown}`);
}

export function emptyTally(): Tally {
  return {
    rounds: 0,
    complete: 0,
    replayed: 0,
    cut: 0,
    arrived: 0,
    records: 0,
    recoveredPosts: 0,
    recoveredVoids: 0,
    topups: 0,
  };
}

function drawRound(chances: Chances): RoundPlan {
  const diesAtStart = chances.whole(1, DOOMED_START_IN) === 1;
  const deaths = Array.from({ length: diesAtStart ? chances.whole(1, 2) : 0 }, () => ({
    afterMs: chances.whole(1, START_MS_MAX),
  }));
  return { deaths, end: { afterMs: chances.whole(1, KILL_WITHIN_MS), answers: chances.whole(0, ANSWERS_MAX) } };
}

async function addUp(tally: Tally, { truth, dataDir }: CrashFolder): Promise<void> {
  const { records } = await readBooks(dataDir);
  const complete = truth.sent.filter(({ received }) => received?.end === 'complete');
  const crashed = records.filter(({ error }) => error === 'gateway_crashed');
  tally.complete += complete.length;
  tally.replayed += complete.filter(({ received }) => received?.replayOf !== null).length;
  tally.cut += truth.sent.filter(({ received }) => received === null || received.end === 'cut').length;
  for (const { length } of truth.arrived.values()) tally.arrived += length;
  tally.records += records.length;
  tally.recoveredPosts += crashed.filter(({ usage_source }) => usage_source === 'checkpoint').length;
  tally.recoveredVoids += crashed.filter(({ usage_source }) => usage_source === 'void').length;
  tally.topups += truth.topups.length;
}
