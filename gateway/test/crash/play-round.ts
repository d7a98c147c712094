/** Owns one round of the crash loop: start on what the last kill left, judge the books, load, kill, prove. */
import { openBooks } from '../fault/exit-books.ts';
import { eventually } from '../harness/eventually.ts';
import type { RunningGateway } from '../harness/start-gateway.ts';
import { startGateway } from '../harness/start-gateway.ts';
import { BUDGET, type CrashFolder, killGateway, topUp } from './crash-folder.ts';
import { type ArmedPoint, armFailpoint, startAndDie } from './doomed-start.ts';
import { noteArrivals } from './ground-truth.ts';
import { judgeBooks } from './judge-books.ts';
import { readBooks } from './read-books.ts';
import { scriptModels } from './roles.ts';
import { startLoad } from './run-load.ts';

export interface RoundPlan {
  /** Starts that die before the one that serves. */
  readonly deaths: readonly (ArmedPoint | { afterMs: number })[];
  /**
   * How the gateway that serves dies: at a moment of its writer's work, or so long after the load began (null: without any),
   * and not before so many callers have a whole answer and so many calls are held on the disk.
   */
  readonly end:
    | ArmedPoint
    | { readonly afterMs: number; readonly answers?: number; readonly heldCalls?: number }
    | null;
}

/** An armed gateway under load dies within a fraction of a second. */
const DIES_WITHIN_MS = 20_000;

/** Plays it; answers what is wrong, in sentences. What the round itself left behind is judged by the next one. */
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
    // Callers whose gateway lived on would go on calling.
    await killGateway(gateway);
  }
}

/** Starts once more, judges what the last round left, and ends in good order. */
export async function playLast({ config, dataDir, truth }: CrashFolder): Promise<string[]> {
  const gateway = await startGateway({ config, dataDir });
  const problems = judgeBooks(truth, await readBooks(dataDir), BUDGET);
  // Whoever answers a request is past its start, and hears signals.
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
  problems.push(...saidAloud(gateway));
  return problems;
}

async function untilHeld({ dataDir }: CrashFolder, calls: number): Promise<void> {
  if (calls === 0) return;
  const books = openBooks(dataDir);
  try {
    await eventually(`${calls} calls to be held`, () => books.openHolds().length >= calls || null, DIES_WITHIN_MS);
  } finally {
    books.close();
  }
}

/** Whatever the server says at the level of an error is one. */
function saidAloud(gateway: RunningGateway): string[] {
  const lines = gateway.stderr().split('\n');
  return lines
    .filter((line) => /"level":(50|60|"error"|"fatal")/.test(line))
    .map((line) => `unexpected: it said ${line}`);
}

async function verify(gateway: RunningGateway): Promise<string[]> {
  const { status, stdout, stderr } = await gateway.run('verify');
  return status === 0 ? [] : [`disproved: verify ended with ${status}: ${stdout}${stderr}`];
}
