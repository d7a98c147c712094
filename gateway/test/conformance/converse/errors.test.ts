/**
 * Tests that Bedrock's errors get the class that decides what follows, by their exception before their status: the table
 * of provider reference C.6, vectors 36 and 45, and all recorded errors.
 */
import { describe, expect, test } from 'bun:test';
import { classOf, failureOfErrorWords, failureOfTranslatedError } from '../../../src/call/attempt/upstream-outcome.ts';
import type { CallFailure } from '../../../src/errors/call-failure.ts';
import { AWS_EVENT_STREAM } from '../../../src/framing/aws-event-stream.ts';
import { encodeException } from '../../../src/framing/testing/encode-frame.ts';
import { CLIENT_PROTOCOLS, UPSTREAM_PROTOCOLS } from '../../../src/protocols/registry.ts';
import { recordingBytes, recordingHeaders } from '../../fake-upstream/recording.ts';
import { loadRecordings } from '../../fake-upstream/recordings.ts';

const { readError, startStreamParser } = UPSTREAM_PROTOCOLS.converse;

function failureOf(status: number, exception: string | null, body: string): CallFailure {
  const headers: ReadonlyArray<readonly [string, string]> =
    exception === null ? [] : [['x-amzn-ErrorType', `${exception}:http://internal.amazon.com/coral/`]];
  const error = readError(Buffer.from(body), headers);
  return failureOfTranslatedError(error.status ?? status, null, error, error.message);
}

const message = (words: string) => JSON.stringify({ message: words });
const WRAPPED = 'The model returned the following errors: ';

describe('an error', () => {
  test.each<readonly [number, string | null, string, string, string]>([
    [403, 'AccessDeniedException', 'no', 'upstream_credential', 'credential'],
    [
      403,
      'ExpiredTokenException',
      'The security token included in the request is expired',
      'upstream_credential',
      'credential',
    ],
    [400, 'UnrecognizedClientException', 'no', 'upstream_credential', 'credential'],
    [403, 'InvalidSignatureException', 'no', 'upstream_credential', 'credential'],
    [403, 'MissingAuthenticationToken', 'Missing Authentication Token', 'upstream_credential', 'credential'],
    [400, 'ValidationException', 'no', 'upstream_rejected', 'content'],
    [
      400,
      null,
      "This model doesn't support the video content block that you provided.",
      'upstream_rejected',
      'content',
    ],
    [400, 'ValidationException', 'The provided model identifier is invalid.', 'upstream_misconfigured', 'config'],
    [
      400,
      'ValidationException',
      'Invocation of model ID anthropic.claude-x with on-demand throughput isn’t supported. Retry',
      'upstream_misconfigured',
      'config',
    ],
    [400, 'ValidationException', "model `x.y` isn't supported on this route", 'upstream_misconfigured', 'config'],
    [400, 'ValidationException', 'Input is too long for requested model.', 'context_overflow', 'overflow'],
    [404, 'ResourceNotFoundException', 'Could not resolve the foundation model.', 'upstream_misconfigured', 'config'],
    [
      404,
      'ResourceNotFoundException',
      'Model use case details have not been submitted for this account.',
      'upstream_credential',
      'credential',
    ],
    [429, 'ThrottlingException', 'Too many requests', 'upstream_rate_limited', 'rate'],
    [429, 'ThrottlingException', 'Too many tokens, please wait before trying again.', 'upstream_rate_limited', 'rate'],
    [400, 'ServiceQuotaExceededException', 'no', 'upstream_rate_limited', 'rate'],
    [408, 'ModelTimeoutException', 'no', 'upstream_timeout', 'fault'],
    [424, 'ModelErrorException', 'no', 'upstream_failed', 'fault'],
    [429, 'ModelNotReadyException', 'no', 'upstream_overloaded', 'overloaded'],
    [500, 'InternalServerException', 'no', 'upstream_failed', 'fault'],
    [503, 'ServiceUnavailableException', 'no', 'upstream_failed', 'fault'],
  ])('%d %p %p is %s, class %s', (status, exception, words, kind, failureClass) => {
    const failure = failureOf(status, exception, message(words));
    expect([failure.kind, classOf(failure)]).toEqual([kind as typeof failure.kind, failureClass as 'rate']);
  });

  test('of the model is unwrapped, and a capital Message is read', () => {
    expect(readError(Buffer.from(message(`${WRAPPED}top_k: no`))).message).toBe('top_k: no');
    expect(readError(Buffer.from('{"Message":"no"}'), [['x-amzn-errortype', 'AccessDeniedException']])).toMatchObject({
      message: 'no',
      code: 'AccessDeniedException',
      trouble: 'account',
    });
    expect(readError(Buffer.from('<html>')).message).toBe('');
  });

  test('about a signature is one, so that the request goes out again without', () => {
    const words = `${WRAPPED}messages.1.content.0: Invalid \`signature\` in \`thinking\` block`;
    expect(readError(Buffer.from(message(words))).condition).toBe('signature');
  });
});

test('vector 45: a prompt that is too long has the counts in the words of messages', () => {
  const words = `${WRAPPED}prompt is too long: 210000 tokens > 200000 maximum`;
  const failure = failureOf(400, 'ValidationException', message(words));
  expect([failure.kind, classOf(failure)]).toEqual(['context_overflow', 'overflow']);
  const body = CLIENT_PROTOCOLS.messages.renderError(failure, 'req_1');
  expect(JSON.parse(body).error.message).toBe('prompt is too long: 210000 tokens > 200000 maximum');
});

describe('vector 36: an exception as the first frame of a 200', () => {
  test.each([
    ['throttlingException', 'Too many tokens, please wait before trying again.', 'rate'],
    ['validationException', `${WRAPPED}no`, 'content'],
    ['validationException', `${WRAPPED}prompt is too long: 2 tokens > 1 maximum`, 'overflow'],
    ['modelTimeoutException', 'no', 'fault'],
    ['serviceUnavailableException', 'no', 'fault'],
    ['modelStreamErrorException', 'no', 'fault'],
  ] as const)('%s is of class %s', (exception, words, failureClass) => {
    const parser = startStreamParser();
    AWS_EVENT_STREAM.startDecoder(1_000, null).feed(encodeException(exception, words), (output) => {
      const [event] = output.kind === 'event' ? parser.push(output) : [];
      if (event?.kind !== 'error') throw new Error('no error');
      expect(classOf(failureOfErrorWords(event.type, event.status, event.message))).toBe(failureClass);
    });
  });
});

test('recorded errors blame the caller only for the content', () => {
  const recordings =
    loadRecordings({ api: 'bedrock-converse' })?.filter(({ response }) => response.status !== 200) ?? [];
  const found = recordings.map((recording) => {
    const error = readError(Buffer.from(recordingBytes(recording)), recordingHeaders(recording));
    return [recording.id, classOf(failureOfTranslatedError(recording.response.status, null, error, error.message))];
  });
  const classes: Readonly<Record<string, string>> = { '0071': 'credential', '0100': 'config' };
  expect(found).toEqual(recordings.map(({ id }) => [id, classes[id.slice(-4)] ?? 'content']));
});
