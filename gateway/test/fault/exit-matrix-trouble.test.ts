/**
 * Tests holds, limits and records when the writer thread dies under running calls and when the clock steps. The sample
 * steps back to yesterday; TOLLGATE_EXHAUSTIVE=1 steps in every direction.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { eventually } from '../harness/eventually.ts';
import { control } from '../http-contract/make-key.ts';
import { EXHAUSTIVE, endsInError, hasTerminal } from './calls.ts';
import { ask, bodyOf, untilServed } from './exit-acts.ts';
import { type Cell, listCells } from './exit-cells.ts';
import { judge, judgeBalance } from './exit-judge.ts';
import { callNext, type ExitRig, type Opened, openCell, runCell, startExitRig } from './exit-rig.ts';
import { ENDINGS, type Ending, endingWith } from './exit-table.ts';
import { prepareSteering, type Steering } from './steer.ts';

/** Time limit for a start on a busy machine. */
const START_MS = 30_000;
const HOUR_MS = 3_600_000;
const replayed = ENDINGS.filter(({ act }) => act === 'replay');

const RUNNING = endingWith({
  outcome: 'a running call',
  upstream: { answer: 'long:20', delayBeforeFirstByteMs: 2_000 },
});
/**
 * These calls end while nothing can be written: the thread dies within this second and stays dead until they have
 * ended.
 */
const ENDING = endingWith({
  outcome: 'an ending call',
  upstream: { answer: 'long:20', delayBeforeFirstByteMs: 1_000 },
});
const PER_MINUTE = 60;
const LIMITED = endingWith({
  outcome: 'a limited call',
  forms: ['plain'],
  paths: ['same'],
  key: { rpm: PER_MINUTE, concurrency: PER_MINUTE },
});
const BUDGETED = endingWith({ outcome: 'a call on a budget', key: { budget_usd: '1', budget_window: 'day' } });

async function verified({ gateway }: ExitRig): Promise<void> {
  const { status, stdout } = await gateway.run('verify');
  expect([status, stdout]).toEqual([0, expect.stringContaining('The ledger is valid')]);
}

describe('the writer thread dies', () => {
  const cells = listCells([RUNNING, ENDING]);
  let rig: ExitRig;
  let steering: Steering;
  beforeAll(async () => {
    steering = prepareSteering();
    rig = await startExitRig(cells, {}, steering.environment);
  }, START_MS);
  afterAll(async () => {
    await rig.stop();
    steering.forget();
  }, START_MS);

  test('calls that run meanwhile complete; after the restart they are in the ledger, nothing is held and the next call is served', async () => {
    const opened = await Promise.all(cells.map((cell) => openCell(rig, cell)));
    const running = opened.map(({ cell, key }) => ask({ url: rig.gateway.url, key }, cell, bodyOf(cell)));
    await Promise.all(cells.map((cell) => untilServed(rig.fake, cell)));
    await eventually('every call to be held', async () =>
      (await rig.books.openHolds()).length === cells.length ? true : null,
    );
    // The thread may not have reported its writes yet; it reports the holds before this command.
    await control(rig.gateway, 'workspaces.create', { id: 'after-the-holds' });
    await steering.order(rig.gateway, { endThreads: true, stillborn: true });
    await Promise.all(running.filter((_, index) => cells[index]?.ending === ENDING));
    await steering.order(rig.gateway, { stillborn: false });
    const answers = await Promise.all(running);
    const answered: { readonly cell: Cell; readonly requestId: string }[] = [];
    const untold: { readonly cell: Cell; readonly requestId: string }[] = [];
    for (const [index, { status, text, requestId }] of answers.entries()) {
      const cell = cells[index];
      if (cell === undefined || requestId === null) throw new Error('an answer without a call');
      const whole = status === 200 && (cell.form === 'plain' || hasTerminal(cell.protocol, text));
      const refused = status === 503 || (status === 200 && endsInError(cell.protocol, text));
      expect([cell.name, whole !== refused]).toEqual([cell.name, true]);
      (whole ? answered : untold).push({ cell, requestId });
    }
    // Their holds were stored before the fault; their settlements wait in the spool.
    expect([answered.length, untold]).toEqual([cells.length, []]);
    await eventually('the gateway to be ready again', async () =>
      (await fetch(`${rig.gateway.url}/readyz`)).ok ? true : null,
    );
    for (const { requestId } of answered) expect(await rig.books.record(requestId)).toMatchObject({ error: null });
    for (const one of opened) expect([one.cell.name, await nextOf(one)]).toEqual([one.cell.name, 200]);
    await eventually(
      'nothing to be held',
      async () => ((await rig.books.openHolds()).length === 0 ? true : null),
      10_000,
    );
    expect((await Promise.all(cells.map((cell) => judgeBalance(cell.id, rig.books)))).flat()).toEqual([]);
    await verified(rig);
  });

  async function nextOf({ cell, key }: Opened): Promise<number | null> {
    const { status } = await ask({ url: rig.gateway.url, key }, cell, bodyOf(cell, `again-${cell.protocol}`));
    return status;
  }
});

const STEPS: readonly (readonly [words: string, offsetMs: number])[] = [
  // Across midnight, where daily budgets and minute windows differ.
  ['back to yesterday', -25 * HOUR_MS],
  ['forward by two hours, beyond every lease', 2 * HOUR_MS],
  ['back by two hours', -2 * HOUR_MS],
];

describe.each(STEPS.slice(0, EXHAUSTIVE ? STEPS.length : 1))('the clock goes %s', (_, offsetMs) => {
  const cells = listCells([RUNNING, LIMITED, BUDGETED, ...replayed]);
  let rig: ExitRig;
  let steering: Steering;
  beforeAll(async () => {
    steering = prepareSteering();
    rig = await startExitRig(cells, {}, steering.environment);
  }, START_MS);
  afterAll(async () => {
    await rig.stop();
    steering.forget();
  }, START_MS);

  test('running calls are charged as before, limits apply, answers are replayed, nothing stays held', async () => {
    const opened = await Promise.all(cells.map((cell) => openCell(rig, cell)));
    const of = (ending: Ending) => opened.filter(({ cell }) => cell.ending === ending);
    const called = [...of(LIMITED), ...of(BUDGETED)];
    for (const { cell, key } of called) {
      expect((await ask({ url: rig.gateway.url, key }, cell, bodyOf(cell))).status).toBe(200);
    }
    await useUpMinute(of(LIMITED));
    const running = of(RUNNING).map((one) => runCell(rig, one));
    await Promise.all(of(RUNNING).map(({ cell }) => untilServed(rig.fake, cell)));
    await steering.order(rig.gateway, { offsetMs });
    for (const one of of(LIMITED)) await untilServedAgain(one);
    for (const one of of(BUDGETED)) {
      const { seen, record } = await runCell(rig, one);
      expect(await judge(one.cell, seen, record, rig.books)).toEqual([]);
      expect([one.cell.name, await callNext(rig, one, seen)]).toEqual([one.cell.name, 200]);
    }
    for (const one of opened.filter(({ cell }) => replayed.includes(cell.ending))) {
      const { seen, record } = await runCell(rig, one);
      expect(await judge(one.cell, seen, record, rig.books)).toEqual([]);
    }
    for (const { seen, record } of await Promise.all(running)) {
      expect([seen.status, record.error, record.usage_source, record.usage.input, record.usage.output]).toEqual([
        200,
        null,
        'upstream',
        11,
        20,
      ]);
    }
    for (const one of of(RUNNING)) {
      const { status } = await ask(
        { url: rig.gateway.url, key: one.key },
        one.cell,
        bodyOf(one.cell, `again-${one.cell.protocol}`),
      );
      expect([one.cell.name, status]).toEqual([one.cell.name, 200]);
    }
    expect(await rig.books.openHolds()).toEqual([]);
    expect((await Promise.all(cells.map((cell) => judgeBalance(cell.id, rig.books)))).flat()).toEqual([]);
    // A clock step does not make a running call look lost.
    expect(rig.gateway.stderr()).not.toContain('requests never ended');
    await verified(rig);
  });

  const call = ({ cell, key }: Opened) =>
    ask({ url: rig.gateway.url, key }, cell, bodyOf(cell, `again-${cell.protocol}`));

  async function useUpMinute(limited: readonly Opened[]): Promise<void> {
    for (const one of limited) {
      const answers = await Promise.all(Array.from({ length: PER_MINUTE + 5 }, () => call(one)));
      expect(answers.map(({ status }) => status)).toContain(429);
    }
  }

  /** One call per second is admitted, whatever the clock says. */
  async function untilServedAgain(one: Opened): Promise<void> {
    await eventually('a call to be let in after the minute was used up', async () =>
      (await call(one)).status === 200 ? true : null,
    );
  }
});
