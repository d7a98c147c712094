/** Kills a whole gateway at each of the writer's failpoints, under load and again during recovery. */
import { FAILPOINTS, type Failpoint } from '../../src/store/sqlite/failpoints.ts';
import type { FakeUpstream } from '../fake-upstream/start-fake-upstream.ts';
import { refuseProblems, type Tally, withFolder } from './crash-loop.ts';
import { playRound, type RoundPlan } from './play-round.ts';
import { startChances } from './start-chances.ts';

/**
 * The spool's failpoints occur only on a full disk: store/sqlite/ledger-crash.test.ts and fault/disk-full.test.ts cover
 * them. The usage rollup is half a minute behind the calls: store/sqlite/rollup/fold-usage.test.ts covers its
 * failpoints.
 */
export const AT_WORK: readonly Failpoint[] = FAILPOINTS.filter((point) => !/recovery|spool|fold/.test(point));
/** Recovery ends calls as settlements do, so it passes their failpoints too. */
export const IN_RECOVERY: readonly Failpoint[] = FAILPOINTS.filter((point) =>
  /^recovery|^after-(release|post|record)$/.test(point),
);

/** Maximum passing to wait for; other failpoints are passed once by each call or batch. */
const PASSINGS_MAX: Partial<Record<Failpoint, number>> = { 'after-extend': 6, 'after-movement': 4 };
const PASSINGS_MAX_ELSE = 40;
/** By then some calls have a checkpoint, and streams are open. */
const LOAD_MS = 700;
/** Calls that recovery must end: more than the highest passing requested of it. */
const HELD_CALLS = 60;

/** Kills a gateway at the failpoint under load, twice, each time at another passing. Throws on any problem. */
export async function dieAtWork(fake: FakeUpstream, tally: Tally, point: Failpoint, seed: number): Promise<void> {
  const chances = startChances(seed);
  const most = PASSINGS_MAX[point] ?? PASSINGS_MAX_ELSE;
  await withFolder(fake, tally, async (folder) => {
    for (const passing of [chances.whole(1, most >> 1), chances.whole(most >> 1, most)]) {
      // A start without open holds passes no settlement failpoints in its recovery.
      for (const end of [null, { point, passing }]) {
        refuseProblems(await playRound(folder, { deaths: [], end }), folder, `${point}, passing ${passing}`);
        tally.rounds += 1;
      }
    }
  });
}

/**
 * After a kill under load, recovery dies at the failpoint twice before a third start completes it. Throws as
 * `dieAtWork`.
 */
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
