/** Tests the beginnings and ends of streams that no recording covers, through a running gateway: contract 5 and 6. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Scenario } from '../fake-upstream/scenario.ts';
import { pointAt } from '../harness/point-at.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';

let pair: Pair;

beforeAll(async () => {
  pair = await startPair((fakeUrl) => pointAt(fakeUrl, { chat: ['c', 'long:40'], messages: ['m'] }));
});
afterAll(() => pair.stop());

async function stream(scenario: Scenario | readonly Scenario[], asksUsage = false, model = 'c') {
  pair.fake.script(model, scenario);
  const chat = model !== 'm';
  const options = asksUsage ? { stream_options: { include_usage: true } } : {};
  const body = { model, max_tokens: 9, stream: true, messages: [{ role: 'user', content: 'hi' }], ...options };
  const response = await fetch(`${pair.gateway.url}${chat ? '/v1/chat/completions' : '/v1/messages'}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${pair.gateway.key}` },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const id = response.headers.get('x-request-id') ?? '';
  const [record] = await pair.gateway.calls('--request-id', id);
  return { status: response.status, text, id, record };
}

const chunk = (members: object, id: object = { id: 'chatcmpl-1' }) =>
  `data: ${JSON.stringify({ ...id, ...members })}\n\n`;
const text = (content: string, id?: object) => chunk({ choices: [{ index: 0, delta: { content } }] }, id);
const finish = chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
const usage = chunk({ choices: [], usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 } });
const DONE = 'data: [DONE]\n\n';
const IN_BAND =
  /^data: \{"error":\{"message":"[^"]+","type":"api_error","param":null,"code":"internal_error","hint":\{[^}]*\}\}\}\n\n$/;

describe('the usage chunk of a chat stream', () => {
  test('is absent where the client did not ask, and in the record all the same', async () => {
    const { text: got, record } = await stream({ records: [text('a'), finish, usage, DONE] });
    expect(got).toBe(text('a') + finish + DONE);
    expect(record).toMatchObject({ usage_source: 'upstream', usage: { input: 11, output: 7 }, finish_reason: 'stop' });
  });

  test('usage is sent if the client requested it', async () => {
    const { text: got } = await stream({ records: [text('a'), finish, usage, DONE] }, true);
    expect(got).toBe(text('a') + finish + usage + DONE);
  });

  test('is absent too where its counts do not hold; then tokens are counted', async () => {
    const broken = chunk({ choices: [], usage: { prompt_tokens: -1, completion_tokens: 7 } });
    const { text: got, record } = await stream({ records: [text('abcdefgh'), finish, broken, DONE] });
    expect(got).toBe(text('abcdefgh') + finish + DONE);
    expect(record).toMatchObject({ usage_source: 'counted', usage: { output: 2 } });
  });
});

describe('a host that refuses stream_options.include_usage', () => {
  const refusal = {
    error: { message: 'Unrecognized request argument: stream_options', type: 'invalid_request_error' },
  };

  test('gets the call again without it, since it was not the caller who put it in', async () => {
    const {
      status,
      text: got,
      record,
    } = await stream([{ status: 400, json: refusal }, { records: [text('abcd'), finish, DONE] }]);
    expect([status, got]).toEqual([200, text('abcd') + finish + DONE]);
    expect(record).toMatchObject({ usage_source: 'counted', usage: { output: 1 }, error: null });
    expect(record?.attempts.map((attempt) => [attempt.status, attempt.error])).toEqual([
      [400, 'upstream_rejected'],
      [200, null],
    ]);
    const sent = pair.fake
      .served('c')
      .slice(-2)
      .map(({ requestBody }) => String(Buffer.from(requestBody)));
    expect(sent.map((body) => body.includes('include_usage'))).toEqual([true, false]);
  });

  test('a caller who requested usage gets the missing usage reported', async () => {
    const { status, text: got, record } = await stream([{ status: 400, json: refusal }], true);
    expect([status, JSON.parse(got)]).toEqual([400, refusal]);
    expect(record?.attempts).toHaveLength(1);
  });
});

describe('the id of a chat stream', () => {
  test('is given to chunks that have none, and nothing else of them changes', async () => {
    const odd = 'data:{ "choices" : [{"index":0,"delta":{"content":"\\u00e9"},"n":9007199254740993}] }\n\n';
    const { text: got, id } = await stream({ records: [odd, finish, DONE] });
    const given = `"id":"chatcmpl-${id.slice(4)}"`;
    expect(got).toBe(
      `data:{ "choices" : [{"index":0,"delta":{"content":"\\u00e9"},"n":9007199254740993}],${given} }\n\n` +
        `${finish.replace('"id":"chatcmpl-1"', given)}${DONE}`,
    );
  });

  test('stays the first one where later chunks have another or none', async () => {
    const { text: got } = await stream({
      records: [text('a'), text('b', { id: 'x-2' }), text('c', { id: null }), finish, DONE],
    });
    expect(got).toBe(text('a') + text('b') + text('c') + finish + DONE);
  });
});

describe('a chat stream', () => {
  test('gets the [DONE] that is missing after a clean end with every reason given', async () => {
    const { text: got, record } = await stream({ records: [text('a'), finish] });
    expect(got).toBe(text('a') + finish + DONE);
    expect(record).toMatchObject({ error: null, finish_reason: 'stop' });
  });

  test('gets it although the last record lacks its blank line, and keeps that record', async () => {
    const { text: got, record } = await stream({ records: [text('a'), finish.trimEnd()] });
    expect(got).toBe(text('a') + finish + DONE);
    expect(record).toMatchObject({ error: null, finish_reason: 'stop' });
  });

  test('gets an in-band error and no [DONE] where a reason is missing', async () => {
    const second = chunk({ choices: [{ index: 1, delta: { content: 'b' } }] });
    const { text: got, record } = await stream({ records: [text('a'), second, finish] });
    expect(got.slice(0, (text('a') + second + finish).length)).toBe(text('a') + second + finish);
    expect(got.slice((text('a') + second + finish).length)).toMatch(IN_BAND);
    expect(record).toMatchObject({ status: 200, error: 'upstream_truncated', usage_source: 'partial' });
  });

  test('keeps the comments before its first event', async () => {
    const records = [': PROCESSING\n\n', ': PROCESSING\n\n', text('a'), ': x\n\n', finish, DONE];
    expect((await stream({ records })).text).toBe(records.join(''));
  });

  test('a failure before the first event is a status, with or without comments', async () => {
    const error = 'data: {"error":{"message":"no room","code":503}}\n\n';
    const { status, text: got, record } = await stream({ records: [': PROCESSING\n\n', error, DONE] });
    expect([status, JSON.parse(got).error.type, record?.status, record?.usage_source]).toEqual([
      500,
      'api_error',
      500,
      'void',
    ]);
  });

  test('a later error is passed on, and nothing after it', async () => {
    const error = 'event: error\ndata: {"error":{"message":"key sk-abcdefghijkl1234 is out","status_code":400}}\n\n';
    const { text: got, record } = await stream({ records: [text('a'), error, finish, DONE] });
    expect(got).toBe(text('a') + error.replace('sk-abcdefghijkl1234', '[redacted]'));
    expect(record).toMatchObject({ status: 200, usage_source: 'partial', error: 'upstream_rejected' });
  });

  test('a stream with another content type is recognized by its first byte', async () => {
    const headers = { 'content-type': 'application/json' };
    expect((await stream({ records: [text('a'), finish, DONE], headers })).text).toBe(text('a') + finish + DONE);
  });

  test.each([1, 5, 20, 40])(
    'broken JSON in event %d ends the stream in-band without [DONE]',
    async (malformedEvent) => {
      const { status, text: got, record } = await stream({ answer: 'long:40', malformedEvent }, false, 'long:40');
      expect(got).not.toContain('[DONE]');
      expect(record?.error).toBe('upstream_malformed');
      expect(status).toBe(malformedEvent === 1 ? 500 : 200);
      if (malformedEvent > 1) expect(`data: {"error"${got.split('data: {"error"')[1]}`).toMatch(IN_BAND);
    },
  );
});

describe('a messages stream', () => {
  const event = (type: string, members: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
  const start = event('message_start', {
    message: { model: 'claude-x', usage: { input_tokens: 9, output_tokens: 1 } },
  });
  const delta = event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'abcdefghij' } });
  const last = event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 4 } });
  const stop = event('message_stop', {});

  test('an error body is passed on unchanged, and its record has its message', async () => {
    const { text: got, record } = await stream({ records: [start, delta, last, stop] }, false, 'm');
    expect(got).toBe(start + delta + last + stop);
    expect(record).toMatchObject({
      usage: { input: 9, output: 4 },
      finish_reason: 'end_turn',
      served_model: 'claude-x',
    });
  });

  test('without message_stop is an error in-band, though its reason was given', async () => {
    const { text: got, record } = await stream({ records: [start, delta, last] }, false, 'm');
    const error = got.slice((start + delta + last).length);
    expect(error).toMatch(
      /^event: error\ndata: \{"type":"error","error":\{"type":"api_error",.*"request_id":"req_\w+"\}\n\n$/,
    );
    expect(record).toMatchObject({ status: 200, error: 'upstream_truncated', usage_source: 'partial' });
  });

  test('an error as the first event becomes a status: overloaded stays 529', async () => {
    const error = event('error', { error: { type: 'overloaded_error', message: 'Overloaded' } });
    const { status, text: got } = await stream({ records: [error] }, false, 'm');
    expect([status, JSON.parse(got).error.type]).toEqual([529, 'overloaded_error']);
  });

  test('a later error is passed on and ends the stream', async () => {
    const error = event('error', { error: { type: 'overloaded_error', message: 'Overloaded' } });
    const { text: got, record } = await stream({ records: [start, delta, error, stop] }, false, 'm');
    expect(got).toBe(start + delta + error);
    expect(record).toMatchObject({ status: 200, error: 'upstream_overloaded', usage_source: 'partial' });
  });
});
