/** Shows how the rig treats connections: keep-alive, pipelines, stale sockets, leaving clients, slow reading. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { connectRaw, parseRawResponse, type RawClient, rawRequest } from './raw-client.ts';
import { type FakeUpstream, startFakeUpstream } from './start-fake-upstream.ts';
import { chatCall } from './test-calls.ts';

let fake: FakeUpstream;
beforeAll(async () => {
  fake = await startFakeUpstream();
});
afterEach(() => fake.reset());
afterAll(() => fake.stop());

async function answered(client: RawClient, call: Uint8Array): Promise<void> {
  const before = client.received().byteLength;
  client.send(call);
  await client.until(() => parseRawResponse(client.received().subarray(before))?.whole === true);
}

describe('keep-alive', () => {
  test('many calls on one connection are booked in order, with the connection and their place on it', async () => {
    const client = await connectRaw(fake.port);
    for (const model of ['ok', 'tool', 'think']) await answered(client, chatCall(model));
    const calls = fake.served();
    expect(calls.map((call) => [call.model, call.callOnConnection])).toEqual([
      ['ok', 1],
      ['tool', 2],
      ['think', 3],
    ]);
    expect(new Set(calls.map((call) => call.connection)).size).toBe(1);
    const other = await connectRaw(fake.port);
    await answered(other, chatCall('ok'));
    expect(fake.served().at(-1)?.connection).not.toBe(calls[0]?.connection);
    client.leave();
    other.leave();
  });

  test('pipelined calls are answered one after another', async () => {
    fake.script('slow', { answer: 'ok', delayBeforeFirstByteMs: 20 });
    const client = await connectRaw(fake.port);
    client.send(Buffer.concat([chatCall('slow'), chatCall('tool'), chatCall('think')]));
    await fake.waitFor((call) => call.finished === 'complete', { count: 3 });
    await client.until(() => client.received().toString().split('HTTP/1.1 200').length === 4);
    const models = [
      ...client
        .received()
        .toString()
        .matchAll(/"model":"(\w+)"/g),
    ].map((match) => match[1]);
    expect(models).toEqual(['slow', 'tool', 'think']);
    client.leave();
  });

  test('an answer larger than the kernel holds goes on when the reader does, also behind another in a pipeline', async () => {
    fake.script('big', { errorBodyBytes: 12_000_000 });
    const client = await connectRaw(fake.port);
    client.pause();
    client.send(Buffer.concat([chatCall('ok'), chatCall('big')]));
    await fake.waitFor((call) => call.model === 'big' && call.bytesSent > 100_000);
    client.resume();
    const [big] = await fake.waitFor((call) => call.model === 'big' && call.finished === 'complete');
    expect([big?.bytesSent, big?.callOnConnection]).toEqual([12_000_000, 2]);
    client.leave();
  });

  test('a pipeline of a thousand calls is no trouble', async () => {
    const client = await connectRaw(fake.port);
    client.send(Buffer.concat(Array.from({ length: 1_000 }, () => chatCall('ok'))));
    await fake.waitFor((call) => call.finished === 'complete', { count: 1_000 });
    client.leave();
  });

  test('a caller that says connection: close is closed after its answer', async () => {
    const client = await connectRaw(fake.port);
    const body = JSON.stringify({ model: 'ok', messages: [{ role: 'user', content: 'x' }] });
    client.send(rawRequest('POST', '/chat/completions', body, { connection: 'close' }));
    expect(await client.untilEnd()).toBe('fin');
    expect(parseRawResponse(client.received(), 'fin')?.whole).toBe(true);
  });

  test('a request in many pieces is read whole', async () => {
    const client = await connectRaw(fake.port);
    for (const byte of chatCall('ok')) {
      client.send(Uint8Array.of(byte));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await client.until(() => parseRawResponse(client.received())?.whole === true);
    client.leave();
  });
});

describe('stale sockets', () => {
  test('an idle connection is dropped with FIN and without a word', async () => {
    fake.script('m', { dropIdleConnectionAfterMs: 10 });
    const client = await connectRaw(fake.port);
    await answered(client, chatCall('m'));
    expect(client.ended()).toBe('open');
    expect(await client.untilEnd()).toBe('fin');
    expect(parseRawResponse(client.received())?.taken).toBe(client.received().byteLength);
  });

  test('a call that comes before the drop keeps the connection', async () => {
    fake.script('m', [{ dropIdleConnectionAfterMs: 300 }, { delayBeforeFirstByteMs: 350 }]);
    const client = await connectRaw(fake.port);
    await answered(client, chatCall('m'));
    await answered(client, chatCall('m'));
    expect(client.ended()).toBe('open');
    client.leave();
  });

  test('the connection closes after so many responses', async () => {
    fake.script('m', { closeAfterResponses: 2 });
    const client = await connectRaw(fake.port);
    await answered(client, chatCall('m'));
    expect(client.ended()).toBe('open');
    await answered(client, chatCall('m'));
    expect(await client.untilEnd()).toBe('fin');
  });

  test('the next request meets a reset, unread: no response byte and no call in the book', async () => {
    fake.script('m', { resetAtNextRequest: true });
    const client = await connectRaw(fake.port);
    await answered(client, chatCall('m'));
    const before = client.received().byteLength;
    client.send(chatCall('m'));
    expect(await client.untilEnd()).toBe('rst');
    expect(client.received().byteLength).toBe(before);
    expect(fake.served()).toHaveLength(1);
    expect(fake.connections().at(-1)?.resetUnread).toBe(1);
  });
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

describe('reading', () => {
  test('slow reading takes its time and loses nothing', async () => {
    fake.readSlowly({ bytes: 1, pauseMs: 60 });
    const client = await connectRaw(fake.port);
    const content = 'y'.repeat(3_000_000);
    const body = JSON.stringify({ model: 'ok', messages: [{ role: 'user', content }] });
    const startedMs = performance.now();
    client.send(rawRequest('POST', '/v1/chat/completions', body));
    await client.until(() => parseRawResponse(client.received())?.whole === true);
    expect(performance.now() - startedMs).toBeGreaterThan(250);
    expect(Buffer.from(fake.served()[0]?.requestBody ?? []).toString()).toBe(body);
    client.leave();
  });
});
