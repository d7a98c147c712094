/** Tests what the caller gets, and what the record says, for each kind of faulty upstream answer. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { gzipSync } from 'node:zlib';
import { MALFORMED_HEADS, type Scenario } from '../fake-upstream/scenario.ts';
import { pointAt } from '../harness/point-at.ts';
import { startScheduledClock } from '../harness/scheduled-clock.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { ask, endsInError, hasTerminal, PROTOCOLS, type ProtocolName, recordsById } from './calls.ts';

interface Fault {
  readonly name: string;
  readonly scenario: Scenario;
  readonly stream: boolean;
  /**
   * `refused`: an error status. `in-band`: 200, then an error at the end. `complete`: a good answer despite the fault.
   */
  readonly end: 'refused' | 'in-band' | 'complete';
  /** Default 500; `messagesStatus` where messages have a different one. */
  readonly status?: number;
  readonly messagesStatus?: number;
  /** `usage_source` of the record. */
  readonly source: string;
}

const gzipped = gzipSync('data: {"choices":[]}\n\n').toString('base64');
const USAGE = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };
const SAID = {
  choices: [{ index: 0, message: { role: 'assistant', content: 'three carts' }, finish_reason: 'stop' }],
  usage: USAGE,
};
const both = (fault: Omit<Fault, 'stream'>): Fault[] => [
  { ...fault, name: `${fault.name}, stream`, stream: true },
  { ...fault, name: `${fault.name}, plain`, stream: false },
];

const FAULTS: readonly Fault[] = [
  ...Object.entries(MALFORMED_HEADS).flatMap(([name, rawHead]) =>
    both({ name: `malformed head ${name}`, scenario: { rawHead }, end: 'refused', source: 'void' }),
  ),
  ...both({
    name: 'closed before its head',
    scenario: { cut: { at: 'before-headers', how: 'fin' } },
    end: 'refused',
    source: 'void',
  }),
  ...both({
    name: 'reset inside its head',
    scenario: { cut: { at: 'in-headers', how: 'rst' } },
    end: 'refused',
    source: 'void',
  }),
  ...both({ name: 'hollow 200', scenario: { hollow: true }, end: 'refused', source: 'void' }),
  ...both({ name: 'huge error body', scenario: { errorBodyBytes: 300_000 }, end: 'refused', source: 'void' }),
  ...both({
    name: 'error body under 200',
    scenario: { status: 200, json: { type: 'error', error: { type: 'api_error', message: 'odd' } } },
    end: 'refused',
    source: 'void',
  }),
  {
    name: 'a stream compressed although not asked',
    scenario: { bodyBase64: gzipped, headers: { 'content-encoding': 'gzip', 'content-type': 'text/event-stream' } },
    stream: true,
    end: 'refused',
    source: 'void',
  },
  ...[500, 502, 503].flatMap((status) =>
    both({ name: `HTTP ${status}`, scenario: { status }, end: 'refused', source: 'void' }),
  ),
  ...[401, 402, 403].flatMap((status) =>
    both({ name: `our credential refused with ${status}`, scenario: { status }, end: 'refused', source: 'void' }),
  ),
  ...both({ name: 'HTTP 429', scenario: { status: 429 }, end: 'refused', status: 429, source: 'void' }),
  ...both({ name: 'HTTP 400', scenario: { status: 400 }, end: 'refused', status: 400, source: 'void' }),
  {
    name: 'a malformed event in the middle',
    scenario: { answer: 'long:20', malformedEvent: 8 },
    stream: true,
    end: 'in-band',
    source: 'partial',
  },
  {
    name: 'an error as the first event',
    scenario: { errorEvent: 1 },
    stream: true,
    end: 'refused',
    messagesStatus: 529,
    source: 'void',
  },
  {
    name: 'an error in the middle',
    scenario: { answer: 'long:20', errorEvent: 8 },
    stream: true,
    end: 'in-band',
    source: 'partial',
  },
  { name: 'no usage', scenario: { omitUsage: true }, stream: false, end: 'complete', source: 'counted' },
  {
    name: 'a streamed call answered in one piece',
    scenario: { json: { choices: [] } },
    stream: true,
    end: 'refused',
    source: 'void',
  },
];

let pair: Pair;
const modelOf = (protocol: ProtocolName, index: number) => `fault-${protocol}-${index}`;

beforeAll(async () => {
  const names = (protocol: ProtocolName) => FAULTS.map((_, index) => modelOf(protocol, index));
  pair = await startPair((url) =>
    pointAt(url, {
      chat: [...names('chat'), 'extra'],
      messages: [...names('messages'), 'extra-messages'],
      apart: true,
    }),
  );
});
afterAll(() => pair.stop());

describe.each([...PROTOCOLS])('%s', (protocol) => {
  test('each fault of an upstream has its own end and its record', async () => {
    const found = await Promise.all(
      FAULTS.map(async ({ scenario, stream }, index) => {
        const model = modelOf(protocol, index);
        pair.fake.script(model, scenario);
        return ask(pair.gateway, { protocol, model, stream });
      }),
    );
    const records = await recordsById(pair.gateway);
    const rows = FAULTS.map((fault, index) => {
      const answer = found[index];
      if (answer === undefined) throw new Error(`no answer for ${fault.name}`);
      const record = records.get(answer.requestId);
      const end = answer.status !== 200 ? 'refused' : endsInError(protocol, answer.text) ? 'in-band' : 'complete';
      const told = `${fault.name}: ${end} ${answer.status} ${record?.usage_source} error ${record?.error === null ? 'none' : 'set'}`;
      const falseEnd = end === 'in-band' && hasTerminal(protocol, answer.text) ? ' and a terminal' : '';
      return `${told}${falseEnd}${record?.status === answer.status ? '' : ` record says ${record?.status}`}`;
    });
    expect(rows).toEqual(
      FAULTS.map(
        ({ name, end, status, messagesStatus, source }) =>
          `${name}: ${end} ${end === 'refused' ? ((protocol === 'messages' ? messagesStatus : undefined) ?? status ?? 500) : 200} ${source} error ${end === 'complete' ? 'none' : 'set'}`,
      ),
    );
  });
});

test('a compressed stream is named as what it is, before it ends', async () => {
  const headers = { 'content-encoding': 'gzip', 'content-type': 'text/event-stream' };
  pair.fake.script('extra', { answer: 'long:20', headers, stallAfterEvent: 3 });
  const { text } = await ask(pair.gateway, { protocol: 'chat', model: 'extra', stream: true });
  expect(text).toContain('sent a compressed stream, although it was asked for an uncompressed one');
  expect(pair.gateway.stderr()).toContain('content-encoding: gzip');
});

test('a chat stream without [DONE] whose choices all finished gets one, and without usage it is counted', async () => {
  pair.fake.script('extra', { omitEnd: true, omitUsage: true });
  const answer = await ask(pair.gateway, { protocol: 'chat', model: 'extra', stream: true });
  expect(hasTerminal('chat', answer.text)).toBe(true);
  const record = (await recordsById(pair.gateway)).get(answer.requestId);
  expect([record?.error, record?.usage_source]).toEqual([null, 'counted']);
});

test('a plain answer compressed without a request for it reaches the client uncompressed, with its usage', async () => {
  const bodyBase64 = gzipSync(JSON.stringify(SAID)).toString('base64');
  pair.fake.script('extra', { bodyBase64, headers: { 'content-encoding': 'gzip' } });
  const answer = await ask(pair.gateway, { protocol: 'chat', model: 'extra', stream: false });
  expect([answer.status, JSON.parse(answer.text)]).toEqual([200, SAID]);
  expect((await recordsById(pair.gateway)).get(answer.requestId)?.usage_source).toBe('upstream');
});

test('a messages stream without message_stop is an error, never a success', async () => {
  pair.fake.script('extra-messages', { omitEnd: true });
  const answer = await ask(pair.gateway, { protocol: 'messages', model: 'extra-messages', stream: true });
  expect(hasTerminal('messages', answer.text)).toBe(false);
  expect(endsInError('messages', answer.text)).toBe(true);
});

test('a request on a reused connection that the upstream reset is sent again, and the client does not notice', async () => {
  pair.fake.script('extra', [{ resetAtNextRequest: true }, {}]);
  const first = await ask(pair.gateway, { protocol: 'chat', model: 'extra', stream: false });
  const second = await ask(pair.gateway, { protocol: 'chat', model: 'extra', stream: false });
  expect([first.status, second.status]).toEqual([200, 200]);
  expect(pair.fake.connections().some(({ resetUnread }) => resetUnread > 0)).toBe(true);
});

test('the answer of an upstream that has not read the whole body is delivered', async () => {
  const early = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open(socket) {
        const body = '{"error":{"message":"too long","type":"invalid_request_error"}}';
        socket.write(
          `HTTP/1.1 413 Payload Too Large\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
        );
      },
      data() {},
    },
  });
  const other = await startPair(() => pointAt(`http://127.0.0.1:${early.port}`, { chat: ['early'] }));
  try {
    const answer = await ask(other.gateway, { protocol: 'chat', model: 'early', stream: false });
    expect([answer.status, answer.text.includes('too long')]).toEqual([413, true]);
  } finally {
    await other.stop();
    early.stop(true);
  }
});

test('a call to an address without a listener gets 500 at once', async () => {
  const gone = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } });
  const { port } = gone;
  gone.stop(true);
  const other = await startPair(() => pointAt(`http://127.0.0.1:${port}`, { chat: ['dead'] }));
  try {
    const scheduledMs = startScheduledClock();
    const answer = await ask(other.gateway, { protocol: 'chat', model: 'dead', stream: true });
    expect(answer.status).toBe(500);
    expect(scheduledMs()).toBeLessThan(2_000);
  } finally {
    await other.stop();
  }
});
