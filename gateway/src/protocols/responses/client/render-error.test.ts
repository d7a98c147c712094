/** Tests render-error.ts: statuses, bodies, and the events that end a failed stream. */
import { describe, expect, test } from 'bun:test';
import { CallFailure } from '../../../errors/call-failure.ts';
import { FAILURE_KINDS, type FailureKind } from '../../../errors/failure-kinds.ts';
import { asObject, type JsonObject } from '../../json.ts';
import { message, streamOf, textOf, violationOf } from '../testing/responses-stream.ts';
import { failsAsStream, KEEP_ALIVE, renderError, renderStreamError, statusOf } from './render-error.ts';

const errorOf = (failure: CallFailure) => JSON.parse(renderError(failure, 'req_1')).error;
const POSITION = { id: 'resp_1', model: 'lab-model', createdSeconds: 1_800_000_000, nextSequence: 9 };

describe('a body', () => {
  test.each([
    ['model_unknown', 400, 'model_not_found'],
    ['model_forbidden', 400, 'model_not_found'],
    ['quota_exceeded', 429, 'insufficient_quota'],
    ['rate_limited', 429, 'rate_limit_exceeded'],
    ['context_overflow', 400, 'context_length_exceeded'],
    ['not_found', 404, 'not_found'],
    ['upstream_failed', 500, 'internal_error'],
  ] as const)('of %s', (kind, status, code) => {
    const failure = new CallFailure(kind, 'words', { param: 'model' });
    expect([statusOf(failure), errorOf(failure).code, errorOf(failure).param]).toEqual([status, code, 'model']);
  });

  // Vectors 18 and 19.
  test.each([
    ['previous_response_id', 'previous_response_not_found'],
    ['background', 'unsupported_parameter'],
    ['conversation', 'unsupported_parameter'],
    ['temperature', 'invalid_request_error'],
  ])('of a refused %s', (param, code) => {
    expect(errorOf(new CallFailure('invalid_request', 'words', { param }))).toEqual({
      type: 'invalid_request_error',
      code,
      message: 'words',
      param,
    });
  });

  // Vector 42: the Vercel AI SDK needs type and code as strings.
  test('of any failure has its type and code as strings, and at 5xx the request id', () => {
    for (const kind of Object.keys(FAILURE_KINDS) as FailureKind[]) {
      const failure = new CallFailure(kind, 'words');
      const { type, code, message: words, param } = errorOf(failure);
      expect([typeof type, typeof code, param, words.includes('req_1')]).toEqual([
        'string',
        'string',
        null,
        statusOf(failure) >= 500,
      ]);
    }
  });
});

describe('the end of a failed stream', () => {
  const eventsOf = (bytes: Buffer) =>
    bytes
      .toString()
      .split('\n')
      .flatMap((line): JsonObject[] => (line.startsWith('data: ') ? [JSON.parse(line.slice(6))] : []));

  // Vector 22.
  test('is an error, nested and flat, and response.failed, with the response and numbers of the stream', () => {
    const [error, failed] = eventsOf(
      renderStreamError(new CallFailure('upstream_truncated', 'cut'), 'req_1', 'asked', POSITION),
    );
    const details = { type: 'api_error', code: 'server_error', message: 'cut (request id req_1)', param: null };
    const { type: _, ...flat } = details;
    expect(error).toEqual({ type: 'error', sequence_number: 9, ...flat, error: details });
    expect(failed).toMatchObject({ type: 'response.failed', sequence_number: 10 });
    expect(failed?.response).toMatchObject({
      id: 'resp_1',
      status: 'failed',
      model: 'lab-model',
      error: details,
      usage: null,
    });
  });

  test('names the model that was asked for where the stream has named none', () => {
    const position = { ...POSITION, model: null };
    const [, failed] = eventsOf(
      renderStreamError(new CallFailure('upstream_failed', 'cut'), 'req_1', 'asked', position),
    );
    expect(failed?.response).toMatchObject({ id: 'resp_1', model: 'asked' });
  });

  test('continues a stream legally, numbered or not', () => {
    const begun = streamOf([message(0, ['a', 'b'])]).slice(0, 6);
    const position = { ...POSITION, nextSequence: 6 };
    const last = renderStreamError(new CallFailure('upstream_failed', 'broke'), 'req_1', 'asked', position);
    expect(violationOf(textOf(begun) + last)).toBeNull();
    const bare = eventsOf(
      renderStreamError(new CallFailure('upstream_failed', 'broke'), 'req_1', 'asked', {
        ...position,
        nextSequence: null,
      }),
    );
    expect(bare.map(({ sequence_number }) => sequence_number)).toEqual([undefined, undefined]);
  });

  // Contract, 10.11.
  test('without an answer is a whole stream that tells the client to give up', () => {
    const bytes = renderStreamError(new CallFailure('upstream_failed', 'all down'), 'req_abc', 'asked');
    expect(violationOf(bytes.toString())).toBeNull();
    const response = asObject(eventsOf(bytes).at(-1)?.response);
    expect(eventsOf(bytes).flatMap(({ response: one }) => asObject(one)?.model ?? [])).toEqual(['asked', 'asked']);
    expect([response?.id, asObject(response?.error)?.code]).toEqual(['resp_abc', 'server_is_overloaded']);
  });

  test.each([
    ['quota_exceeded', 'insufficient_quota'],
    ['rate_limited', 'rate_limit_exceeded'],
    ['context_overflow', 'context_length_exceeded'],
    ['gateway_fault', 'server_error'],
  ] as const)('of %s has the code %s', (kind, code) => {
    const [error] = eventsOf(renderStreamError(new CallFailure(kind, 'words'), 'req_1', 'asked', POSITION));
    expect(error?.code).toBe(code);
  });
});

test('only failures without a target that is left come as a stream, and no rate limit', () => {
  const streamed = (Object.keys(FAILURE_KINDS) as FailureKind[]).filter((kind) =>
    failsAsStream(new CallFailure(kind, 'w')),
  );
  expect(streamed).toContain('upstream_failed');
  expect(streamed.filter((kind) => !kind.startsWith('upstream_'))).toEqual(['targets_full']);
  expect(streamed).not.toContain('upstream_rate_limited');
});

test('the keep-alive is an event without a number', () => {
  expect(KEEP_ALIVE.toString()).toBe('event: keepalive\ndata: {"type":"keepalive"}\n\n');
});
