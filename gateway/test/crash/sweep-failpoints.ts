/** Owns the sweep over the writer's failpoints in a whole gateway: dead at each of them under load, and again inside recovery. */
import { FAILPOINTS, type Failpoint } from '../../src/store/sqlite/failpoints.ts';
import type { FakeUpstream } from '../fake-upstream/start-fake-upstream.ts';
import { refuseProblems, type Tally, withFolder } from './crash-loop.ts';
import { playRound, type RoundPlan } from './play-round.ts';
import { startChances } from './start-chances.ts';

/**
 * What happens to the spool only while a disk is full: store/sqlite/ledger-crash.test.ts and fault/disk-full.test.ts see to it.
 * What rolls usage up stays half a minute behind the calls: store/sqlite/rollup/fold-usage.test.ts dies at its moments.
 */
export const AT_WORK: readonly Failpoint[] = FAILPOINTS.filter((point) => !/recovery|spool|fold/.test(point));
/** Recovery ends calls as settlements do, so it passes their moments too. */
export const IN_RECOVERY: readonly Failpoint[] = FAILPOINTS.filter((point) =>
  /^recovery|^after-(release|post|record)$/.test(point),
);

/** The most passings to wait for; what is not here is passed once by each call or each batch. */
const PASSINGS_MAX: Partial<Record<Failpoint, number>> = { 'after-extend': 6, 'after-movement': 4 };
const PASSINGS_MAX_ELSE = 40;
/** By then some calls have a checkpoint, and streams stand open. */
const LOAD_MS = 700;
/** What recovery finds to end: more than the latest passing that is asked of it. */
const HELD_CALLS = 60;

/** A gateway dies at the point under load, twice, each time at another passing. Throws where anything is wrong then. */
export async function dieAtWork(fake: FakeUpstream, tally: Tally, point: Failpoint, seed: number): Promise<void> {
  const chances = startChances(seed);
  const most = PASSINGS_MAX[point] ?? PASSINGS_MAX_ELSE;
  await withFolder(fake, tally, async (folder) => {
    for (const passing of [chances.whole(1, most >> 1), chances.whole(most >> 1, most)]) {
      // A start without open holds passes no moments of settlements in its recovery.
      for (const end of [null, { point, passing }]) {
        refuseProblems(await playRound(folder, { deaths: [], end }), folder, `${point}, passing ${passing}`);
        tally.rounds += 1;
      }
    }
  });
}

/** After a kill under load, recovery dies at the point twice, before a third start does it whole. Throws as `dieAtWork`. */
export async function dieInRecovery(fake: FakeUpstream, tally: Tally, point: Failpoint, seed: number): Promise<void> {
  const chances = startChances(seed);
  const once = point === 'recovery-call-ended' || point.startsWith('after');
  const passing = once ? chances.whole(1, 40) : 1;
  const rounds: RoundPlan[] = [
    { deaths: [], end: { afterMs: LOAD_MS, heldCalls: HELD_CALLS } },
    {
      deaths: [
        { point, passing },
        { point, passing: 1 },
      ],
      end: { afterMs: LOAD_MS },
    },
  ];
  await withFolder(fake, tally, async (folder) => {
    for (const round of rounds) {
      refuseProblems(await playRound(folder, round), folder, `${point} in recovery, passing ${passing}`);
      tally.rounds += 1;
    }
  });
}
