/** Tests that every end of a call, in each form, on each endpoint and path, is charged as the table of endings says. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { EXHAUSTIVE } from './calls.ts';
import { type Cell, listCells } from './exit-cells.ts';
import { judge, judgeBalance } from './exit-judge.ts';
import { callNext, type ExitRig, openCell, runCell, startExitRig } from './exit-rig.ts';
import { ENDINGS } from './exit-table.ts';

const LANES = 24;
/** A sample is every other one: each ending in each form on each path, from clients of the two formats by turns. */
const CELLS = listCells().filter((_, nth) => EXHAUSTIVE || nth % 4 === 0 || nth % 4 === 3);

let rig: ExitRig;
const problems = new Map<Cell, readonly string[]>();

beforeAll(async () => {
  rig = await startExitRig(CELLS, { slow_reader_timeout: '1s' });
  // Slowest first, so that they do not delay the end.
  const waiting = [...CELLS].sort((one, other) => slowness(one) - slowness(other));
  const lane = async () => {
    for (let cell = waiting.pop(); cell !== undefined; cell = waiting.pop()) problems.set(cell, await show(cell));
  };
  await Promise.all(Array.from({ length: LANES }, lane));
});
afterAll(() => rig.stop());

function slowness({ ending }: Cell): number {
  return ending.act === 'stop-reading' ? 1 : 0;
}

async function show(cell: Cell): Promise<readonly string[]> {
  const startMs = performance.now();
  let step = 'making its account and key';
  try {
    const opened = await openCell(rig, cell);
    step = 'its call';
    const { seen, record } = await runCell(rig, opened);
    const wrong = await judge(cell, seen, record, rig.books);
    step = 'the next call';
    const next = await callNext(rig, opened, seen);
    const nextWrong = next === cell.ending.next ? [] : [`${cell.name}: the next call is answered ${next}`];
    return [...wrong, ...nextWrong, ...(await judgeBalance(cell.id, rig.books))];
  } catch (fault) {
    const words = fault instanceof Error ? (fault.stack ?? fault.message) : String(fault);
    return [`${cell.name}: ${step} failed ${Math.round(performance.now() - startMs)} ms after the start: ${words}`];
  }
}

test.each(ENDINGS.map((ending) => [ending.outcome, ending] as const))('%s', (_, ending) => {
  const ran = [...problems].filter(([cell]) => cell.ending === ending);
  expect(ran.length).toBe((EXHAUSTIVE ? 2 : 1) * ending.forms.length * ending.paths.length);
  expect(ran.flatMap(([, wrong]) => wrong)).toEqual([]);
});

test('after all of them nothing is held, and the ledger is valid', async () => {
  expect(problems.size).toBe(CELLS.length);
  expect(await rig.books.openHolds()).toEqual([]);
  const { status, stdout } = await rig.gateway.run('verify');
  expect([status, stdout]).toEqual([0, expect.stringContaining('The ledger is valid')]);
  console.log(`exit matrix: ${CELLS.length} cells of ${ENDINGS.length} endings`);
});
