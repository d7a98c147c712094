/**
 * Tests how errors of Gemini and Bedrock are classified: the fault, the pause, the message. Codes and words come before
 * the status: provider reference A.8 and C.6, vectors 20, 21, 36 and 45, and all recorded errors.
 */
import { describe, expect, test } from 'bun:test';
import {
  AttemptFailure,
  classOf,
  failureOfErrorWords,
  failureOfTranslatedError,
} from '../../src/call/attempt/upstream-outcome.ts';
import type { CallFailure } from '../../src/errors/call-failure.ts';
import { encodeException } from '../../src/framing/testing/encode-frame.ts';
import { secondsToReset } from '../../src/protocols/answer/retry-details.ts';
import { CLIENT_PROTOCOLS, UPSTREAM_PROTOCOLS } from '../../src/protocols/registry.ts';
import { recordingBytes, recordingHeaders } from '../fake-upstream/recording.ts';
import { loadRecordings } from '../fake-upstream/recordings.ts';
import { eventsOfStream } from './translation/rig.ts';

type Format = 'gemini' | 'converse';
type Headers = ReadonlyArray<readonly [name: string, value: string]>;

const { gemini, converse } = UPSTREAM_PROTOCOLS;

function failureOf(format: Format, status: number, body: Uint8Array, headers: Headers = []): CallFailure {
  const bytes = Buffer.from(body);
  const error = format === 'gemini' ? gemini.readError(bytes) : converse.readError(bytes, headers);
  const known = 'status' in error && error.status !== undefined ? error.status : status;
  return failureOfTranslatedError(known, null, error, error.message);
}

const bytesOf = (body: object) => Buffer.from(JSON.stringify(body));

/** An error as the provider writes it. `code`: Google's status word, or the name of AWS's exception; null: none. */
function errorOf(format: Format, status: number, code: string | null, message: string, details?: object[]) {
  if (format === 'gemini')
    return failureOf(format, status, bytesOf({ error: { code: status, status: code, message, details } }));
  const headers: Headers = code === null ? [] : [['x-amzn-ErrorType', `${code}:http://internal.amazon.com/coral/`]];
  return failureOf(format, status, bytesOf({ message }), headers);
}

function readingOf(failure: CallFailure) {
  const pauseMs = failure instanceof AttemptFailure ? failure.pauseMs : null;
  return { kind: failure.kind, class: classOf(failure), pauseMs };
}

const REGION = 'User location is not supported for the API use.';
const TOO_LONG = 'The input token count (1250060) exceeds the maximum number of tokens allowed (1048575).';
const UNKNOWN = 'models/gemini-x is not found for API version v1beta.';
const EXPIRED = 'The security token included in the request is expired';
const ON_DEMAND = 'Invocation of model ID anthropic.claude-x with on-demand throughput isn’t supported. Retry';
const USE_CASE = 'Model use case details have not been submitted for this account.';
const NO_VIDEO = "This model doesn't support the video content block that you provided.";
const TOKENS = 'Too many tokens, please wait before trying again.';

test.each<readonly [Format, number, string | null, string, CallFailure['kind'], string]>([
  ['gemini', 400, 'FAILED_PRECONDITION', REGION, 'upstream_credential', 'credential'],
  ['gemini', 403, 'PERMISSION_DENIED', 'Method is blocked.', 'upstream_credential', 'credential'],
  ['gemini', 404, 'NOT_FOUND', UNKNOWN, 'upstream_misconfigured', 'config'],
  ['gemini', 503, 'UNAVAILABLE', 'The service is currently unavailable.', 'upstream_overloaded', 'overloaded'],
  ['gemini', 500, 'INTERNAL', 'Internal error encountered.', 'upstream_failed', 'fault'],
  ['gemini', 400, 'INVALID_ARGUMENT', 'Please use a valid role: user, model.', 'upstream_rejected', 'content'],
  ['gemini', 400, 'INVALID_ARGUMENT', TOO_LONG, 'context_overflow', 'overflow'],
  ['converse', 403, 'AccessDeniedException', 'no', 'upstream_credential', 'credential'],
  ['converse', 403, 'ExpiredTokenException', EXPIRED, 'upstream_credential', 'credential'],
  ['converse', 400, 'UnrecognizedClientException', 'no', 'upstream_credential', 'credential'],
  ['converse', 403, 'InvalidSignatureException', 'no', 'upstream_credential', 'credential'],
  ['converse', 403, 'MissingAuthenticationToken', 'Missing Token', 'upstream_credential', 'credential'],
  ['converse', 400, 'ValidationException', 'no', 'upstream_rejected', 'content'],
  ['converse', 400, null, NO_VIDEO, 'upstream_rejected', 'content'],
  [
    'converse',
    400,
    'ValidationException',
    'The provided model identifier is invalid.',
    'upstream_misconfigured',
    'config',
  ],
  ['converse', 400, 'ValidationException', ON_DEMAND, 'upstream_misconfigured', 'config'],
  [
    'converse',
    400,
    'ValidationException',
    "model `x.y` isn't supported on this route",
    'upstream_misconfigured',
    'config',
  ],
  ['converse', 400, 'ValidationException', 'Input is too long for requested model.', 'context_overflow', 'overflow'],
  ['converse', 404, 'ResourceNotFoundException', 'Could not resolve the model.', 'upstream_misconfigured', 'config'],
  ['converse', 404, 'ResourceNotFoundException', USE_CASE, 'upstream_misconfigured', 'config'],
  ['converse', 429, 'ThrottlingException', 'Too many requests', 'upstream_rate_limited', 'rate'],
  ['converse', 429, 'ThrottlingException', TOKENS, 'upstream_rate_limited', 'rate'],
  ['converse', 400, 'ServiceQuotaExceededException', 'no', 'upstream_rate_limited', 'rate'],
  ['converse', 408, 'ModelTimeoutException', 'no', 'upstream_timeout', 'fault'],
  ['converse', 424, 'ModelErrorException', 'no', 'upstream_failed', 'fault'],
  ['converse', 429, 'ModelNotReadyException', 'no', 'upstream_overloaded', 'overloaded'],
  ['converse', 500, 'InternalServerException', 'no', 'upstream_failed', 'fault'],
  ['converse', 503, 'ServiceUnavailableException', 'no', 'upstream_failed', 'fault'],
])('%s %d %p %p is %s, class %s', (format, status, code, message, kind, failureClass) => {
  expect(readingOf(errorOf(format, status, code, message))).toMatchObject({ kind, class: failureClass as 'rate' });
});

test('vector 20: an invalid key is the operator’s trouble, although the status is 400', () => {
  const details = [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' }];
  const words = 'API key not valid. Please pass a valid API key.';
  const expected = { kind: 'upstream_credential', class: 'credential', pauseMs: null } as const;
  expect(readingOf(errorOf('gemini', 400, 'INVALID_ARGUMENT', words))).toEqual(expected);
  expect(readingOf(errorOf('gemini', 400, 'INVALID_ARGUMENT', 'Bad key.', details))).toEqual(expected);
});

describe('vector 21: a rate limit', () => {
  const exceeded = (quotaId: string, retryDelay: string, quotaDimensions: object = { model: 'm' }) => {
    const details = [
      {
        '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
        violations: [{ quotaId, quotaDimensions }],
      },
      { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay },
    ];
    const words = 'You exceeded your current quota, please check your plan and billing details.';
    return readingOf(errorOf('gemini', 429, 'RESOURCE_EXHAUSTED', words, details));
  };

  test('of a minute pauses for the delay that it names', () => {
    const expected = { kind: 'upstream_rate_limited', class: 'rate' } as const;
    const perMinute = 'GenerateRequestsPerMinutePerProjectPerModel';
    expect(exceeded(perMinute, '23s')).toEqual({ ...expected, pauseMs: 23_000 });
    expect(exceeded(perMinute, '46.9s')).toEqual({ ...expected, pauseMs: 46_900 });
  });

  test('of a day pauses until midnight in California', () => {
    const found = exceeded('GenerateRequestsPerDayPerProjectPerModel-FreeTier', '23s');
    const leftMs = secondsToReset(Date.now()) * 1000;
    expect(Math.abs((found.pauseMs ?? 0) - leftMs)).toBeLessThan(5_000);
    // Of the model it names, so that the credential's other models go on.
    expect(found.class).toBe('rate');
  });

  test('of a day for the whole project is a quota of the credential', () => {
    const found = exceeded('GenerateRequestsPerDayPerProject', '23s', {});
    expect(found.class).toBe((found.pauseMs ?? 0) > 3_600_000 ? 'quota' : 'rate');
  });

  test.each([
    ['2026-11-23T08:00:00Z', 86_400],
    ['2026-11-23T07:59:59Z', 1],
    ['2026-07-01T06:59:00Z', 60],
  ])('at %s, that is %d seconds away', (at, seconds) => {
    expect(secondsToReset(Date.parse(at))).toBe(seconds);
  });
});

const WRAPPED = 'The model returned the following errors: ';

describe('an error that Bedrock passes on from the model', () => {
  const read = (body: object | string, headers: Headers = []) =>
    converse.readError(typeof body === 'string' ? Buffer.from(body) : bytesOf(body), headers);

  test('is unwrapped, and a capital Message is read', () => {
    expect(read({ message: `${WRAPPED}top_k: no` }).message).toBe('top_k: no');
    const denied = read({ Message: 'no' }, [['x-amzn-errortype', 'AccessDeniedException']]);
    expect(denied).toMatchObject({ message: 'no', code: 'AccessDeniedException', trouble: 'account' });
    expect(read('<html>').message).toBe('');
  });

  test('about a signature is one, so that the request goes out again without', () => {
    const words = `${WRAPPED}messages.1.content.0: Invalid \`signature\` in \`thinking\` block`;
    expect(read({ message: words }).condition).toBe('signature');
  });

  test('vector 45: about a prompt that is too long has the counts in the words of messages', () => {
    const words = `${WRAPPED}prompt is too long: 210000 tokens > 200000 maximum`;
    const failure = errorOf('converse', 400, 'ValidationException', words);
    expect(readingOf(failure)).toMatchObject({ kind: 'context_overflow', class: 'overflow' });
    const body = CLIENT_PROTOCOLS.messages.renderError(failure, 'req_1');
    expect(JSON.parse(body).error.message).toBe('prompt is too long: 210000 tokens > 200000 maximum');
  });
});

describe('an error as the first record of a 200', () => {
  const record = (error: object) => Buffer.from(`data: ${JSON.stringify({ error })}\r\n\r\n`);

  test.each<readonly [Format, Buffer, string]>([
    // Vector 36.
    ['converse', encodeException('throttlingException', TOKENS), 'rate'],
    ['converse', encodeException('validationException', `${WRAPPED}no`), 'content'],
    [
      'converse',
      encodeException('validationException', `${WRAPPED}prompt is too long: 2 tokens > 1 maximum`),
      'overflow',
    ],
    ['converse', encodeException('modelTimeoutException', 'no'), 'fault'],
    ['converse', encodeException('serviceUnavailableException', 'no'), 'fault'],
    ['converse', encodeException('modelStreamErrorException', 'no'), 'fault'],
    ['gemini', record({ code: 503, message: 'Overloaded.', status: 'UNAVAILABLE' }), 'overloaded'],
    ['gemini', record({ code: 429, message: 'Quota.', status: 'RESOURCE_EXHAUSTED' }), 'rate'],
    ['gemini', record({ code: 400, message: TOO_LONG, status: 'INVALID_ARGUMENT' }), 'overflow'],
    ['gemini', record({ code: 403, message: 'Method is blocked.', status: 'PERMISSION_DENIED' }), 'credential'],
    ['gemini', record({ message: 'no' }), 'fault'],
  ])('%s: %s is of class %s', (format, bytes, failureClass) => {
    const [event] = eventsOfStream(format, [bytes]);
    if (event?.kind !== 'error') throw new Error('no error');
    expect(classOf(failureOfErrorWords(event.type, event.status, event.message))).toBe(failureClass as 'rate');
  });
});

/** Recorded errors of other classes than `content`, by the number of their recording. */
const CLASSES: { readonly [format in Format]: Readonly<Record<string, string>> } = {
  gemini: {
    '0042': 'overflow',
    '0087': 'credential',
    '0123': 'config',
    '0162': 'rate',
    '0163': 'rate',
    '0213': 'overflow',
    '0235': 'config',
    '0287': 'credential',
    '0289': 'overflow',
  },
  converse: { '0071': 'credential', '0100': 'config' },
};

test.each([
  ['gemini', 'gemini-generate'],
  ['converse', 'bedrock-converse'],
] as const)('recorded errors of %s have the class of their words', (format, api) => {
  const recordings = loadRecordings({ api })?.filter(({ response }) => response.status !== 200) ?? [];
  const found = recordings.map((recording) => {
    const { status } = recording.response;
    const failure = failureOf(format, status, recordingBytes(recording), recordingHeaders(recording));
    return [recording.id, classOf(failure)];
  });
  expect(found).toEqual(recordings.map(({ id }) => [id, CLASSES[format][id.slice(-4)] ?? 'content']));
});
