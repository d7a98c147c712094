/** Owns the crash loop: rounds of load and kill at random moments, over one data folder after another, and what they came to. */
import type { FakeUpstream } from '../fake-upstream/start-fake-upstream.ts';
import { type CrashFolder, createCrashFolder } from './crash-folder.ts';
import { playLast, playRound, type RoundPlan } from './play-round.ts';
import { readBooks } from './read-books.ts';
import { scriptModels } from './roles.ts';
import { type Chances, startChances } from './start-chances.ts';

/** Counts over all folders. */
export interface Tally {
  rounds: number;
  /** Whole answers that clients got, the repeated ones among them. */
  complete: number;
  replayed: number;
  /** Calls that a kill cut off, as clients saw it. */
  cut: number;
  arrived: number;
  records: number;
  /** Calls that recovery ended: charged by a checkpoint, or for nothing. */
  recoveredPosts: number;
  recoveredVoids: number;
  topups: number;
}

export interface LoopPlan {
  readonly rounds: number;
  readonly seed: number;
  /** Told after each round. */
  readonly onRound?: (tally: Readonly<Tally>) => void;
}

/** The books of a folder are judged whole after each kill, so it must not grow for ever. */
const ROUNDS_PER_FOLDER = 10;
const KILL_WITHIN_MS = 1_200;
/** On a busy machine these moments would all come before an answer is whole: most kills wait for some, too. */
const ANSWERS_MAX = 40;
/** One start in so many is itself killed first, once or twice, most often amid its recovery. */
const DOOMED_START_IN = 5;
const START_MS_MAX = 350;

/** Plays the rounds. Throws at the first thing that is wrong, naming all that is, and leaves that data folder where it is. */
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

/** Gives the work a new folder, judges it whole afterwards, and takes it away if all was well. */
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

/** @throws Error where there are any. */
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
  const isDoomed = chances.whole(1, DOOMED_START_IN) === 1;
  const deaths = Array.from({ length: isDoomed ? chances.whole(1, 2) : 0 }, () => ({
    afterMs: chances.whole(1, START_MS_MAX),
  }));
  return { deaths, end: { afterMs: chances.whole(1, KILL_WITHIN_MS), answers: chances.whole(0, ANSWERS_MAX) } };
}

async function addUp(tally: Tally, { truth, dataDir }: CrashFolder): Promise<void> {
  const { records } = await readBooks(dataDir);
  const complete = truth.sent.filter(({ heard }) => heard?.end === 'complete');
  const crashed = records.filter(({ error }) => error === 'gateway_crashed');
  tally.complete += complete.length;
  tally.replayed += complete.filter(({ heard }) => heard?.replayOf !== null).length;
  tally.cut += truth.sent.filter(({ heard }) => heard === null || heard.end === 'cut').length;
  for (const { length } of truth.arrived.values()) tally.arrived += length;
  tally.records += records.length;
  tally.recoveredPosts += crashed.filter(({ usage_source }) => usage_source === 'checkpoint').length;
  tally.recoveredVoids += crashed.filter(({ usage_source }) => usage_source === 'void').length;
  tally.topups += truth.topups.length;
}
