/**
 * Tests that the record of served requests is accurate: other suites compare what the gateway charges, forwards and
 * aborts with it.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { textOf } from './answer/body-part.ts';
import { chatCall, connectRaw, exchange, messagesCall, parseRawResponse } from './raw-client.ts';
import type { Chunking } from './scenario.ts';
import { type FakeUpstream, startFakeUpstream } from './start-fake-upstream.ts';

let fake: FakeUpstream;
beforeAll(async () => {
  fake = await startFakeUpstream();
});
afterEach(() => fake.reset());
afterAll(() => fake.stop());

describe('the book', () => {
  test('keeps the request as it came: line, header lines, body bytes', async () => {
    const call = messagesCall('ok', { odd: 'é', stream: true });
    const { client } = await exchange(fake.port, call);
    client.leave();
    const [served] = await fake.waitFor((one) => one.finished === 'complete');
    if (served === undefined) throw new Error('not booked');
    const sent = Buffer.from(call).toString('latin1');
    const head = [served.requestLine, ...served.headLines].join('\r\n');
    expect(`${head}\r\n\r\n${Buffer.from(served.requestBody).toString('latin1')}`).toBe(sent);
    expect([served.model, served.endpoint, served.stream, served.status]).toEqual(['ok', 'messages', true, 200]);
  });

  test('counts body bytes and events as the client received them, whatever the chunking, framing and cut', async () => {
    const chunking = fc.oneof(
      fc.constantFrom<Chunking>('record', 'bytes', 'all', 'utf8'),
      fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 3 }).map((sizes): Chunking => ({ sizes })),
    );
    const framing = fc.constantFrom('chunked' as const, 'content-length' as const, 'close' as const);
    const how = fc.constantFrom('fin' as const, 'rst' as const);
    await fc.assert(
      fc.asyncProperty(chunking, framing, how, fc.integer({ min: 0, max: 2_500 }), async (divided, framed, end, at) => {
        fake.reset();
        const answer = 'fixture:stream-tool-parallel';
        fake.script('m', { answer, chunking: divided, framing: framed, cut: { at, how: end } });
        const client = await connectRaw(fake.port);
        client.send(messagesCall('m', { stream: true }));
        const ended = await client.untilEnd();
        const body = parseRawResponse(client.received(), ended)?.body ?? Buffer.alloc(0);
        const [call] = await fake.waitFor((one) => one.finished === 'cut');
        expect(call?.bytesSent).toBe(body.byteLength);
        expect(call?.eventsSent).toBe(textOf(body).split('\n\n').length - 1);
      }),
      { numRuns: 60 },
    );
  });

  test('has the usage that left: merged over the events of a message, none before it was sent', async () => {
    const { client } = await exchange(fake.port, messagesCall('fixture:stream-thinking', { stream: true }));
    client.leave();
    const [whole] = await fake.waitFor((one) => one.finished === 'complete');
    expect(whole?.usage).toMatchObject({ input_tokens: 41, output_tokens: 37 });
    fake.reset();
    fake.script('m', { answer: 'fixture:stream-text', cut: { at: 1_000, how: 'fin' } });
    await exchange(fake.port, messagesCall('m', { stream: true }));
    const [cut] = await fake.waitFor((one) => one.finished === 'cut');
    expect(cut?.usage).toMatchObject({ input_tokens: 22, output_tokens: 1 });
    fake.reset();
    fake.script('m', { answer: 'fixture:stream-text', stallAfterEvent: 3 });
    const chat = await connectRaw(fake.port);
    chat.send(chatCall('m', { stream: true }));
    const [stalled] = await fake.waitFor((one) => one.finished === 'stalled');
    expect(stalled?.usage).toBeNull();
    chat.leave();
  });
});

test('usage left out is nowhere, plain or streamed, in either protocol', async () => {
  const stream = { stream: true, stream_options: { include_usage: true } };
  for (const call of [chatCall('m', stream), chatCall('m'), messagesCall('m', stream), messagesCall('m')]) {
    fake.reset();
    fake.script('m', { omitUsage: true });
    const { response, client } = await exchange(fake.port, call);
    client.leave();
    const text = response?.body.toString();
    expect(text).not.toMatch(/_tokens/);
    expect(text).toMatch(/stop|end_turn/);
    const [served] = await fake.waitFor((one) => one.finished === 'complete');
    expect(served?.usage).toBeNull();
  }
});

describe('a client that leaves', () => {
  test.each(['fin', 'rst'] as const)('in mid-stream is booked with what left and when (%s)', async (how) => {
    const client = await connectRaw(fake.port);
    client.send(chatCall('endless', { stream: true }));
    await client.until(() => client.received().byteLength > 10_000);
    client.leave(how);
    const [call] = await fake.waitFor((one) => one.finished === 'client-left');
    expect(call?.bytesSent).toBeGreaterThan(9_000);
    expect(call?.leftAtMs).toBeGreaterThan(call?.arrivedMs ?? Number.POSITIVE_INFINITY);
    expect(call?.usage).toBeNull();
  });

  test('before the first byte is booked with nothing sent', async () => {
    fake.script('m', { delayBeforeFirstByteMs: 60_000 });
    const client = await connectRaw(fake.port);
    client.send(chatCall('m'));
    await fake.waitFor((one) => one.finished === 'open');
    client.leave();
    const [call] = await fake.waitFor((one) => one.finished === 'client-left');
    expect([call?.bytesSent, call?.eventsSent]).toEqual([0, 0]);
  });

  test('in the middle of its request is no call, but an unfinished request', async () => {
    const client = await connectRaw(fake.port);
    client.send(chatCall('m').subarray(0, -3));
    client.leave();
    await fake.until(() => fake.connections().some((connection) => connection.unfinishedRequests === 1));
    expect(fake.served()).toEqual([]);
  });
});

test('the next request meets a reset, unread: no response byte and no call in the book', async () => {
  fake.script('m', { resetAtNextRequest: true });
  const client = await connectRaw(fake.port);
  client.send(chatCall('m'));
  await client.until(() => parseRawResponse(client.received())?.whole === true);
  const before = client.received().byteLength;
  client.send(chatCall('m'));
  expect(await client.untilEnd()).toBe('rst');
  expect(client.received().byteLength).toBe(before);
  expect(fake.served()).toHaveLength(1);
  expect(fake.connections().at(-1)?.resetUnread).toBe(1);
});
