/** Tests render-error.ts: every kind of failure has the body of contract 5, and an in-band error is an error event. */
import { describe, expect, test } from 'bun:test';
import { CallFailure, type TokenCounts } from '../../../errors/call-failure.ts';
import { FAILURE_KINDS, type FailureKind } from '../../../errors/failure-kinds.ts';
import { KEEP_ALIVE, renderError, renderStreamError, statusOf } from './render-error.ts';

describe('renderError', () => {
  test.each(Object.keys(FAILURE_KINDS) as FailureKind[])(
    '%s: type, words, the request id always, in the words at a 5xx',
    (kind) => {
      const failure = new CallFailure(kind, 'words');
      expect(JSON.parse(renderError(failure, 'req_1'))).toEqual({
        type: 'error',
        error: { type: expect.any(String), message: statusOf(failure) >= 500 ? 'words (request id req_1)' : 'words' },
        request_id: 'req_1',
      });
    },
  );
});

test.each([
  [400, 'invalid_request_error'],
  [404, 'not_found_error'],
  [413, 'request_too_large'],
  [422, 'invalid_request_error'],
])('an unchanged status %i has the type %s', (status, type) => {
  const failure = new CallFailure('upstream_rejected', 'words', { status });
  expect(JSON.parse(renderError(failure, 'req_1'))).toMatchObject({ error: { type, message: 'words' } });
});

describe('a prompt that is too long', () => {
  const message = (tokens: TokenCounts): string =>
    JSON.parse(renderError(new CallFailure('context_overflow', 'log', { tokens }), 'req_1')).error.message;

  test.each([
    [{ prompt: 210000, output: null, max: 200000 }, 'prompt is too long: 210000 tokens > 200000 maximum'],
    [{ prompt: 210000, output: 9, max: 200000 }, 'prompt is too long: 210000 tokens > 200000 maximum'],
    [
      { prompt: 190000, output: 20000, max: 200000 },
      'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again',
    ],
    [
      { prompt: 4096, output: 10, max: 4096 },
      'prompt is too long: 4096 tokens leave no room for an answer within the maximum of 4096',
    ],
    [{ prompt: null, output: null, max: 4096 }, 'prompt is too long: more tokens than the maximum of 4096'],
    [{ prompt: null, output: null, max: null }, 'prompt is too long: more tokens than this model takes'],
    [{ prompt: 4097, output: 10, max: null }, 'prompt is too long: more tokens than this model takes'],
  ])('%p in the words of Anthropic', (tokens, words) => {
    expect(message(tokens)).toBe(words);
  });
});

test('an in-band error is one error event with the same body', () => {
  const failure = new CallFailure('upstream_failed', 'line\nbreak');
  const record = renderStreamError(failure, 'req_1').toString();
  expect(record).toBe(`event: error\ndata: ${renderError(failure, 'req_1')}\n\n`);
  expect(record.split('\n')).toHaveLength(4);
});

test('the keep-alive is a ping event', () => {
  expect(KEEP_ALIVE.toString()).toBe('event: ping\ndata: {"type":"ping"}\n\n');
});
