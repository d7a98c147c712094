/** Shows on bare sockets that each scripted fault of content, timing and ending does what it says, and is booked as such. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { splitRecords, textOf } from './body-part.ts';
import { headerOf } from './parse-request.ts';
import { connectRaw, type Ended, exchange, parseRawResponse, type RawClient } from './raw-client.ts';
import type { Scenario } from './scenario.ts';
import type { ServedCall } from './served.ts';
import { type FakeUpstream, startFakeUpstream } from './start-fake-upstream.ts';
import { chatCall, messagesCall } from './test-calls.ts';

let fake: FakeUpstream;
beforeAll(async () => {
  fake = await startFakeUpstream();
});
afterEach(() => fake.reset());
afterAll(() => fake.stop());

const STREAM = { stream: true, stream_options: { include_usage: true } };
const RECORDED = 'fixture:stream-text';

async function endOf(scenario: Scenario, call = chatCall('m', STREAM)): Promise<{ client: RawClient; ended: Ended }> {
  fake.script('m', scenario);
  const client = await connectRaw(fake.port);
  client.send(call);
  return { client, ended: await client.untilEnd() };
}

async function answerTo(scenario: Scenario, call = chatCall('m', STREAM)) {
  fake.script('m', scenario);
  const { response, client } = await exchange(fake.port, call);
  client.leave();
  if (response === null) throw new Error('no response');
  return {
    ...response,
    text: response.body.toString(),
    records: splitRecords(response.body).map((p) => textOf(p.bytes)),
  };
}

async function whole(call: Uint8Array): Promise<Buffer> {
  const { response, client } = await exchange(fake.port, call);
  client.leave();
  if (response === null) throw new Error('no response');
  return response.body;
}

const booked = async (finished: ServedCall['finished']): Promise<ServedCall> => {
  const [call] = await fake.waitFor((one) => one.model === 'm' && one.finished === finished);
  if (call === undefined) throw new Error('not booked');
  return call;
};

describe('a cut', () => {
  test.each([
    ['fin', 'chunked'],
    ['rst', 'chunked'],
    ['fin', 'content-length'],
    ['rst', 'content-length'],
    ['fin', 'close'],
    ['rst', 'close'],
  ] as const)('by %s with %s framing leaves exactly the bytes before it', async (how, framing) => {
    const body = await whole(chatCall(RECORDED, STREAM));
    for (const at of [0, 1, 100, 300, body.byteLength - 1, body.byteLength]) {
      fake.reset();
      const { client, ended } = await endOf({ answer: RECORDED, framing, cut: { at, how } });
      const response = parseRawResponse(client.received(), ended);
      expect([at, ended, response?.body.toString()]).toEqual([at, how, body.subarray(0, at).toString()]);
      const call = await booked('cut');
      expect([call.bytesSent, call.endedMs === null, call.leftAtMs]).toEqual([at, false, null]);
      expect(call.eventsSent).toBe(
        splitRecords(body.subarray(0, at)).filter((p) => /\n\n$/.test(textOf(p.bytes))).length,
      );
    }
  });

  test('in mid-record breaks off in mid-chunk, and at the end leaves out the last chunk', async () => {
    const { client } = await endOf({ answer: RECORDED, cut: { at: 5, how: 'fin' } });
    expect(client.received().toString()).toMatch(/\r\n\r\n[0-9a-f]{2,}\r\ndata:$/);
    const { client: late } = await endOf({ answer: RECORDED, cut: { at: 1_000_000, how: 'fin' } });
    expect(late.received().toString()).toEndWith('data: [DONE]\n\n\r\n');
  });

  test('by stall sends the bytes and then nothing, on an open socket', async () => {
    fake.script('m', { answer: RECORDED, cut: { at: 77, how: 'stall' } });
    const client = await connectRaw(fake.port);
    client.send(chatCall('m', STREAM));
    expect((await booked('stalled')).bytesSent).toBe(77);
    await client.until(() => parseRawResponse(client.received())?.body.byteLength === 77);
    expect(client.ended()).toBe('open');
    client.leave();
    const [left] = await fake.waitFor((call) => call.leftAtMs !== null);
    expect(left?.finished).toBe('stalled');
  });

  test.each(['fin', 'rst'] as const)('before the headers leaves nothing (%s)', async (how) => {
    const { client, ended } = await endOf({ cut: { at: 'before-headers', how } });
    expect([ended, client.received().byteLength]).toEqual([how, 0]);
  });

  test.each(['fin', 'rst'] as const)('in the headers leaves half a head (%s)', async (how) => {
    const { client, ended } = await endOf({ cut: { at: 'in-headers', how } });
    expect(ended).toBe(how);
    expect(client.received().toString()).toStartWith('HTTP/1.1 200 OK\r\n');
    expect(client.received().includes('\r\n\r\n')).toBe(false);
    expect((await booked('cut')).bytesSent).toBe(0);
  });

  test('by reset waits until a large body has reached the reader, so that every byte before it counts', async () => {
    const at = 600_000;
    fake.script('m', {
      answer: 'long:50000',
      framing: 'close',
      chunking: { sizes: [60_000] },
      cut: { at, how: 'rst' },
    });
    const client = await connectRaw(fake.port);
    client.pause();
    client.send(chatCall('m', STREAM));
    await fake.waitFor((call) => call.bytesSent === at);
    client.resume();
    expect(await client.untilEnd()).toBe('rst');
    expect(parseRawResponse(client.received(), 'rst')?.body.byteLength).toBe(at);
  });
});

describe('a stall after an event', () => {
  test.each([0, 1, 3])('sends %d events and keeps the socket open', async (events) => {
    fake.script('m', { answer: RECORDED, stallAfterEvent: events });
    const client = await connectRaw(fake.port);
    client.send(chatCall('m', STREAM));
    const call = await booked('stalled');
    expect([call.eventsSent, call.status]).toEqual([events, 200]);
    await client.until(() => parseRawResponse(client.received())?.body.byteLength === call.bytesSent);
    expect(client.ended()).toBe('open');
    client.leave();
  });
});

describe('events gone wrong', () => {
  test('a malformed event stands in the place of the right one', async () => {
    const good = await answerTo({ answer: RECORDED });
    const bad = await answerTo({ answer: RECORDED, malformedEvent: 3 });
    expect(bad.records.toSpliced(2, 1)).toEqual(good.records.toSpliced(2, 1));
    expect(() => JSON.parse(bad.records[2]?.slice(6) ?? '{}')).toThrow();
  });

  test('an error event ends the body, first or in the middle, in either protocol', async () => {
    const first = await answerTo({ answer: RECORDED, errorEvent: 1 });
    expect(first.records).toHaveLength(1);
    expect(JSON.parse(first.records[0]?.slice(6) ?? '')).toHaveProperty('error.message', 'Overloaded');
    const middle = await answerTo({ answer: RECORDED, errorEvent: 4 }, messagesCall('m', STREAM));
    expect(middle.records).toHaveLength(4);
    expect(middle.records[3]).toStartWith('event: error\ndata: {"type":"error"');
    expect([middle.status, middle.whole]).toEqual([200, true]);
  });

  test('usage left out is nowhere, plain or streamed, in either protocol', async () => {
    for (const call of [chatCall('m', STREAM), chatCall('m'), messagesCall('m', STREAM), messagesCall('m')]) {
      fake.reset();
      const { text } = await answerTo({ omitUsage: true }, call);
      expect(text).not.toMatch(/_tokens/);
      expect(text).toMatch(/stop|end_turn/);
      expect((await booked('complete')).usage).toBeNull();
    }
  });

  test('the end left out leaves everything before it', async () => {
    for (const [call, end] of [
      [chatCall, 'data: [DONE]\n\n'],
      [messagesCall, 'event: message_stop\ndata: {"type":"message_stop"}\n\n'],
    ] as const) {
      const good = await answerTo({}, call('m', STREAM));
      expect(good.text).toEndWith(end);
      const cut = await answerTo({ omitEnd: true }, call('m', STREAM));
      expect([cut.text, cut.whole]).toEqual([good.text.slice(0, -end.length), true]);
    }
  });
});

describe('bodies', () => {
  test('a hollow 200 has no body', async () => {
    const { status, body, whole: ended } = await answerTo({ hollow: true }, chatCall('m'));
    expect([status, body.byteLength, ended]).toEqual([200, 0, true]);
  });

  test('a status alone gives the error of the protocol', async () => {
    const chat = await answerTo({ status: 429, headers: { 'retry-after': '7' } });
    expect([chat.status, headerOf(chat, 'retry-after')]).toEqual([429, '7']);
    expect(JSON.parse(chat.text)).toHaveProperty('error.code', 'rate_limit_exceeded');
    const messages = await answerTo({ status: 529 }, messagesCall('m'));
    expect(JSON.parse(messages.text)).toHaveProperty('error.type', 'overloaded_error');
  });

  test('a huge error body has the size asked for and is JSON', async () => {
    const { status, body } = await answerTo({ errorBodyBytes: 3_000_000, status: 502 });
    expect([status, body.byteLength]).toEqual([502, 3_000_000]);
    expect(JSON.parse(body.toString())).toHaveProperty('error.type', 'server_error');
  });

  test('verbatim text, bytes, JSON and records arrive as given', async () => {
    expect((await answerTo({ body: 'not {json' })).text).toBe('not {json');
    expect([...(await answerTo({ bodyBase64: '/wD+' })).body]).toEqual([0xff, 0, 0xfe]);
    expect((await answerTo({ json: { a: [1, null] } })).text).toBe('{"a":[1,null]}');
    expect((await answerTo({ records: ['data: 1\n\n', ': c\n\n'] })).records).toEqual(['data: 1\n\n', ': c\n\n']);
  });

  test('the echo says what arrived, in a good answer', async () => {
    const call = chatCall('m', { extra: 'é' });
    const { text } = await answerTo({ echo: true }, call);
    const said = JSON.parse(JSON.parse(text).choices[0].message.content);
    expect([said.method, said.target, said.body]).toEqual([
      'POST',
      '/v1/chat/completions',
      call.subarray(call.byteLength - Buffer.byteLength(said.body)).toString(),
    ]);
    expect(said.headers).toContainEqual(['content-type', 'application/json']);
  });
});

describe('timing', () => {
  test('waits before the first byte, after the head and between events are kept', async () => {
    const startedMs = performance.now();
    const { client } = await endOf({
      answer: 'long:3',
      delayBeforeFirstByteMs: 40,
      delayAfterHeadMs: 30,
      delayBetweenEventsMs: 10,
      framing: 'close',
    });
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(40 + 30 + 6 * 10 - 5);
    expect(client.reads().length).toBeGreaterThanOrEqual(7);
  });
});
