/** Shows on bare sockets what heads, framings and write boundaries the rig produces, honest and not. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { headerOf } from './parse-request.ts';
import { connectRaw, exchange, parseRawResponse, type RawClient } from './raw-client.ts';
import { MALFORMED_HEADS, type Scenario } from './scenario.ts';
import { type FakeUpstream, startFakeUpstream } from './start-fake-upstream.ts';
import { chatCall, messagesCall } from './test-calls.ts';

let fake: FakeUpstream;
beforeAll(async () => {
  fake = await startFakeUpstream();
});
afterEach(() => fake.reset());
afterAll(() => fake.stop());

/** Sends a call and waits until the rig has booked its end, so that every byte is out. */
async function completed(scenario: Scenario, call = chatCall('m', { stream: true })): Promise<RawClient> {
  fake.script('m', scenario);
  const client = await connectRaw(fake.port);
  client.send(call);
  const [served] = await fake.waitFor((one) => one.finished === 'complete');
  await client.until(() => (parseRawResponse(client.received())?.body.byteLength ?? -1) >= (served?.bytesSent ?? 0));
  return client;
}

describe('framing', () => {
  test('chunked, content-length and close each carry the same body', async () => {
    const bodies: string[] = [];
    for (const framing of ['chunked', 'content-length', 'close'] as const) {
      fake.script('m', { answer: 'fixture:stream-text', framing });
      const { response, ended } = await exchange(fake.port, chatCall('m', { stream: true }));
      expect(response?.whole).toBe(true);
      expect(ended).toBe(framing === 'close' ? 'fin' : 'open');
      bodies.push(response?.body.toString() ?? '');
    }
    expect(new Set(bodies).size).toBe(1);
    expect(bodies[0]).toEndWith('data: [DONE]\n\n');
  });

  test('both lengths at once', async () => {
    fake.script('m', { bothLengths: true });
    const { response } = await exchange(fake.port, chatCall('m'));
    expect(headerOf(response ?? { headers: [] }, 'transfer-encoding')).toBe('chunked');
    expect(headerOf(response ?? { headers: [] }, 'content-length')).toMatch(/^[0-9]+$/);
  });

  test('extra bytes follow the response', async () => {
    fake.script('m', { json: {}, extraBytes: 'HTTP/1.1 200 OK\r\n\r\n' });
    const { client } = await exchange(fake.port, chatCall('m'));
    await client.until(() => client.received().toString().endsWith('\r\n\r\n{}HTTP/1.1 200 OK\r\n\r\n'));
  });
});

describe('heads', () => {
  test('1xx answers come before the final one', async () => {
    fake.script('m', { informational: [{ status: 103, headers: { link: '</a>' } }, { status: 102 }] });
    const { response, client } = await exchange(fake.port, chatCall('m'));
    expect(client.received().toString()).toStartWith('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 102 ');
    expect(response?.status).toBe(200);
  });

  test('headers are added, replaced and removed', async () => {
    fake.script('m', { headers: { 'Content-Type': 'text/html', 'x-request-id': null, 'x-new': 'é' } });
    const { response } = await exchange(fake.port, chatCall('m'));
    const names = response?.headers.map(([name]) => name) ?? [];
    expect(names.filter((name) => name === 'content-type')).toHaveLength(1);
    expect(headerOf(response ?? { headers: [] }, 'content-type')).toBe('text/html');
    expect(names).not.toContain('x-request-id');
    expect(headerOf(response ?? { headers: [] }, 'x-new')).toBe('é');
  });

  test('an oversized header block, and many headers', async () => {
    fake.script('m', { headerBlockBytes: 100_000, headerLines: 300 });
    const { response } = await exchange(fake.port, chatCall('m'));
    expect(headerOf(response ?? { headers: [] }, 'x-padding')).toHaveLength(100_000);
    expect(response?.headers.filter(([name]) => name.startsWith('x-line-'))).toHaveLength(300);
  });

  test.each(Object.entries(MALFORMED_HEADS))('a malformed head (%s) is sent as it is', async (_, rawHead) => {
    fake.script('m', { rawHead, body: '{}' });
    const client = await connectRaw(fake.port);
    client.send(chatCall('m'));
    await client.until(() => client.received().byteLength >= rawHead.length + 2);
    expect(client.received().toString('latin1')).toBe(`${rawHead}{}`);
    client.leave();
  });
});

describe('write boundaries', () => {
  const bodyReads = (client: RawClient): string[] => client.reads().map((read) => read.toString('latin1'));

  test('record: head and each record are separate writes', async () => {
    const client = await completed({ answer: 'fixture:stream-text', framing: 'content-length' });
    const reads = bodyReads(client);
    expect(reads[0]).toEndWith('\r\n\r\n');
    expect(reads.slice(1).every((read) => read.startsWith('data: ') && read.endsWith('\n\n'))).toBe(true);
    expect(reads).toHaveLength(9);
  });

  test('bytes: one byte per write', async () => {
    const client = await completed({ body: 'abcdefgh', chunking: 'bytes', gapMs: 1 });
    expect(bodyReads(client).slice(1)).toEqual([...'abcdefgh']);
  });

  test('all: head and body in a single write', async () => {
    const client = await completed({ answer: 'fixture:stream-text', chunking: 'all' });
    expect(client.reads()).toHaveLength(1);
  });

  test('sizes: these sizes over and over', async () => {
    const client = await completed({ body: 'abcdefgh', chunking: { sizes: [3, 1] }, gapMs: 1 });
    expect(bodyReads(client).slice(1)).toEqual(['abc', 'd', 'efg', 'h']);
  });

  test('utf8: writes begin inside characters, crlf: between CR and LF', async () => {
    const split = await completed({ body: 'é🌊', chunking: 'utf8', gapMs: 1 });
    expect(bodyReads(split).slice(1)).toEqual(['\xc3', '\xa9\xf0', '\x9f', '\x8c', '\x8a']);
    fake.reset();
    const lines = await completed({ records: ['data: 1\n\n'], chunking: 'crlf', framing: 'close', gapMs: 1 });
    expect(bodyReads(lines).slice(1)).toEqual(['data: 1\r', '\n\r', '\n']);
  });
});

describe('what the rig demands of a call', () => {
  const refusal = async (call: Uint8Array): Promise<string> => {
    const { response } = await exchange(fake.port, call);
    return `${response?.status} ${response?.body.toString()}`;
  };
  const edited = (call: Uint8Array, from: string, to: string): Uint8Array =>
    new TextEncoder().encode(new TextDecoder().decode(call).replace(from, to));

  test('a messages call without a version, max_tokens or messages is refused in the shape of its protocol', async () => {
    const noVersion = edited(messagesCall('ok'), 'anthropic-version: 2023-06-01\r\n', '');
    expect(await refusal(noVersion)).toMatch(/^400 .*"invalid_request_error".*anthropic-version: header is required/);
    expect(await refusal(messagesCall('ok', { max_tokens: null }))).toMatch(/^400 .*max_tokens/);
    expect(await refusal(messagesCall('ok', { messages: [] }))).toMatch(/^400 .*messages/);
  });

  test('a chat call with stream_options and no stream is refused', async () => {
    expect(await refusal(chatCall('ok', { stream_options: { include_usage: true } }))).toMatch(/^400 .*stream_options/);
  });

  test('a body that is no JSON, or not said to be, is refused', async () => {
    expect(await refusal(edited(chatCall('ok'), '{"model"', '{,model"'))).toMatch(/^400 .*not valid JSON/);
    expect(await refusal(edited(chatCall('ok'), 'application/json', 'text/plain'))).toMatch(/^400 .*content-type/);
    expect(await refusal(edited(chatCall('ok'), 'POST', 'PUT'))).toMatch(/^405 /);
  });

  test('a model that nobody knows is a 404 that lists what there is', async () => {
    expect(await refusal(chatCall('nobody'))).toMatch(/^404 .*nobody.*fixture:stream-text/);
  });

  test('bytes that are no request are answered 400, the connection is closed, and the book says why', async () => {
    const client = await connectRaw(fake.port);
    client.send('GET / HTTP/1.0\r\n\r\n');
    expect(await client.untilEnd()).toBe('fin');
    expect(parseRawResponse(client.received(), 'fin')?.status).toBe(400);
    expect(fake.connections().at(-1)?.malformed).toContain('HTTP/1.1');
  });

  test('an endless answer is refused where it could never be sent', async () => {
    fake.script('m', { answer: 'endless', chunking: 'all' });
    expect(await refusal(chatCall('m', { stream: true }))).toMatch(/^400 .*endless/);
    expect(await refusal(chatCall('endless'))).toMatch(/^400 .*stream/);
  });
});
