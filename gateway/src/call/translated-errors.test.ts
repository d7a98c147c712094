/**
 * Tests upstream-outcome.ts with both formats: every row of wire reference C.6 about upstream as the official SDKs
 * raise it on the other side, with the phrases that clients look for.
 */

import { describe, expect, test } from 'bun:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import type { CallFailure } from '../errors/call-failure.ts';
import { readError as readChatError } from '../protocols/chat/upstream/parse-answer.ts';
import * as messages from '../protocols/messages/client/render-error.ts';
import { readError as readMessagesError } from '../protocols/messages/upstream/parse-answer.ts';
import * as chat from '../protocols/openai/render-error.ts';
import { CLIENT_PROTOCOLS } from '../protocols/registry.ts';
import { scrubText } from './attempt/scrub.ts';
import { failureOfErrorWords, failureOfTranslatedError } from './attempt/upstream-outcome.ts';

const ID = 'req_0123456789abcdef';

/** The error that a chat client gets for a messages upstream's error. */
function fromMessages(status: number, body: object | string, retryAfter: string | null = null): CallFailure {
  const error = readMessagesError(
    Buffer.from(typeof body === 'string' ? body : JSON.stringify({ type: 'error', error: body })),
  );
  return failureOfTranslatedError(status, retryAfter, error, scrubText(error.message, []));
}

/** The error that a messages client gets for a chat upstream's error. */
function fromChat(status: number, body: object | string, retryAfter: string | null = null): CallFailure {
  const error = readChatError(Buffer.from(typeof body === 'string' ? body : JSON.stringify({ error: body })));
  return failureOfTranslatedError(status, retryAfter, error, scrubText(error.message, []));
}

function reply(failure: CallFailure, protocol: 'chat' | 'messages', body: string | Buffer): Response {
  const headers: Record<string, string> = { 'content-type': 'application/json', 'x-request-id': ID, 'request-id': ID };
  if (failure.details.retryAfterSeconds !== undefined)
    headers['retry-after'] = String(failure.details.retryAfterSeconds);
  return new Response(body, { status: CLIENT_PROTOCOLS[protocol].statusOf(failure), headers });
}

async function rejection(call: PromiseLike<unknown>): Promise<unknown> {
  try {
    return await call.then(() => 'no error');
  } catch (error) {
    return error;
  }
}

function answering(response: Response): typeof fetch {
  return Object.assign(async () => response, { preconnect: () => undefined });
}

function raisedByOpenAi(failure: CallFailure): Promise<unknown> {
  const fetch = answering(reply(failure, 'chat', chat.renderError(failure, ID)));
  const client = new OpenAI({ apiKey: 'k', baseURL: 'http://gateway.test/v1', maxRetries: 0, fetch });
  return rejection(client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'a' }] }));
}

function raisedByAnthropic(failure: CallFailure): Promise<unknown> {
  const fetch = answering(reply(failure, 'messages', messages.renderError(failure, ID)));
  const client = new Anthropic({ apiKey: 'k', baseURL: 'http://gateway.test', maxRetries: 0, fetch });
  return rejection(client.messages.create({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'a' }] }));
}

/** The phrases that LangChain JS (1.6) looks for; wire reference E.5. */
const LANGCHAIN =
  /context_length_exceeded|maximum context length|exceeds the context window|Input tokens exceed the configured limit/;
/** The phrases that Claude Code (2.1.329) looks for, with the numbers it reads; wire reference C.6. */
const CLAUDE_CODE = /^prompt is too long(?:: (\d+) tokens > (\d+) maximum)?/;
const CLAUDE_CODE_OUTPUT = /^input length and `max_tokens` exceed context limit: (\d+) \+ (\d+) > (\d+)/;

type Raised = new (...given: never[]) => Error;
type Row = readonly [condition: string, failure: CallFailure, raised: Raised, error: object];

const INVALID = 'invalid_request_error';

describe('C.6, an OpenAI client of a messages upstream', () => {
  const tooLong = { type: INVALID, message: 'prompt is too long: 210000 tokens > 200000 maximum' };
  const overflow = { status: 400, code: 'context_length_exceeded', type: INVALID, param: 'messages', requestID: ID };
  const fault = { status: 500, code: 'internal_error', type: 'api_error' };
  const rows: readonly Row[] = [
    ['context overflow', fromMessages(400, tooLong), OpenAI.BadRequestError, overflow],
    [
      'context overflow under 413',
      fromMessages(413, { ...tooLong, type: 'request_too_large' }),
      OpenAI.BadRequestError,
      overflow,
    ],
    ['context overflow under 422', fromMessages(422, tooLong), OpenAI.BadRequestError, overflow],
    [
      'prompt and max_tokens over the context',
      fromMessages(400, {
        type: INVALID,
        message: 'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000',
      }),
      OpenAI.BadRequestError,
      {
        ...overflow,
        message: expect.stringContaining('210000 tokens (190000 in the messages, 20000 in the completion)'),
      },
    ],
    [
      'our credential, 401',
      fromMessages(401, { type: 'authentication_error', message: 'invalid x-api-key' }),
      OpenAI.InternalServerError,
      fault,
    ],
    ['our bill, 402', fromMessages(402, { type: 'billing_error', message: 'pay' }), OpenAI.InternalServerError, fault],
    [
      'our permission, 403',
      fromMessages(403, { type: 'permission_error', message: 'no' }),
      OpenAI.InternalServerError,
      fault,
    ],
    [
      'our bill under 400',
      fromMessages(400, { type: INVALID, message: 'Your credit balance is too low to access it.' }),
      OpenAI.InternalServerError,
      fault,
    ],
    [
      'model unknown there, 404',
      fromMessages(404, { type: 'not_found_error', message: 'model: claude-9' }),
      OpenAI.InternalServerError,
      fault,
    ],
    ['timeout, 504', fromMessages(504, { type: 'timeout_error', message: 'x' }), OpenAI.InternalServerError, fault],
    ['timeout, 408', fromMessages(408, 'upstream request timeout'), OpenAI.InternalServerError, fault],
    [
      'body too large, 413',
      fromMessages(413, { type: 'request_too_large', message: 'Request exceeds the maximum size' }),
      OpenAI.APIError,
      { status: 413, code: INVALID, type: INVALID },
    ],
    [
      'rate, 429',
      fromMessages(429, { type: 'rate_limit_error', message: 'org-secret' }, '3600'),
      OpenAI.RateLimitError,
      { status: 429, code: 'rate_limit_exceeded', type: 'rate_limit_error' },
    ],
    ['failed, 500', fromMessages(500, { type: 'api_error', message: 'x' }), OpenAI.InternalServerError, fault],
    ['failed, 502', fromMessages(502, '<html>Bad gateway</html>'), OpenAI.InternalServerError, fault],
    [
      'overloaded, 529',
      fromMessages(529, { type: 'overloaded_error', message: 'Overloaded' }),
      OpenAI.InternalServerError,
      fault,
    ],
    [
      'content refused, 400, in upstream’s words',
      fromMessages(400, { type: INVALID, message: 'messages: at least one message is required' }),
      OpenAI.BadRequestError,
      { status: 400, code: INVALID, type: INVALID, message: '400 messages: at least one message is required' },
    ],
    [
      'content refused, 422, keeps its status',
      fromMessages(422, { type: INVALID, message: 'no.' }),
      OpenAI.UnprocessableEntityError,
      { status: 422 },
    ],
  ];
  test.each(rows)('%s', async (_, failure, raised, error) => {
    const found = await raisedByOpenAi(failure);
    expect(found).toBeInstanceOf(raised);
    expect(found).toMatchObject(error);
  });

  test('overflow is known to LangChain', async () => {
    expect(String(await raisedByOpenAi(fromMessages(400, tooLong)))).toMatch(LANGCHAIN);
    const bare = fromMessages(400, { type: INVALID, message: 'Input is too long.' });
    expect(String(await raisedByOpenAi(bare))).toMatch(LANGCHAIN);
  });
});

describe('C.6, an Anthropic client of a chat upstream', () => {
  const message = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.";
  const tooLong = { message, type: INVALID, param: 'messages', code: 'context_length_exceeded' };
  const of = (status: number | undefined, type: string) => ({ status, type, requestID: ID });
  const rows: readonly Row[] = [
    ['context overflow', fromChat(400, tooLong), Anthropic.BadRequestError, of(400, INVALID)],
    ['context overflow under 413', fromChat(413, tooLong), Anthropic.BadRequestError, of(400, INVALID)],
    ['context overflow under 422', fromChat(422, tooLong), Anthropic.BadRequestError, of(400, INVALID)],
    [
      'our credential, 401',
      fromChat(401, { message: 'Incorrect API key' }),
      Anthropic.InternalServerError,
      of(500, 'api_error'),
    ],
    ['our bill, 402', fromChat(402, { message: 'pay' }), Anthropic.InternalServerError, of(500, 'api_error')],
    ['our permission, 403', fromChat(403, { message: 'no' }), Anthropic.InternalServerError, of(500, 'api_error')],
    [
      'our credential under 400',
      fromChat(400, 'Incorrect API key provided: ab***cd'),
      Anthropic.InternalServerError,
      of(500, 'api_error'),
    ],
    [
      'model unknown there, 404',
      fromChat(404, { message: 'no model x', code: 'model_not_found' }),
      Anthropic.InternalServerError,
      of(500, 'api_error'),
    ],
    ['timeout, 504', fromChat(504, ''), Anthropic.APIError, of(504, 'timeout_error')],
    ['timeout, 408', fromChat(408, 'upstream request timeout'), Anthropic.APIError, of(504, 'timeout_error')],
    ['body too large, 413', fromChat(413, 'length limit exceeded'), Anthropic.APIError, of(413, 'request_too_large')],
    [
      'rate, 429',
      fromChat(429, { message: 'Rate limit exceeded' }, '37800'),
      Anthropic.RateLimitError,
      of(429, 'rate_limit_error'),
    ],
    ['failed, 500', fromChat(500, { message: 'x' }), Anthropic.InternalServerError, of(500, 'api_error')],
    [
      'failed, 503',
      fromChat(503, { message: 'Service unavailable.' }),
      Anthropic.InternalServerError,
      of(500, 'api_error'),
    ],
    ['overloaded, 529', fromChat(529, { message: 'x' }), Anthropic.APIError, of(529, 'overloaded_error')],
    [
      'overloaded, 503 that says so',
      fromChat(503, { message: 'The model is at capacity.' }),
      Anthropic.APIError,
      of(529, 'overloaded_error'),
    ],
    [
      'content refused, 400',
      fromChat(400, { message: 'Unknown parameter' }),
      Anthropic.BadRequestError,
      of(400, INVALID),
    ],
    [
      'content refused, 422, keeps its status',
      fromChat(422, 'Failed to deserialize'),
      Anthropic.UnprocessableEntityError,
      of(422, INVALID),
    ],
  ];
  test.each(rows)('%s', async (_, failure, raised, error) => {
    const found = await raisedByAnthropic(failure);
    expect(found).toBeInstanceOf(raised);
    expect(found).toMatchObject(error);
  });

  const wordsOf = (failure: CallFailure): string => JSON.parse(messages.renderError(failure, ID)).error.message;

  test('overflow is known to Claude Code, with its numbers', () => {
    expect(CLAUDE_CODE.exec(wordsOf(fromChat(400, tooLong)))?.slice(1)).toEqual(['9001', '8192']);
  });

  test.each([
    'prompt too long; exceeded max context length by 9 tokens',
    'Your input exceeds the context window of this model.',
    'the request exceeds the available context size',
  ])('overflow without numbers is known to Claude Code: %s', (words) => {
    expect(wordsOf(fromChat(400, { message: words }))).toMatch(CLAUDE_CODE);
  });

  test('a prompt that fits without the answer is known to Claude Code, with its numbers', () => {
    const words =
      "You passed 67073 input tokens and requested 64000 output tokens. However, the model's context length is only 131072 tokens.";
    expect(CLAUDE_CODE_OUTPUT.exec(wordsOf(fromChat(400, { message: words })))?.slice(1)).toEqual([
      '67073',
      '64000',
      '131072',
    ]);
  });

  test('words about a signature stay as they are, for Claude Code knows them', () => {
    const failure = fromChat(400, { message: 'messages.1.content.0: Invalid `signature` in `thinking` block' });
    expect(wordsOf(failure)).toBe('messages.1.content.0: Invalid `signature` in `thinking` block');
  });
});

describe.each([
  ['chat', fromMessages],
  ['messages', fromChat],
] as const)('a client of %s', (protocol, from) => {
  const vocabulary = protocol === 'chat' ? chat : messages;

  test('waits at most a minute after a 429, whatever upstream requested', () => {
    expect(from(429, { message: 'x' }, '37800').details.retryAfterSeconds).toBe(60);
  });

  test.each([401, 402, 403, 429, 500, 502, 503, 504, 529])('reads none of upstream’s words at its %d', (status) => {
    expect(vocabulary.renderError(from(status, { message: 'account org-secret' }), ID)).not.toContain('org-secret');
  });

  test.each([400, 413, 422])('gets a message if upstream’s %d has none', (status) => {
    const body = vocabulary.renderError(from(status, '<html>no</html>'), ID);
    expect(JSON.parse(body).error.message).toBe(`the model provider refused the request (HTTP ${status})`);
  });

  test('vector 31: an error record after the 200 is mapped, not swallowed', () => {
    const record = vocabulary.renderStreamError(failureOfErrorWords('overloaded_error', 529, 'x'), ID).toString();
    expect(record).toContain(protocol === 'chat' ? '"type":"api_error"' : '"type":"overloaded_error"');
    expect(record).not.toMatch(/\[DONE\]|message_stop|finish_reason|stop_reason/);
  });

  test('vector 31: an overflow in the stream has the message of the client’s format', () => {
    const failure = failureOfErrorWords(INVALID, null, 'input exceeds the context window of this model');
    const record = vocabulary.renderStreamError(failure, ID).toString();
    expect(record).toContain(protocol === 'chat' ? 'maximum context length' : 'prompt is too long');
  });

  test('vector 32: a 200 with an error instead of the requested stream is an HTTP error', () => {
    const failure = failureOfErrorWords('error', 503, 'no room');
    expect([failure.kind, CLIENT_PROTOCOLS[protocol].statusOf(failure)]).toEqual(['upstream_failed', 500]);
  });

  test('vector 33: a page of HTML under a 502 is a 500 in the client’s format, without the page', () => {
    const failure = from(502, '<!DOCTYPE html><html><h1>Bad gateway at 10.0.0.7</h1></html>');
    const body = vocabulary.renderError(failure, ID);
    expect(CLIENT_PROTOCOLS[protocol].statusOf(failure)).toBe(500);
    expect(JSON.parse(body).error).toMatchObject({
      type: 'api_error',
      message: `the model provider failed (HTTP 502) (request id ${ID})`,
    });
    expect(body).not.toMatch(/html|10\.0\.0\.7/i);
  });
});
