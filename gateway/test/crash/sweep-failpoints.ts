/** Kills a whole gateway at each failpoint of journal and writer, under load and again during recovery. */
import { FAILPOINTS, type Failpoint } from '../../src/store/sqlite/failpoints.ts';
import type { FakeUpstream } from '../fake-upstream/start-fake-upstream.ts';
import { refuseProblems, type Tally, withFolder } from './crash-loop.ts';
import { playRound, type RoundPlan } from './play-round.ts';
import { startChances } from './start-chances.ts';

/** Those that a gateway with this format of data passes often enough under load. */
export const AT_WORK: readonly Failpoint[] = FAILPOINTS.filter((point) =>
  /^(ingest-|journal-(before-block|after-block|after-sync))/.test(point),
);
/** Every start opens a segment, ends what is open, and ingests it. */
export const IN_RECOVERY: readonly Failpoint[] = FAILPOINTS.filter((point) => /^(recovery|journal|ingest)/.test(point));

/** Maximum passing to wait for: under load the tables are brought up to date a few times a second. */
const passingsMax = (point: Failpoint) => (point.startsWith('ingest') ? 4 : 40);
/** By then some calls have a checkpoint, and streams are open. */
const LOAD_MS = 700;
/** Calls that recovery must end: more than the highest passing requested of it. */
const HELD_CALLS = 60;

/**
 * Kills a gateway at the failpoint under load, twice, each time at another passing; `once`: at the first of them only.
 * Throws on any problem.
 */
export async function dieAtWork(
  fake: FakeUpstream,
  tally: Tally,
  point: Failpoint,
  seed: number,
  once = false,
): Promise<void> {
  const chances = startChances(seed);
  const most = passingsMax(point);
  await withFolder(fake, tally, async (folder) => {
    const passings = [chances.whole(1, most >> 1), chances.whole(most >> 1, most)];
    for (const passing of once ? passings.slice(0, 1) : passings) {
      // A start without open holds passes no settlement failpoints in its recovery.
      for (const end of [null, { point, passing }]) {
        refuseProblems(await playRound(folder, { deaths: [], end }), folder, `${point}, passing ${passing}`);
        tally.rounds += 1;
      }
    }
  });
}

/** Behind them everything that was left open has ended: the next start does not pass them again. */
const PASSED_ONCE: readonly Failpoint[] = ['journal-after-block', 'journal-after-sync'];

/**
 * After a kill under load, recovery dies at the failpoint twice, if it passes it again, before a start completes it.
 * Throws as `dieAtWork`.
 */
export async function dieInRecovery(fake: FakeUpstream, tally: Tally, point: Failpoint): Promise<void> {
  const death = { point, passing: 1 };
  const rounds: RoundPlan[] = [
    { deaths: [], end: { afterMs: LOAD_MS, heldCalls: HELD_CALLS } },
    { deaths: PASSED_ONCE.includes(point) ? [death] : [death, death], end: { afterMs: LOAD_MS } },
  ];
  await withFolder(fake, tally, async (folder) => {
    for (const round of rounds) {
      refuseProblems(await playRound(folder, round), folder, `${point} in recovery`);
      tally.rounds += 1;
    }
  });
}
