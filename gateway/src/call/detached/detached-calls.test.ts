/** Tests how detached calls are followed: how often, how many at once, what ends them, and that each is settled once. */
import { expect, test } from 'bun:test';
import { CallFailure } from '../../errors/call-failure.ts';
import type { DetachedCall } from '../../store/ports/ledger.ts';
import { heldCall, jobOf } from '../../store/testing/sample-call.ts';
import { DetachedPoller } from './detached-calls.ts';
import type { JobEnd, JobState } from './job-kinds.ts';

const START_MS = 1_790_000_000_000;
const END = { cost: 5n, payer: 'account' } as unknown as JobEnd;
const ENDED: JobState = { kind: 'ended', end: END };
const RUNNING: JobState = { kind: 'running' };

function callOf(id: string, deadline_ms = START_MS + 3_600_000): DetachedCall {
  return { ...heldCall(id, 30n), extensions: 0, job: { ...jobOf(`resp_${id}`), deadline_ms } };
}

/** A poller whose clock and answers the test steers. */
function open(left: readonly DetachedCall[] = []) {
  const rig = {
    nowMs: START_MS,
    polls: [] as string[],
    settled: [] as [string, JobEnd][],
    reports: [] as string[],
    answer: async (_: string): Promise<JobState> => RUNNING,
    settle: async (): Promise<void> => undefined,
  };
  const report =
    (kind: string) =>
    (_: string, ...words: unknown[]) =>
      void rig.reports.push(`${kind} ${words[0]}`);
  const poller = new DetachedPoller({
    readDetached: () => left,
    kinds: {
      response: {
        poll(call) {
          rig.polls.push(call.draft.request_id);
          return rig.answer(call.draft.request_id);
        },
      },
    },
    log: () => ({
      fault: report('fault'),
      alarm: report('alarm'),
      upstream: report('upstream'),
      unpriced: report('unpriced'),
    }),
    async settle(call, end) {
      await rig.settle();
      rig.settled.push([call.draft.request_id, end]);
    },
    nowMs: () => rig.nowMs,
  });
  /** Lets the time pass, as the poller's own clock would. */
  async function pass(ms: number): Promise<void> {
    rig.nowMs += ms;
    poller.pollDue();
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  }
  return Object.assign(rig, { poller, pass });
}

test('calls of earlier processes are polled at the start, new ones after two seconds, then ever less often', async () => {
  const rig = open([callOf('old')]);
  rig.poller.start();
  rig.poller.follow(callOf('new'));
  await rig.pass(0);
  expect(rig.polls).toEqual(['old']);
  await rig.pass(1_999);
  expect(rig.polls).toEqual(['old']);
  await rig.pass(1);
  expect(rig.polls.slice(1).sort()).toEqual(['new', 'old']);
  let count = 0;
  for (let second = 0; second < 600; second++) {
    rig.polls = [];
    await rig.pass(1_000);
    count += rig.polls.length;
  }
  // Two calls, at last once a minute.
  expect(count).toBeGreaterThan(30);
  expect(count).toBeLessThan(44);
  await rig.poller.stop();
});

test('calls are polled on after the clock was set back', async () => {
  const rig = open([callOf('a')]);
  rig.poller.start();
  await rig.pass(0);
  await rig.pass(-3_600_000);
  expect(rig.polls).toEqual(['a', 'a']);
  await rig.pass(0);
  expect(rig.polls).toHaveLength(2);
  rig.answer = async () => ENDED;
  await rig.pass(60_000);
  expect(rig.settled).toEqual([['a', END]]);
  await rig.poller.stop();
});

test('no more than sixteen are polled at once, and each gets its turn', async () => {
  const rig = open(Array.from({ length: 40 }, (_, at) => callOf(`c${at}`)));
  const waiting: (() => void)[] = [];
  rig.answer = () =>
    new Promise((resolve) => {
      waiting.push(() => resolve(ENDED));
    });
  rig.poller.start();
  expect(rig.polls).toHaveLength(16);
  while (waiting.length > 0) {
    for (const goOn of waiting.splice(0)) goOn();
    await rig.pass(0);
    expect(waiting.length).toBeLessThanOrEqual(16);
  }
  expect(new Set(rig.settled.map(([id]) => id)).size).toBe(40);
  await rig.poller.stop();
});

test('a call that is woken while it is polled is polled once more, and settled once', async () => {
  const rig = open();
  rig.poller.follow(callOf('a'));
  let state = RUNNING as JobState;
  const gate = Promise.withResolvers<void>();
  rig.answer = async () => {
    const seen = state;
    await gate.promise;
    return seen;
  };
  rig.poller.wake('a');
  state = ENDED;
  for (const _ of [1, 2, 3]) rig.poller.wake('a');
  rig.poller.wake('unknown');
  gate.resolve();
  await rig.pass(0);
  await rig.pass(0);
  expect([rig.polls, rig.settled]).toEqual([['a', 'a'], [['a', END]]]);
  rig.poller.wake('a');
  await rig.pass(100_000);
  expect(rig.settled).toHaveLength(1);
  await rig.poller.stop();
});

test.each([
  ['running', async () => RUNNING],
  ['in trouble', () => Promise.reject(new CallFailure('upstream_timeout', 'no answer'))],
] as const)('a call that is %s at its deadline is charged at the held amount', async (_, answer) => {
  const rig = open();
  rig.answer = answer;
  rig.poller.follow(callOf('a', START_MS + 10_000));
  await rig.pass(9_999);
  expect(rig.settled).toEqual([]);
  await rig.pass(1);
  expect(rig.settled).toMatchObject([
    ['a', { cost: 30n, error: 'upstream_timeout', usage: { input: 10, output: 20 }, usage_flags: ['held_amount'] }],
  ]);
  await rig.poller.stop();
});

test('one that the provider has deleted is charged at the held amount, or at nothing without a price', async () => {
  const rig = open();
  rig.answer = async () => ({ kind: 'gone' });
  const { job, ...rest } = callOf('b');
  for (const call of [callOf('a'), { ...rest, job: { ...job, price_version: null } }]) rig.poller.follow(call);
  await rig.pass(2_000);
  expect(rig.settled.map(([id, { cost, error }]) => [id, cost, error])).toEqual([
    ['a', 30n, 'upstream_failed'],
    ['b', null, 'upstream_failed'],
  ]);
  await rig.poller.stop();
});

test('trouble is reported once until it is over, and a settlement that the store refuses is repeated', async () => {
  const rig = open();
  rig.poller.follow(callOf('a'));
  rig.answer = () => Promise.reject(new CallFailure('upstream_credential', 'refused', { cause: 'HTTP 401' }));
  for (let poll = 0; poll < 3; poll++) await rig.pass(60_000);
  rig.answer = async () => ENDED;
  rig.settle = () => Promise.reject(new Error('the disk is full'));
  for (let poll = 0; poll < 3; poll++) await rig.pass(60_000);
  rig.settle = async () => undefined;
  await rig.pass(60_000);
  expect(rig.settled).toEqual([['a', END]]);
  expect(rig.reports).toEqual([
    'alarm openai: response resp_a cannot be followed: HTTP 401',
    'fault response resp_a could not be followed or settled',
  ]);
  await rig.poller.stop();
});

test('nothing is polled or settled after a stop, and the call stays open', async () => {
  const rig = open();
  const gate = Promise.withResolvers<JobState>();
  rig.answer = () => gate.promise;
  rig.poller.follow(callOf('a', START_MS + 1_000));
  await rig.pass(5_000);
  const stopped = rig.poller.stop();
  gate.reject(new CallFailure('draining', 'the gateway is shutting down'));
  await stopped;
  rig.poller.follow(callOf('b'));
  await rig.pass(100_000);
  expect([rig.polls, rig.settled, rig.reports]).toEqual([['a'], [], []]);
});

test('a call is settled on request by a look that begins after it, also while another runs', async () => {
  const rig = open([callOf('a')]);
  const [first, second] = [Promise.withResolvers<JobState>(), Promise.withResolvers<JobState>()];
  rig.answer = () => (rig.polls.length === 1 ? first : second).promise;
  rig.poller.start();
  let isDone = false;
  const asked = rig.poller.settleIfEnded('a').then(() => {
    isDone = true;
  });
  first.resolve(RUNNING);
  await rig.pass(0);
  expect([rig.polls, isDone]).toEqual([['a', 'a'], false]);
  second.resolve(ENDED);
  await asked;
  expect(rig.settled.map(([id]) => id)).toEqual(['a']);
  await rig.poller.settleIfEnded('a');
  expect(rig.polls).toEqual(['a', 'a']);
  await rig.poller.stop();
});
