/** Tests render-error.ts: every kind of failure has the body of contract 5, and an in-band error is not a clean end. */
import { describe, expect, test } from 'bun:test';
import { CallFailure, invalidRequest, type TokenCounts } from '../../errors/call-failure.ts';
import { FAILURE_KINDS, type FailureKind } from '../../errors/failure-kinds.ts';
import { KEEP_ALIVE, renderError, renderStreamError, statusOf } from './render-error.ts';

describe('renderError', () => {
  test('names the member at fault', () => {
    expect(JSON.parse(renderError(invalidRequest('stop: wrong', 'stop'), 'req_1'))).toEqual({
      error: { message: 'stop: wrong', type: 'invalid_request_error', param: 'stop', code: 'invalid_request_error' },
    });
  });

  test.each(Object.keys(FAILURE_KINDS) as FailureKind[])(
    '%s: all four members, the request id at a 5xx only',
    (kind) => {
      const failure = new CallFailure(kind, 'words');
      const { error } = JSON.parse(renderError(failure, 'req_1'));
      const message = statusOf(failure) >= 500 ? 'words (request id req_1)' : 'words';
      expect(error).toEqual({ message, type: expect.any(String), param: null, code: expect.any(String) });
    },
  );
});

describe('a prompt that is too long', () => {
  const failure = (tokens: TokenCounts) => new CallFailure('context_overflow', 'log', { tokens, param: 'messages' });
  const message = (tokens: TokenCounts): string => JSON.parse(renderError(failure(tokens), 'req_1')).error.message;

  test('has the code and the words that clients look for', () => {
    expect(JSON.parse(renderError(failure({ prompt: 9001, output: null, max: 8192 }), 'req_1'))).toEqual({
      error: {
        message:
          "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens. " +
          'Please reduce the length of the messages.',
        type: 'invalid_request_error',
        param: 'messages',
        code: 'context_length_exceeded',
      },
    });
  });

  test('an overflow with the requested output names both', () => {
    expect(message({ prompt: 3000, output: 2000, max: 4096 })).toBe(
      "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (3000 in the messages, " +
        '2000 in the completion). Please reduce the length of the messages or completion.',
    );
  });

  test.each([
    [{ prompt: 9001, output: 10, max: 8192 }, /is 8192 tokens\. However, your messages resulted in 9001 tokens\./],
    [{ prompt: null, output: null, max: 8192 }, /is 8192 tokens\. Please reduce/],
    [{ prompt: 9001, output: null, max: null }, /is exceeded: your messages resulted in 9001 tokens\./],
    [{ prompt: null, output: null, max: null }, /is exceeded\. Please reduce/],
  ])('with the numbers %p still has them', (tokens, words) => {
    expect(message(tokens)).toMatch(words);
    expect(message(tokens)).toContain('maximum context length');
    expect(message(tokens)).not.toContain('null');
  });
});

test.each([404, 413, 422])('an unchanged %d has the code of an invalid request', (status) => {
  const failure = new CallFailure('upstream_rejected', 'words', { status });
  expect(JSON.parse(renderError(failure, 'req_1'))).toMatchObject({ error: { code: 'invalid_request_error' } });
});

test('bug: Portkey, an error rendered as a finish_reason and [DONE]: renders only an error', () => {
  const record = renderStreamError(new CallFailure('upstream_overloaded', 'words'), 'req_1').toString();
  expect(record).not.toMatch(/finish_reason|\[DONE\]/);
});

test('an in-band error is one record with the same body and no [DONE]', () => {
  const failure = new CallFailure('upstream_failed', 'line\nbreak');
  expect(renderStreamError(failure, 'req_1').toString()).toBe(`data: ${renderError(failure, 'req_1')}\n\n`);
  expect(renderStreamError(failure, 'req_1').toString().split('\n')).toHaveLength(3);
});

test('the keep-alive is a comment', () => {
  expect(KEEP_ALIVE.toString()).toMatch(/^:[^\n]*\n\n$/);
});
