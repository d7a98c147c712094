/** Tests how messages of clients are read, and become bodies of requests. */
import { describe, expect, test } from 'bun:test';
import { CallFailure } from '../../errors/call-failure.ts';
import { type ClientMessage, generates, joinTurn, readMessage, renderBody, textOf } from './client-message.ts';

const LIMITS = { jsonDepthMax: 64, jsonKeysMax: 100 };
const read = (text: string): Promise<ClientMessage> => readMessage(Buffer.from(text), LIMITS);
const bodyOf = async (text: string, before: readonly string[] | null = null) =>
  renderBody((await read(text)).outline, before?.map((turn) => Buffer.from(turn)) ?? null).toString();

test.each([
  ['{"type":', 'not JSON'],
  ['[]', 'is array'],
  ['"response.create"', 'is string'],
  ['{"a":1}', 'has no type'],
  ['{"type":1}', 'has no type'],
  [`${'['.repeat(65)}${']'.repeat(65)}`, 'not JSON that this gateway takes'],
])('%s is refused', async (text, words) => {
  const failure = await read(text).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(CallFailure);
  expect(String(failure)).toContain(words);
});

test('a large message is read in steps', async () => {
  const text = JSON.stringify({ type: 'response.create', input: 'ä"\\'.repeat(500_000) });
  expect((await read(text)).type).toBe('response.create');
});

describe('a response.create becomes the body of a streamed request', () => {
  test('with all members as they came, but those of the message', async () => {
    const text =
      '{"type":"response.create", "model": "m","generate":false,"n":12345678901234567.0,"stream":false,"stream_id":"s","previous_response_id":"r", "input" : [ {"a":1} ] }';
    expect(await bodyOf(text)).toBe(
      '{"model": "m","n":12345678901234567.0,"previous_response_id":"r","input" : [ {"a":1} ],"stream":true}',
    );
    expect(await bodyOf('{"type":"response.create"}')).toBe('{"stream":true}');
  });

  test('with the conversation so far before its items, byte for byte', async () => {
    const text = '{"type":"response.create","previous_response_id":"r","input":[ {"c" : 3},\n{"d":4} ],"x":1}';
    expect(await bodyOf(text, ['{"a": 1}', '{"b":2},{"b":"ä"}'])).toBe(
      '{"input":[{"a": 1},{"b":2},{"b":"ä"},{"c" : 3},\n{"d":4}],"x":1,"stream":true}',
    );
  });

  test.each([
    ['{"type":"a","input":"h\\"i"}', '{"input":[{"a":1},{"role":"user","content":"h\\"i"}],"stream":true}'],
    ['{"type":"a","input":[ ]}', '{"input":[{"a":1}],"stream":true}'],
    ['{"type":"a"}', '{"input":[{"a":1}],"stream":true}'],
    ['{"type":"a","input":null}', '{"input":[{"a":1}],"stream":true}'],
    ['{"type":"a","input":7}', '{"input":7,"stream":true}'],
  ])('%s continues a conversation', async (text, body) => {
    expect(await bodyOf(text, ['{"a":1}'])).toBe(body);
  });

  test('an empty conversation adds nothing', async () => {
    expect(await bodyOf('{"type":"a","input":[{"b":1}],"previous_response_id":"r"}', [])).toBe(
      '{"input":[{"b":1}],"stream":true}',
    );
  });
});

test('a turn is the items of the message and those of the response, in memory of its own', async () => {
  const { outline } = await read('{"type":"a","input":[{"a":1} , {"b":2}]}');
  const turn = joinTurn(outline, [Buffer.from('{"c":3}')]);
  outline.bytes.fill(0);
  expect([turn.toString(), turn.buffer.byteLength]).toEqual(['{"a":1} , {"b":2},{"c":3}', turn.length]);
  expect(joinTurn((await read('{"type":"a","input":[]}')).outline, []).length).toBe(0);
});

test('a message asks for a response unless it says otherwise', async () => {
  const outlineOf = async (member: string) => (await read(`{"type":"a"${member}}`)).outline;
  const found = await Promise.all(['', ',"generate":true', ',"generate":null', ',"generate":false'].map(outlineOf));
  expect(found.map(generates)).toEqual([true, true, true, false]);
  const { root } = await outlineOf(',"stream_id":"a\\u0062","n":1');
  expect([textOf(root, 'stream_id'), textOf(root, 'n'), textOf(root, 'm')]).toEqual(['ab', null, null]);
});
