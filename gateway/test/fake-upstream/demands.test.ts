/**
 * Tests that the fake upstream refuses what a real provider would refuse: other suites take its 200 as proof of a
 * well-formed request.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { parseRequest } from './http/parse-request.ts';
import { chatCall, connectRaw, exchange, messagesCall, parseRawResponse } from './raw-client.ts';
import { type FakeUpstream, startFakeUpstream } from './start-fake-upstream.ts';

let fake: FakeUpstream;
beforeAll(async () => {
  fake = await startFakeUpstream();
});
afterAll(() => fake.stop());

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

test('a body that is not JSON, or not declared as JSON, is refused', async () => {
  expect(await refusal(edited(chatCall('ok'), '{"model"', '{,model"'))).toMatch(/^400 .*not valid JSON/);
  expect(await refusal(edited(chatCall('ok'), 'application/json', 'text/plain'))).toMatch(/^400 .*content-type/);
  expect(await refusal(edited(chatCall('ok'), 'POST', 'PUT'))).toMatch(/^405 /);
});

test('bytes that are no request get 400, the connection is closed, and the log says why', async () => {
  const client = await connectRaw(fake.port);
  client.send('GET / HTTP/1.0\r\n\r\n');
  expect(await client.untilEnd()).toBe('fin');
  expect(parseRawResponse(client.received(), 'fin')?.status).toBe(400);
  expect(fake.connections().at(-1)?.malformed).toContain('HTTP/1.1');
});

const chunked = (body: string): Buffer =>
  Buffer.from(`POST /v1/messages HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${body}`);

const cases: Record<string, [Buffer | string, string]> = {
  'an old version': ['GET / HTTP/1.0\r\nhost: a\r\n\r\n', 'HTTP/1.1'],
  'a spaced target': ['GET /a b HTTP/1.1\r\nhost: a\r\n\r\n', 'request line'],
  'no host': ['GET / HTTP/1.1\r\n\r\n', '0 host headers'],
  'two hosts': ['GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n', '2 host headers'],
  'a header without a colon': ['GET / HTTP/1.1\r\nhost: a\r\nodd\r\n\r\n', 'colon'],
  'a space before the colon': ['GET / HTTP/1.1\r\nhost: a\r\nodd : 1\r\n\r\n', 'colon'],
  'two lengths': ['POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 1\r\n\r\na', 'more than one'],
  'a length and chunks': [
    'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    'more than one',
  ],
  'a length that is no number': ['POST / HTTP/1.1\r\nhost: a\r\ncontent-length: +1\r\n\r\na', 'content-length'],
  'another coding': ['POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: gzip\r\n\r\n', 'not chunked'],
  'a chunk size that is not hexadecimal': [chunked('zz\r\n'), 'hexadecimal'],
  'a chunk longer than its size': [chunked('1\r\nabc\r\n'), 'CRLF'],
};
for (const [name, [bytes, reason]] of Object.entries(cases)) {
  test(`refuses ${name}`, () => {
    const parsed = parseRequest(Buffer.from(bytes));
    if (parsed.kind !== 'malformed') throw new Error(`expected malformed, got ${parsed.kind}`);
    expect(parsed.reason).toContain(reason);
  });
}
