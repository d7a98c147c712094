/** Runs one round of the crash loop: start on what the last kill left, check the books, load, kill, verify. */
import { openBooks } from '../fault/exit-books.ts';
import { eventually } from '../harness/eventually.ts';
import type { RunningGateway } from '../harness/start-gateway.ts';
import { startGateway } from '../harness/start-gateway.ts';
import { BUDGET, type CrashFolder, killGateway, topUp } from './crash-folder.ts';
import { noteArrivals } from './ground-truth.ts';
import { judgeBooks } from './judge-books.ts';
import { readBooks } from './read-books.ts';
import { scriptModels } from './roles.ts';
import { startLoad } from './run-load.ts';
import { type ArmedPoint, armFailpoint, startAndDie } from './start-and-die.ts';

export interface RoundPlan {
  /** Starts that die before the one that serves. */
  readonly deaths: readonly (ArmedPoint | { afterMs: number })[];
  /**
   * How the serving gateway dies: at a failpoint of its writer, or a time after the load began (null: without load),
   * and not before that many callers have a whole answer and that many calls are held on disk.
   */
  readonly end:
    | ArmedPoint
    | { readonly afterMs: number; readonly answers?: number; readonly heldCalls?: number }
    | null;
}

/** An armed gateway under load dies within a fraction of a second. */
const DIES_WITHIN_MS = 20_000;

/** Runs the round; returns the problems as sentences. The next round checks what this one left behind. */
export async function playRound(folder: CrashFolder, { deaths, end }: RoundPlan): Promise<string[]> {
  const { config, dataDir } = folder;
  for (const death of deaths) await startAndDie(config, dataDir, death);
  const isArmed = end !== null && 'point' in end;
  const gateway = await startGateway({ config, dataDir, ...(isArmed ? { environment: armFailpoint(end) } : {}) });
  try {
    const problems = judgeBooks(folder.truth, await readBooks(dataDir), BUDGET);
    if (end !== null) problems.push(...(await loadUntilDead(folder, gateway, end)));
    return [...problems, ...(await verify(gateway))];
  } finally {
    // Callers would continue as long as the gateway lives.
    await killGateway(gateway);
  }
}

/** Starts once more, checks what the last round left, and stops cleanly. */
export async function playLast({ config, dataDir, truth }: CrashFolder): Promise<string[]> {
  const gateway = await startGateway({ config, dataDir });
  const problems = judgeBooks(truth, await readBooks(dataDir), BUDGET);
  // A gateway that answers a request has started and handles signals.
  await fetch(gateway.url, { keepalive: false });
  const status = await gateway.stop();
  if (status !== 0) problems.push(`unexpected: the last server ended with ${status}`);
  return [...problems, ...judgeBooks(truth, await readBooks(dataDir), BUDGET)];
}

async function loadUntilDead(
  folder: CrashFolder,
  gateway: RunningGateway,
  end: NonNullable<RoundPlan['end']>,
): Promise<string[]> {
  const { fake, truth } = folder;
  for (const topup of truth.topups) if (topup.isOpen) await topUp(gateway, topup);
  const load = startLoad(folder, gateway);
  const problems: string[] = [];
  if ('point' in end) {
    const late = setTimeout(() => {
      problems.push(`unexpected: ${end.point} was not passed ${end.passing} times within ${DIES_WITHIN_MS} ms`);
      gateway.signal('SIGKILL');
    }, DIES_WITHIN_MS);
    await gateway.exited;
    clearTimeout(late);
  } else {
    await Bun.sleep(end.afterMs);
    const { answers = 0, heldCalls = 0 } = end;
    await eventually(`${answers} whole answers`, () => load.answers() >= answers || null, DIES_WITHIN_MS);
    await untilHeld(folder, heldCalls);
    if (load.cuts() > 0) problems.push(`unexpected: ${load.cuts()} calls were cut off before the kill`);
    gateway.signal('SIGKILL');
  }
  await load.ended;
  await fake.until(() => fake.connections().every(({ closedMs }) => closedMs !== null));
  noteArrivals(truth, fake);
  fake.reset();
  scriptModels(fake);
  problems.push(...problemsOf(gateway));
  return problems;
}

async function untilHeld({ dataDir }: CrashFolder, calls: number): Promise<void> {
  if (calls === 0) return;
  const books = openBooks(dataDir);
  try {
    await eventually(
      `${calls} calls to be held`,
      async () => (await books.openHolds()).length >= calls || null,
      DIES_WITHIN_MS,
    );
  } finally {
    books.close();
  }
}

/** Every log line of level error is a problem. */
function problemsOf(gateway: RunningGateway): string[] {
  const lines = gateway.stderr().split('\n');
  return lines
    .filter((line) => /"level":(50|60|"error"|"fatal")/.test(line))
    .map((line) => `unexpected: it said ${line}`);
}

async function verify(gateway: RunningGateway): Promise<string[]> {
  const { status, stdout, stderr } = await gateway.run('verify');
  return status === 0 ? [] : [`disproved: verify ended with ${status}: ${stdout}${stderr}`];
}
