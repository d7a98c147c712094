/** Tests error-body.ts and both formats' parse-answer.ts: every form of an error body, and hostile bodies. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { readError as readChatError } from '../chat/upstream/parse-answer.ts';
import { readError as readMessagesError } from '../messages/upstream/parse-answer.ts';
import { readErrorBody } from './error-body.ts';

const json = (value: unknown) => Buffer.from(JSON.stringify(value));
const BOTH = [
  ['chat', readChatError],
  ['messages', readMessagesError],
] as const;

describe('the words of an error body', () => {
  test.each([
    [
      'of OpenAI',
      { error: { message: 'no.', type: 'invalid_request_error', param: null, code: 'invalid_value' } },
      'no.',
      'invalid_value',
    ],
    [
      'of Anthropic',
      { type: 'error', error: { type: 'not_found_error', message: 'model: x' } },
      'model: x',
      'not_found_error',
    ],
    ['of xAI, a text and a code', { code: 'Invalid argument', error: 'no.' }, 'no.', 'Invalid argument'],
    ['of Mistral, a message', { object: 'error', message: 'no.', type: 'invalid', code: '3230' }, 'no.', '3230'],
    ['of FastAPI, a text', { detail: 'Unauthorized' }, 'Unauthorized', null],
    ['of DeepInfra', { detail: { error: 'Top up your balance' } }, 'Top up your balance', null],
    [
      'of FastAPI, a list',
      { detail: [{ loc: ['body', 'n', 0], msg: 'field required' }, { msg: 'b' }, 7] },
      'body: n: 0: field required; b',
      null,
    ],
    [
      'of Gemini, an array',
      [{ error: { code: 400, message: 'no.', status: 'INVALID_ARGUMENT' } }],
      'no.',
      'INVALID_ARGUMENT',
    ],
    ['that are numbers only', { error: { message: 7, code: 7 } }, '', null],
    ['that are missing', {}, '', null],
    ['that are a text alone', 'no.', 'no.', null],
    ['that are null', null, '', null],
  ])('%s', (_, body, message, code) => {
    expect(readErrorBody(json(body))).toMatchObject({ message, code });
  });

  test.each([
    ['a plain text: its first line', 'Failed to read the body\nSee https://docs.example', 'Failed to read the body'],
    ['a page', '<!DOCTYPE html><html><body>Bad gateway</body></html>', ''],
    ['a page behind a blank line', '\n\n  <html>no', ''],
    ['a page after a word', 'Sorry <html><head>', ''],
    ['nothing', '', ''],
    ['half a JSON text', '{"error":{"message":"n', '{"error":{"message":"n'],
  ])('of %s', (_, text, message) => {
    expect(readErrorBody(Buffer.from(text)).message).toBe(message);
  });

  test('bytes that are no text, and a body far too large, have no message', () => {
    expect(readErrorBody(Buffer.from([0xff, 0xfe, 0x00, 0x41])).message).toBe('');
    expect(readErrorBody(json({ error: { message: 'a'.repeat(300_000) } })).message).toBe('');
  });

  test('have an end', () => {
    expect(readErrorBody(json({ error: { message: 'a'.repeat(9_000) } })).message).toHaveLength(2_000);
  });

  test.each(BOTH)('are read as %s without a throw, whatever the body is', (_, read) => {
    const body = fc.oneof(
      fc.uint8Array().map((bytes) => Buffer.from(bytes)),
      fc.jsonValue().map(json),
      fc
        .record({ error: fc.jsonValue(), message: fc.jsonValue(), detail: fc.jsonValue(), code: fc.jsonValue() })
        .map(json),
      fc
        .record({ error: fc.record({ message: fc.jsonValue(), details: fc.jsonValue(), metadata: fc.jsonValue() }) })
        .map(json),
    );
    fc.assert(fc.property(body, (bytes) => expect(typeof read(bytes).message).toBe('string')));
  });
});

describe.each(BOTH)('readError of %s', (_, read) => {
  test('vector 33: a page of HTML has no words that could reach a client', () => {
    expect(read(Buffer.from('<html><title>502 Bad Gateway</title></html>'))).toEqual({
      condition: 'other',
      message: '',
      code: null,
      param: null,
      trouble: null,
      promptTokens: null,
      outputTokens: null,
      tokensMax: null,
    });
  });

  test('knows a prompt that is too long, by words and numbers', () => {
    expect(read(json({ error: { message: 'prompt is too long: 210000 tokens > 200000 maximum' } }))).toEqual({
      condition: 'context_overflow',
      message: 'prompt is too long: 210000 tokens > 200000 maximum',
      code: null,
      param: null,
      trouble: null,
      promptTokens: 210000,
      outputTokens: null,
      tokensMax: 200000,
    });
  });

  test.each([
    'messages.1.content.0: Invalid `signature` in `thinking` block',
    'messages.1.content.0: Invalid `data` in `redacted_thinking` block',
    '`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.',
    'Function call is missing a thought_signature in functionCall parts.',
  ])('knows a signature that does not hold: %s', (message) => {
    expect(read(json({ error: { message } })).condition).toBe('signature');
  });

  test('takes other words for no condition', () => {
    expect(read(json({ error: { message: 'messages: roles must alternate' } })).condition).toBe('other');
  });
});

describe('readError of chat', () => {
  test('reads the provider’s own message inside a host’s error', () => {
    const raw = JSON.stringify({ error: { message: 'prompt is too long: 9 tokens > 8 maximum' } });
    expect(
      readChatError(json({ error: { message: 'Provider returned error', code: 400, metadata: { raw } } })),
    ).toMatchObject({
      condition: 'context_overflow',
      message: 'prompt is too long: 9 tokens > 8 maximum',
    });
  });

  test('keeps the host’s message if the inner error has none', () => {
    expect(readChatError(json({ error: { message: 'no.', metadata: { raw: '{}' } } })).message).toBe('no.');
  });

  test('reads the counters in llama.cpp’s errors', () => {
    const error = { message: 'the request exceeds the available context size', n_prompt_tokens: 5000, n_ctx: 4096 };
    expect(readChatError(json({ error }))).toMatchObject({ promptTokens: 5000, tokensMax: 4096 });
    const nonsense = { ...error, n_prompt_tokens: '5000', n_ctx: -1 };
    expect(readChatError(json({ error: nonsense }))).toMatchObject({ promptTokens: null, tokensMax: null });
  });
});

test('readError of messages: the error’s code takes precedence over its type', () => {
  const error = { type: 'invalid_request_error', message: 'no.', details: { error_code: 'context_length_exceeded' } };
  expect(readMessagesError(json({ type: 'error', error })).condition).toBe('context_overflow');
});
