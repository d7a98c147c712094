/** Tests of vocabulary.ts: every kind of failure has the body of contract 5, and an in-band error is no clean end. */
import { describe, expect, test } from 'bun:test';
import { CallFailure, invalidRequest } from '../../errors/call-failure.ts';
import { FAILURE_KINDS, type FailureKind } from '../../errors/failure-kinds.ts';
import { KEEP_ALIVE, renderError, renderStreamError } from './vocabulary.ts';

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
      const { status, type, code } = FAILURE_KINDS[kind].chat;
      expect(error).toEqual({ message: status >= 500 ? 'words (request id req_1)' : 'words', type, param: null, code });
    },
  );
});

test('an in-band error is one record with the same body and no [DONE]', () => {
  const failure = new CallFailure('upstream_failed', 'line\nbreak');
  expect(renderStreamError(failure, 'req_1').toString()).toBe(`data: ${renderError(failure, 'req_1')}\n\n`);
  expect(renderStreamError(failure, 'req_1').toString().split('\n')).toHaveLength(3);
});

test('the keep-alive is a comment', () => {
  expect(KEEP_ALIVE.toString()).toMatch(/^:[^\n]*\n\n$/);
});
