/** Tests silence: each upstream timeout, keep-alives to the client, the early 200. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { pointAt } from '../harness/point-at.ts';
import { startScheduledClock } from '../harness/scheduled-clock.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { ask, endsInError, hasTerminal, PROTOCOLS, type ProtocolName, recordsById } from './calls.ts';

const TIMEOUTS = { connect: '300ms', first_byte: '400ms', first_byte_plain: '700ms', idle: '500ms', total: '20s' };
const LIMITS = { keep_alive: '100ms', commit_after: '200ms' };
const KEEP_ALIVE = { chat: ': keep-alive\n', messages: 'event: ping\n' } as const;

let pair: Pair;
let patient: Pair;

beforeAll(async () => {
  const models = { chat: ['c-silent', 'c-stalled'], messages: ['m-silent', 'm-stalled'] };
  [pair, patient] = await Promise.all([
    startPair((url) => pointAt(url, { ...models, timeouts: TIMEOUTS })),
    startPair((url) => pointAt(url, { ...models, limits: LIMITS })),
  ]);
});
afterAll(() => Promise.all([pair.stop(), patient.stop()]));

const silentOf = (protocol: ProtocolName) => `${protocol[0]}-silent`;
const stalledOf = (protocol: ProtocolName) => `${protocol[0]}-stalled`;
/** Runs both protocols concurrently: the silence takes most of the time. */
const onBoth = (look: (protocol: ProtocolName) => Promise<void>) => Promise.all(PROTOCOLS.map(look));

test.each([
  ['stream', true, 400],
  ['plain call', false, 700],
] as const)('no first byte of a %s within its limit is an error status, not before it', (_, stream, limitMs) =>
  onBoth(async (protocol) => {
    pair.fake.script(silentOf(protocol), { delayBeforeFirstByteMs: 15_000 });
    const startMs = performance.now();
    const scheduledMs = startScheduledClock();
    const answer = await ask(pair.gateway, { protocol, model: silentOf(protocol), stream });
    const [tookMs, tookScheduledMs] = [performance.now() - startMs, scheduledMs()];
    // Messages have their own status for a timeout (504, `timeout_error`).
    expect(answer.status).toBe(protocol === 'chat' ? 500 : 504);
    expect(tookMs).toBeGreaterThanOrEqual(limitMs - 5);
    expect(tookScheduledMs).toBeLessThan(limitMs + 600);
  }),
);

test('a stall in the middle of a stream is an in-band error after the idle limit, and the output so far is charged', () =>
  onBoth(async (protocol) => {
    pair.fake.script(stalledOf(protocol), { answer: 'long:20', stallAfterEvent: 6 });
    const { status, text, requestId } = await ask(pair.gateway, { protocol, model: stalledOf(protocol), stream: true });
    expect([status, endsInError(protocol, text), hasTerminal(protocol, text)]).toEqual([200, true, false]);
    const record = (await recordsById(pair.gateway)).get(requestId);
    expect([record?.error, record?.usage_source]).toEqual(['upstream_timeout', 'partial']);
  }));

test('silence before the first byte is bridged by an early 200 and keep-alives, and the answer is complete', () =>
  onBoth(async (protocol) => {
    patient.fake.script(silentOf(protocol), { delayBeforeFirstByteMs: 700 });
    const { status, text } = await ask(patient.gateway, { protocol, model: silentOf(protocol), stream: true });
    expect([status, hasTerminal(protocol, text)]).toEqual([200, true]);
    expect(text.startsWith(KEEP_ALIVE[protocol])).toBe(true);
    expect(text.split(KEEP_ALIVE[protocol]).length - 1).toBeGreaterThanOrEqual(3);
  }));

test('a failure of upstream after the early 200 is an in-band error', () =>
  onBoth(async (protocol) => {
    patient.fake.script(silentOf(protocol), {
      delayBeforeFirstByteMs: 400,
      cut: { at: 'before-headers', how: 'rst' },
    });
    const { status, text } = await ask(patient.gateway, { protocol, model: silentOf(protocol), stream: true });
    expect([status, endsInError(protocol, text), hasTerminal(protocol, text)]).toEqual([200, true, false]);
  }));

test('an upstream that never accepts is given up after the connect limit', async () => {
  // Listens but never accepts a connection: the kernel's queue is full after two.
  const script =
    'import socket,sys,time\ns=socket.socket();s.bind(("127.0.0.1",0));s.listen(0)\nk=[socket.socket() for _ in range(3)]\nfor c in k: c.setblocking(False); c.connect_ex(s.getsockname())\nprint(s.getsockname()[1],flush=True)\nsys.stdin.read()';
  const deaf = Bun.spawn(['python3', '-c', script], { stdin: 'pipe', stdout: 'pipe' });
  const { value } = await deaf.stdout.getReader().read();
  const port = Number(new TextDecoder().decode(value));
  const other = await startPair(() => pointAt(`http://127.0.0.1:${port}`, { chat: ['deaf'], timeouts: TIMEOUTS }));
  try {
    const startMs = performance.now();
    const answer = await ask(other.gateway, { protocol: 'chat', model: 'deaf', stream: false });
    expect(answer.status).toBe(500);
    expect(performance.now() - startMs).toBeGreaterThanOrEqual(295);
    const record = (await recordsById(other.gateway)).get(answer.requestId);
    expect([record?.error, record?.usage_source]).toEqual(['upstream_timeout', 'void']);
  } finally {
    await other.stop();
    deaf.kill();
  }
});
