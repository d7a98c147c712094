/** Tests that a disconnect of the client cancels its upstream call within 200 ms, in every phase of the call. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { connectRaw, rawRequest } from '../fake-upstream/raw-client.ts';
import type { Scenario } from '../fake-upstream/scenario.ts';
import { eventually } from '../harness/eventually.ts';
import { pointAt } from '../harness/point-at.ts';
import { startScheduledClock } from '../harness/scheduled-clock.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { PROTOCOLS, type ProtocolName, renderBody, send } from './calls.ts';

const WITHIN_MS = 200;

interface State {
  readonly name: string;
  readonly scenario: Scenario;
  readonly stream: boolean;
  /** Number of events that upstream sends before the client disconnects. */
  readonly events: number;
  /** Whether the client has the response head by then. */
  readonly headSeen: boolean;
}

const STATES: readonly State[] = [
  {
    name: 'before the head of a stream',
    scenario: { delayBeforeFirstByteMs: 20_000 },
    stream: true,
    events: 0,
    headSeen: false,
  },
  {
    name: 'after the head of a stream',
    scenario: { delayAfterHeadMs: 20_000 },
    stream: true,
    events: 0,
    headSeen: false,
  },
  {
    name: 'in the middle of a stream',
    scenario: { answer: 'long:1000', delayBetweenEventsMs: 20 },
    stream: true,
    events: 5,
    headSeen: true,
  },
  {
    name: 'while a stream stalls',
    scenario: { answer: 'long:20', stallAfterEvent: 6 },
    stream: true,
    events: 6,
    headSeen: true,
  },
  {
    name: 'while a plain call waits',
    scenario: { delayBeforeFirstByteMs: 20_000 },
    stream: false,
    events: 0,
    headSeen: false,
  },
  {
    name: 'in the middle of a plain body',
    scenario: { cut: { at: 40, how: 'stall' } },
    stream: false,
    events: 0,
    headSeen: false,
  },
];

let pair: Pair;
const modelOf = (protocol: ProtocolName, index: number) => `leave-${protocol}-${index}`;

beforeAll(async () => {
  const names = (protocol: ProtocolName) => STATES.map((_, index) => modelOf(protocol, index));
  pair = await startPair((url) =>
    pointAt(url, { chat: [...names('chat'), 'leave-stuck-fin', 'leave-stuck-rst'], messages: names('messages') }),
  );
});
afterAll(() => pair.stop());

const left: string[] = [];

describe.each([...PROTOCOLS])('%s', (protocol) => {
  test.each(STATES.map((state, index) => [state.name, state, index] as const))(
    'a client leaves %s',
    async (_, state, index) => {
      const model = modelOf(protocol, index);
      pair.fake.script(model, state.scenario);
      const leave = new AbortController();
      const response = send(pair.gateway, { protocol, model, stream: state.stream, signal: leave.signal });
      const outcome = response.then(async (came) => void (await came.text())).catch(() => 'left');
      const [call] = await pair.fake.waitFor((one) => one.model === model && one.eventsSent >= state.events);
      if (state.headSeen) await response;
      const arrived = call?.number;
      const scheduledMs = startScheduledClock();
      leave.abort();
      await pair.fake.waitFor((one) => one.number === arrived && one.leftAtMs !== null, { timeoutMs: 20_000 });
      expect(scheduledMs()).toBeLessThan(WITHIN_MS);
      expect(await outcome).toBe('left');
      left.push(model);
    },
  );
});

test.each(['fin', 'rst'] as const)('a client that has stopped reading an endless stream leaves by %s', async (how) => {
  const model = `leave-stuck-${how}`;
  pair.fake.script(model, { answer: 'endless' });
  const client = await connectRaw(pair.gateway.url);
  client.pause();
  client.send(
    rawRequest('POST', '/v1/chat/completions', renderBody({ protocol: 'chat', model, stream: true }), {
      authorization: `Bearer ${pair.gateway.key}`,
    }),
  );
  const [call] = await pair.fake.waitFor((one) => one.model === model && one.eventsSent > 100, { timeoutMs: 10_000 });
  let sent = -1;
  let looks = 0;
  await eventually(
    'upstream to be held back',
    () => {
      const now = pair.fake.served(model)[0]?.bytesSent ?? 0;
      looks = now === sent ? looks + 1 : 0;
      sent = now;
      return looks >= 20 ? true : null;
    },
    20_000,
  );
  const scheduledMs = startScheduledClock();
  client.leave(how);
  await pair.fake.waitFor((one) => one.number === call?.number && one.leftAtMs !== null, { timeoutMs: 20_000 });
  expect(scheduledMs()).toBeLessThan(WITHIN_MS);
  left.push(model);
});

test('each call that was left has its record, and pays at least for its input', async () => {
  expect(left.length).toBe(PROTOCOLS.length * STATES.length + 2);
  const lines = await eventually('the records', async () => {
    const found = await pair.gateway.calls();
    return found.length >= left.length ? found : null;
  });
  const records = new Map(lines.map((line) => [line.model, line]));
  for (const model of left) {
    const record = records.get(model);
    expect([model, record?.error, record?.status]).toEqual([model, 'client_left', 499]);
    // Input is charged once it was sent; an early disconnect must not make it free.
    expect(record?.usage_source).toMatch(/^(?:counted|partial)$/);
    expect(record?.usage.input).toBeGreaterThan(0);
  }
  expect(lines.length).toBe(left.length);
});
