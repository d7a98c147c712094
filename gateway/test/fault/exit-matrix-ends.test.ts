/**
 * Tests the outcome of running calls when the gateway itself ends: killed with -9, with and without a checkpoint, and
 * drained.
 */

import { afterEach, beforeEach, expect, test } from 'bun:test';
import { ZERO_USAGE } from '../../src/generation/usage.ts';
import { eventually } from '../harness/eventually.ts';
import { startGateway } from '../harness/start-gateway.ts';
import { endsInError } from './calls.ts';
import { ask, bodyOf, open, untilServed } from './exit-acts.ts';
import { openBooks, type RecordLine } from './exit-books.ts';
import { type Cell, listCells, matrixConfig, PRICE_NANO } from './exit-cells.ts';
import { judgeBalance } from './exit-judge.ts';
import { type ExitRig, openCell, startExitRig } from './exit-rig.ts';
import { endingWith } from './exit-table.ts';

/** Silent before the first byte. */
const WAITING = endingWith({ outcome: 'nothing has come', upstream: { delayBeforeFirstByteMs: 60_000 } });
/** Far more than the 2,000 output tokens after which a stream stores its progress. */
const LONG = endingWith({
  outcome: 'thousands of tokens have come',
  forms: ['stream'],
  upstream: { answer: 'long:9000', stallAfterEvent: 4_000 },
});
const SHORT = endingWith({
  outcome: 'a few words have come',
  forms: ['stream'],
  upstream: { answer: 'long:20', stallAfterEvent: 9 },
});
const CELLS = listCells([WAITING, LONG, SHORT]);

let rig: ExitRig;
beforeEach(async () => {
  rig = await startExitRig(CELLS, { drain: '0s', drain_streams: '500ms' });
});
afterEach(() => rig.stop());

const costOf = ({ usage }: RecordLine) =>
  BigInt(usage.input) * PRICE_NANO.input + BigInt(usage.output) * PRICE_NANO.output;

function eventsOf({ ending }: Cell): number {
  return ending === LONG ? 4_000 : ending === SHORT ? 9 : 0;
}

test('killed with -9: a stream pays its last checkpoint, all else nothing; the next start holds nothing', async () => {
  const { gateway, fake } = rig;
  const opened = await Promise.all(CELLS.map((cell) => openCell(rig, cell)));
  await Promise.all(opened.map(({ cell, key }) => open({ url: gateway.url, key }, cell, bodyOf(cell))));
  await Promise.all(CELLS.map((cell) => untilServed(fake, cell, eventsOf(cell))));
  const held = await eventually('each call to be held, and the long ones to be noted', async () => {
    const holds = await rig.books.openHolds();
    const noted = holds.filter(({ checkpoint }) => checkpoint !== null).length;
    return holds.length === CELLS.length && noted === listCells([LONG]).length ? holds : null;
  });
  gateway.signal('SIGKILL');
  await gateway.exited;
  const left = new Map((await rig.books.openHolds()).map((hold) => [hold.call_id, hold]));
  expect(left.size).toBe(held.length);
  const next = await startGateway({
    config: matrixConfig(CELLS, fake.url, fake.url, {}),
    dataDir: gateway.dataDir,
  });
  try {
    const books = openBooks(gateway.dataDir);
    expect(await books.openHolds()).toEqual([]);
    for (const { call_id, account, checkpoint } of left.values()) {
      const record = await books.record(call_id);
      if (record === null) throw new Error(`the call of ${account} has no record`);
      const { status, error, usage_source, cost_nano_usd } = record;
      const source = checkpoint === null ? 'void' : 'checkpoint';
      expect([account, status, error, usage_source, cost_nano_usd]).toEqual([
        account,
        checkpoint === null ? 500 : 200,
        'gateway_crashed',
        source,
        (checkpoint?.cost ?? 0n).toString(),
      ]);
      expect(record.usage).toEqual(checkpoint?.usage ?? ZERO_USAGE);
      expect(cost_nano_usd).toBe(costOf(record).toString());
      if (checkpoint !== null) expect(record.usage.output).toBeGreaterThanOrEqual(2_000);
      expect(await judgeBalance(account, books)).toEqual([]);
    }
    for (const { cell, key } of opened) {
      const { status } = await ask({ url: next.url, key }, cell, bodyOf(cell, `again-${cell.protocol}`));
      expect([cell.name, status]).toEqual([cell.name, 200]);
    }
    const { status, stdout } = await next.run('verify');
    expect([status, stdout]).toEqual([0, expect.stringContaining('The ledger is valid')]);
    books.close();
  } finally {
    await next.stop();
  }
});

test('drained: streams end in-band and pay for the output so far; plain calls pay nothing, because the fault was not theirs', async () => {
  const { gateway, fake } = rig;
  const opened = await Promise.all(CELLS.map((cell) => openCell(rig, cell)));
  const answers = opened.map(({ cell, key }) =>
    ask({ url: gateway.url, key }, cell, bodyOf(cell)).catch((cause: unknown) => String(cause)),
  );
  await Promise.all(CELLS.map((cell) => untilServed(fake, cell, eventsOf(cell))));
  gateway.signal('SIGTERM');
  expect(await gateway.exited).toBe(0);
  const problems: string[] = [];
  for (const [index, { cell, keyId }] of opened.entries()) {
    const answer = await answers[index];
    const [record] = await rig.books.recordsOf(keyId);
    const came = cell.ending !== WAITING;
    const saw = typeof answer === 'string' || answer === undefined ? null : answer;
    const told = came
      ? saw?.status === 200 && endsInError(cell.protocol, saw.text)
      : saw?.status === 503 || (saw?.status === 200 && endsInError(cell.protocol, saw.text));
    const recorded = `${record?.error} ${record?.usage_source} ${record?.cost_nano_usd !== '0'}`;
    if (!told || recorded !== (came ? 'draining partial true' : 'draining void false')) {
      problems.push(`${cell.name}: ${recorded}; told: ${saw?.status} ${saw?.text.slice(-100) ?? answer}`);
    }
    problems.push(...(await judgeBalance(cell.id, rig.books)));
  }
  expect(problems).toEqual([]);
  expect(await rig.books.openHolds()).toEqual([]);
  const { status } = await gateway.run('verify');
  expect(status).toBe(0);
});
