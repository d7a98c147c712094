/**
 * Tests what a client gets when its translated upstream sends an error, a malformed answer or nothing, before and
 * during a stream. Wire C.4 and C.6.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Scenario } from '../fake-upstream/scenario.ts';
import type { Pair } from '../harness/start-pair.ts';
import { type Answer, ask, endsInError, hasTerminal, PROTOCOLS, type ProtocolName, recordsById } from './calls.ts';
import { SHORT, startTranslated, translatedModel, UPSTREAM_OF } from './translated-rig.ts';

/** Each call has one attempt and a provider of its own, so that no failure affects the next call. */
const NAMES = Array.from({ length: 100 }, (_, index) => `x${index}`);
const unused = NAMES.values();

let pair: Pair;
beforeAll(async () => {
  pair = await startTranslated(NAMES, { apart: true, routing: { max_extra_attempts: 0 } });
});
afterAll(() => pair.stop());

/** Sends one call to a new model with this scenario. */
function meet(client: ProtocolName, scenario: Scenario, stream = true): Promise<Answer> {
  const { value: name } = unused.next();
  if (name === undefined) throw new Error('all names are used');
  const model = translatedModel(client, name);
  pair.fake.script(model, scenario);
  return ask(pair.gateway, { protocol: client, model, stream });
}

interface ReceivedPart {
  readonly message: string;
  readonly type: string;
  readonly code?: string;
  readonly param?: string | null;
}

/** Returns the error at the end of a stream, or of a whole body. */
function errorIn(client: ProtocolName, { text, status }: Answer): ReceivedPart {
  const last = status === 200 ? (text.trimEnd().split('\n\n').at(-1) ?? '') : text;
  const json = last.replace(client === 'chat' ? /^data: / : /^event: error\ndata: /, '');
  return (JSON.parse(json) as { readonly error: ReceivedPart }).error;
}

/** Returns a scenario: the first `count` records of upstream's stream, then `more`. */
function after(client: ProtocolName, count: number, ...more: string[]): Scenario {
  return { records: [...SHORT[UPSTREAM_OF[client]].records.slice(0, count), ...more] };
}

/** Renders an error record in the upstream format of this client. */
function errorRecord(client: ProtocolName, type: string, message: string, code: number | string | null = null): string {
  return UPSTREAM_OF[client] === 'chat'
    ? `data: ${JSON.stringify({ error: { message, type, param: null, code } })}\n\n`
    : `event: error\ndata: ${JSON.stringify({ type: 'error', error: { type, message } })}\n\n`;
}

const TOO_LONG = 'prompt is too long: 9000 tokens > 8192 maximum';
const LIMITED = { type: 'rate_limit_error', code: 'rate_limit_exceeded' };
const FAULT = { type: 'api_error', code: 'internal_error' };

/** Errors in the middle of upstream's stream, and the error that the client gets. */
const IN_BAND: ReadonlyArray<
  readonly [client: ProtocolName, type: string, message: string, code: number | string | null, told: object]
> = [
  ['chat', 'overloaded_error', 'Overloaded', null, FAULT],
  ['chat', 'rate_limit_error', 'slow down', null, LIMITED],
  ['chat', 'api_error', 'it broke', null, FAULT],
  ['chat', 'invalid_request_error', TOO_LONG, null, { type: 'invalid_request_error', code: 'context_length_exceeded' }],
  ['messages', 'server_error', 'it broke', 500, { type: 'api_error' }],
  ['messages', 'server_error', 'Overloaded', 529, { type: 'overloaded_error' }],
  ['messages', 'rate_limit_error', 'slow down', 429, { type: 'rate_limit_error' }],
  ['messages', 'timeout', 'too slow', 504, { type: 'timeout_error' }],
  [
    'messages',
    'invalid_request_error',
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
    'context_length_exceeded',
    { type: 'invalid_request_error', message: TOO_LONG },
  ],
];

test.each(IN_BAND)(
  'vector 31: a %s client is told of %s (%s) in the middle of a stream',
  async (client, type, message, code, told) => {
    const answer = await meet(client, after(client, 6, errorRecord(client, type, message, code)));
    expect([answer.status, hasTerminal(client, answer.text), endsInError(client, answer.text)]).toEqual([
      200,
      false,
      true,
    ]);
    expect(answer.text).toContain('Hm');
    expect(errorIn(client, answer)).toMatchObject(told);
    const record = (await recordsById(pair.gateway)).get(answer.requestId);
    expect([record?.status, record?.error === null, record?.usage_source]).toEqual([200, false, 'partial']);
  },
);

test.each([...PROTOCOLS])('%s: an error as the first event of a stream is an HTTP error', async (client) => {
  const answer = await meet(client, { records: [errorRecord(client, 'rate_limit_error', 'slow down', 429)] });
  expect(answer.status).toBe(429);
  expect(errorIn(client, answer)).toMatchObject({ type: 'rate_limit_error' });
  expect(Number(answer.headers.get('retry-after'))).toBeWithin(1, 61);
});

const NONSENSE: Readonly<Record<ProtocolName, readonly string[]>> = {
  chat: [
    'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_\n\n',
    'event: message_start\ndata: <html>\n\n',
  ],
  messages: ['data: {"choices":[{"index":0,"delta":{"conte\n\n', 'data: <html>502</html>\n\n'],
};

test.each([...PROTOCOLS])(
  '%s: a record that is no JSON ends the stream with an error, never silently',
  async (client) => {
    for (const record of NONSENSE[client]) {
      const rest = SHORT[UPSTREAM_OF[client]].records.slice(3);
      const answer = await meet(client, after(client, 3, record, ...rest));
      expect([answer.status, hasTerminal(client, answer.text), endsInError(client, answer.text)]).toEqual([
        200,
        false,
        true,
      ]);
      expect(errorIn(client, answer)).toMatchObject({
        type: 'api_error',
        message: expect.stringContaining(answer.requestId),
      });
      expect(answer.text).not.toContain('<html>');
    }
  },
);

const ERROR_BODY = {
  chat: { error: { message: 'no room left', type: 'server_error', code: 503 } },
  messages: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
};

test.each([...PROTOCOLS])(
  'vector 32: %s: a 200 that holds a JSON error though a stream was asked for is an HTTP error',
  async (client) => {
    for (const contentType of ['application/json', 'text/event-stream']) {
      const scenario = { json: ERROR_BODY[UPSTREAM_OF[client]], headers: { 'content-type': contentType } };
      for (const stream of [true, false]) {
        const answer = await meet(client, scenario, stream);
        expect([contentType, stream, answer.status >= 500]).toEqual([contentType, stream, true]);
        expect(errorIn(client, answer).message).toContain(answer.requestId);
      }
    }
  },
);

test.each([...PROTOCOLS])(
  'vector 33: %s: a page of HTML is an error in the client’s format, and none of it is shown',
  async (client) => {
    const page = '<!DOCTYPE html><html><h1>Bad gateway at 10.0.0.7</h1></html>';
    for (const status of [502, 200, 404]) {
      for (const stream of [true, false]) {
        const scenario = { status, body: page, headers: { 'content-type': 'text/html' } };
        const answer = await meet(client, scenario, stream);
        expect([status, stream, answer.status]).toEqual([status, stream, 500]);
        expect(answer.text).not.toMatch(/html|10\.0\.0\.7/i);
        expect(errorIn(client, answer).message).toMatch(/\w/);
        expect(answer.headers.get('content-type')).toBe('application/json');
      }
    }
  },
);

test.each([...PROTOCOLS])('%s: an invalid answer is a 500 in the client’s format', async (client) => {
  const good = UPSTREAM_OF[client] === 'chat' ? { choices: [] } : { type: 'message', content: 'x' };
  const empty: Scenario[] = [{ hollow: true }, { records: [] }, { records: [': only a comment\n\n'] }];
  for (const scenario of [...empty, { json: good }, { json: [] }, { json: 'x' }, { body: '{"id":' }]) {
    for (const stream of [true, false]) {
      const answer = await meet(client, scenario, stream);
      expect({ scenario, stream, status: answer.status }).toEqual({ scenario, stream, status: 500 });
      expect(errorIn(client, answer)).toMatchObject(client === 'chat' ? FAULT : { type: 'api_error' });
    }
  }
});

test.each([...PROTOCOLS])('%s: a plain answer to a request for a stream is sent as a stream', async (client) => {
  const body = { chat: { choices: [{ index: 0, message: { content: 'a' }, finish_reason: 'stop' }] }, messages: {} };
  const message = {
    type: 'message',
    role: 'assistant',
    content: [{ type: 'text', text: 'a' }],
    stop_reason: 'end_turn',
  };
  const json = UPSTREAM_OF[client] === 'chat' ? body.chat : message;
  const streamed = await meet(client, { json }, true);
  expect([streamed.status, hasTerminal(client, streamed.text)]).toEqual([200, true]);
  expect((await meet(client, { json }, false)).status).toBe(200);
});

test.each([...PROTOCOLS])(
  '%s: arguments of a call that are no JSON object are never shown as a call that can be run',
  async (client) => {
    const garbled = SHORT[UPSTREAM_OF[client]].records.map((record) => record.replace('1}"', '1]"'));
    const answer = await meet(client, { records: garbled });
    if (client === 'chat') {
      // Tool arguments are unvalidated model output (founding specification, 4.1).
      expect([hasTerminal(client, answer.text), answer.text.includes('1]')]).toEqual([true, true]);
    } else {
      expect([hasTerminal(client, answer.text), endsInError(client, answer.text)]).toEqual([false, true]);
    }
  },
);
