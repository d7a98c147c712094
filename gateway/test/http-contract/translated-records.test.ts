/**
 * Tests records, usage and cost of translated calls: in the client's format, from upstream's numbers. Contract 9, wire
 * C.3, C.5 and C.7.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import type { CallLine } from '../harness/start-gateway.ts';
import type { Pair } from '../harness/start-pair.ts';
import { sentTexts } from '../harness/start-pair.ts';
import { post, type Side } from './calls.ts';
import { createKey } from './make-key.ts';
import { bodyFor, FAR_MODELS, lastSent, MODELS, postTranslated, startTranslatedPair } from './translated-rig.ts';

let pair: Pair;
beforeAll(async () => {
  const names = (side: Side) =>
    FAILURES.flatMap(([status]) => [false, true].map((stream) => failingModel(side, status, stream)));
  // By upstream's format, which is the other one.
  pair = await startTranslatedPair({}, { apart: { chat: names('messages'), messages: names('chat') } });
});
beforeEach(() => pair.fake.reset());
afterAll(() => pair.stop());

/** Upstream's status, the error in the record, and the client's status on each side. */
const FAILURES = [
  [401, 'upstream_credential', 500, 500],
  [429, 'upstream_rate_limited', 429, 429],
  [422, 'upstream_rejected', 422, 422],
  [504, 'upstream_timeout', 500, 504],
  [529, 'upstream_overloaded', 500, 529],
] as const;
const failingModel = (side: Side, status: number, stream: boolean) => `${side}-${status}${stream ? '-stream' : ''}`;

const SIDES: readonly Side[] = ['chat', 'messages'];
const BOTH_WAYS = SIDES.flatMap((side) => [false, true].map((stream) => ({ side, stream })));
const UNUSED = { cache_read: 0, cache_write_5m: 0, cache_write_1h: 0 };

async function recordOf(response: Response): Promise<CallLine> {
  const id = response.headers.get('x-request-id') ?? '';
  const [record, ...others] = await pair.gateway.calls('--request-id', id);
  if (record === undefined || others.length > 0) throw new Error(`not one record of ${id}`);
  return record;
}

/** Reads a call's answer to its end and returns it with its record. */
async function settled(response: Response): Promise<{ readonly text: string; readonly record: CallLine }> {
  const text = await response.text();
  return { text, record: await recordOf(response) };
}

describe('a good call', () => {
  test.each(BOTH_WAYS)(
    '$side, stream $stream: the record has the client’s words and upstream’s numbers',
    async (way) => {
      const { side, stream } = way;
      const model = FAR_MODELS[side];
      pair.fake.script(model, { say: { reasoning: 'Hm, hm.', text: 'Good day to you.', cacheReadTokens: 5 } });
      const user = side === 'chat' ? { user: 'someone' } : { metadata: { user_id: 'someone' } };
      const response = await postTranslated(pair.gateway, side, { stream, ...user }, { 'x-session-id': 'a session' });
      const { record } = await settled(response);
      expect(record).toMatchObject({
        protocol: side,
        model,
        served_model: model,
        stream,
        status: 200,
        error: null,
        finish_reason: side === 'chat' ? 'stop' : 'end_turn',
        end_user: 'someone',
        session: 'a session',
        usage: { ...UNUSED, input: 11, cache_read: 5, output: 4, reasoning: 1 },
        usage_source: 'upstream',
        // 11 at 1000, 5 at 100, 4 at 5000 nano-USD.
        cost_nano_usd: '31500',
      });
      expect(record.attempts).toMatchObject([{ status: 200, error: null }]);
      expect(response.headers.get('x-tollgate-cost-usd')).toBe(stream ? null : '0.0000315');
    },
  );

  test.each([false, true])(
    'cache writes of a messages upstream reach the chat client and the bill, stream %p',
    async (stream) => {
      const counted = {
        input_tokens: 10,
        cache_read_input_tokens: 40,
        cache_creation_input_tokens: 50,
        cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 30 },
      };
      const head = { id: 'msg_1', type: 'message', role: 'assistant', model: MODELS.sonnet46, stop_sequence: null };
      const event = (type: string, members: object) =>
        `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
      const text = { type: 'text', text: 'ok' };
      const usage = { ...counted, output_tokens: 3 };
      const plain = { ...head, content: [text], stop_reason: 'end_turn', usage };
      const records = [
        event('message_start', {
          message: { ...head, content: [], stop_reason: null, usage: { ...counted, output_tokens: 1 } },
        }),
        event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
        event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'ok' } }),
        event('content_block_stop', { index: 0 }),
        // Vector 16: null is not a number.
        event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { input_tokens: null, output_tokens: 3 } }),
        event('message_stop', {}),
      ];
      pair.fake.script(MODELS.sonnet46, stream ? { records } : { json: plain });
      const options = stream ? { stream, stream_options: { include_usage: true } } : {};
      const answer = await settled(await postTranslated(pair.gateway, 'chat', options));
      expect(answer.record).toMatchObject({
        usage: { input: 10, cache_read: 40, cache_write_5m: 20, cache_write_1h: 30, output: 3 },
        usage_source: 'upstream',
        cost_nano_usd: String(10 * 1000 + 40 * 100 + 20 * 1250 + 30 * 2000 + 3 * 5000),
      });
      const usageText = stream ? answer.text.split('\n\n').at(-3)?.slice('data: '.length) : answer.text;
      expect(JSON.parse(usageText ?? '')).toMatchObject({
        usage: {
          prompt_tokens: 100,
          completion_tokens: 3,
          total_tokens: 103,
          prompt_tokens_details: { cached_tokens: 40, cache_write_tokens: 50 },
        },
      });
    },
  );

  test('vector 17: cache reads and writes of a chat upstream are taken out of the input of the messages client', async () => {
    const usage = {
      prompt_tokens: 1000,
      completion_tokens: 2,
      total_tokens: 1002,
      prompt_tokens_details: { cached_tokens: 900, cache_write_tokens: 50 },
    };
    const message = { role: 'assistant', content: 'ok' };
    pair.fake.script(MODELS.own, {
      json: {
        id: 'c',
        object: 'chat.completion',
        created: 1,
        model: 'own',
        choices: [{ index: 0, message, finish_reason: 'stop' }],
        usage,
      },
    });
    const { text, record } = await settled(await postTranslated(pair.gateway, 'messages'));
    const usageText = {
      input_tokens: 50,
      cache_read_input_tokens: 900,
      cache_creation_input_tokens: 50,
      output_tokens: 2,
    };
    expect(JSON.parse(text).usage).toMatchObject(usageText);
    expect(record.usage).toMatchObject({ input: 50, cache_read: 900, output: 2 });
    const { cache_write_5m = 0, cache_write_1h = 0 } = record.usage;
    expect(cache_write_5m + cache_write_1h).toBe(50);
  });

  test('a stream without include_usage shows the chat client no usage, and the record has it', async () => {
    pair.fake.script(MODELS.sonnet46, { say: { text: 'Yes.' } });
    const { text, record } = await settled(await postTranslated(pair.gateway, 'chat', { stream: true }));
    expect(text).toEndWith('data: [DONE]\n\n');
    expect(text).not.toContain('"usage":{');
    expect(record).toMatchObject({ usage: { input: 11, output: 1 }, usage_source: 'upstream' });
  });

  test('a model without a price has no cost in its record', async () => {
    pair.fake.script('own', { answer: 'ok' });
    const response = await post(pair.gateway, 'messages', bodyFor('messages', 'unpriced'));
    const { record } = await settled(response);
    expect([response.headers.get('x-tollgate-cost-usd'), record.cost_nano_usd, record.price_version]).toEqual([
      null,
      null,
      null,
    ]);
  });
});

describe('why an answer ended, in the client’s word', () => {
  const fromMessages = (stop_reason: string) => ({
    id: 'm',
    type: 'message',
    role: 'assistant',
    model: MODELS.sonnet46,
    content: [{ type: 'text', text: 'so' }],
    stop_reason,
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  });
  const fromChat = (finish_reason: string, calls: boolean) => ({
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'own',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: 'so',
          ...(calls ? { tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }] } : {}),
        },
        finish_reason,
      },
    ],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  });
  const rows: ReadonlyArray<readonly [Side, string, object, string, string | null]> = [
    ['chat', 'max_tokens', fromMessages('max_tokens'), 'length', null],
    ['chat', 'model_context_window_exceeded', fromMessages('model_context_window_exceeded'), 'length', null],
    ['chat', 'stop_sequence', fromMessages('stop_sequence'), 'stop', null],
    ['chat', 'refusal', fromMessages('refusal'), 'content_filter', null],
    ['chat', 'vector 60: pause_turn, which is named as lost', fromMessages('pause_turn'), 'stop', 'pause_turn'],
    ['messages', 'length', fromChat('length', false), 'max_tokens', null],
    ['messages', 'content_filter', fromChat('content_filter', false), 'refusal', null],
    ['messages', 'vector 10: stop after a call', fromChat('stop', true), 'tool_use', null],
    ['messages', 'vector 11: tool_calls without one', fromChat('tool_calls', false), 'end_turn', null],
    ['messages', 'vector 50: stop', fromChat('stop', false), 'end_turn', null],
  ];
  test.each(rows)('%s: %s', async (side, _, json, word, dropped) => {
    pair.fake.script(FAR_MODELS[side], { json });
    const response = await postTranslated(pair.gateway, side);
    const { text, record } = await settled(response);
    const answer = JSON.parse(text);
    expect(side === 'chat' ? answer.choices[0].finish_reason : answer.stop_reason).toBe(word);
    expect(record.finish_reason).toBe(word);
    expect(response.headers.get('x-tollgate-dropped')).toBe(dropped);
  });
});

describe('where upstream counts nothing', () => {
  test.each(BOTH_WAYS)(
    '$side, stream $stream: the gateway counts, and the record says so',
    async ({ side, stream }) => {
      pair.fake.script(FAR_MODELS[side], { say: { text: 'A good day to you as well, my friend.' }, omitUsage: true });
      const { record } = await settled(await postTranslated(pair.gateway, side, { stream }));
      expect(record).toMatchObject({ status: 200, error: null, usage_source: 'counted' });
      expect(record.usage.input).toBeGreaterThan(0);
      expect(record.usage.output).toBeWithin(5, 20);
      expect(record.cost_nano_usd).not.toBe('0');
    },
  );
});

describe('calls without an answer', () => {
  test.each(SIDES)('%s: a refused translation is void, and its upstream was never called', async (side) => {
    const refused = side === 'chat' ? { n: 2 } : { safeguards: { enabled: true } };
    const { record } = await settled(await postTranslated(pair.gateway, side, refused));
    expect(record).toMatchObject({
      protocol: side,
      model: FAR_MODELS[side],
      served_model: null,
      status: 400,
      error: 'invalid_request',
      usage: { ...UNUSED, input: 0, output: 0 },
      usage_source: 'void',
      cost_nano_usd: '0',
      attempts: [],
    });
    expect(pair.fake.served()).toEqual([]);
  });

  test('a strict key’s refusal has a record too', async () => {
    const { key } = await createKey(pair.gateway, { strict: true });
    const { record } = await settled(await postTranslated({ url: pair.gateway.url, key }, 'chat', { seed: 7 }));
    expect(record).toMatchObject({ status: 400, error: 'invalid_request', usage_source: 'void', attempts: [] });
  });

  test('upstream’s failures have their status in the client’s format, and are void', async () => {
    const expectations: Array<readonly [id: string | null, expected: object]> = [];
    for (const [status, error, onChat, onMessages] of FAILURES) {
      for (const { side, stream } of BOTH_WAYS) {
        const model = failingModel(side, status, stream);
        // A provider that failed and names such a pause would not be asked again.
        const headers = status < 500 ? { 'retry-after': '30' } : {};
        pair.fake.script(model, { status, errorBodyBytes: 100, headers });
        const response = await post(pair.gateway, side, bodyFor(side, model, { stream }));
        await response.text();
        const usageText = side === 'chat' ? onChat : onMessages;
        expect([side, status, response.status]).toEqual([side, status, usageText]);
        // What may pass is sent again.
        const attempts = Array.from({ length: status >= 500 ? 3 : 1 }, () => ({ status, error }));
        const record = {
          protocol: side,
          stream,
          status: usageText,
          error,
          usage_source: 'void',
          cost_nano_usd: '0',
          attempts,
        };
        expectations.push([response.headers.get('x-request-id'), record]);
      }
    }
    const records = new Map((await pair.gateway.calls()).map((record) => [record.request_id, record]));
    for (const [id, expected] of expectations) expect(records.get(id ?? '')).toMatchObject(expected);
  });
});

describe('a signature that upstream refuses', () => {
  const REFUSAL = {
    status: 400,
    json: {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: 'messages.1.content.0: Invalid `signature` in `thinking` block',
      },
    },
  };
  const tool = { type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } };
  const call = { id: 'toolu_1', type: 'function', function: { name: 'look', arguments: '{}' } };
  const thought = { type: 'reasoning.text', text: 'Hm.', signature: 'c29tZWJvZHk=', format: 'anthropic-claude-v1' };
  const options = {
    tools: [tool],
    messages: [
      { role: 'user', content: 'Look.' },
      { role: 'assistant', content: null, tool_calls: [call], reasoning_details: [thought] },
      { role: 'tool', tool_call_id: 'toolu_1', content: 'seen' },
    ],
  };

  test.each([false, true])('is left out with all reasoning, and sent once more, stream %p', async (stream) => {
    pair.fake.script(MODELS.sonnet46, [REFUSAL, { answer: 'ok' }]);
    const response = await postTranslated(pair.gateway, 'chat', { ...options, stream });
    expect([response.status, response.headers.get('x-tollgate-attempts')]).toEqual([200, '2']);
    const { text, record } = await settled(response);
    expect(text).toContain('Good');
    const [first = '', second = ''] = sentTexts(pair, MODELS.sonnet46);
    expect([first.includes('c29tZWJvZHk='), second.includes('thinking')]).toEqual([true, false]);
    expect(lastSent(pair, MODELS.sonnet46).messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1' }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1' }] },
    ]);
    expect(record).toMatchObject({ status: 200, error: null, usage: { input: 11 }, usage_source: 'upstream' });
    expect(record.attempts).toMatchObject([
      { status: 400, error: 'upstream_rejected' },
      { status: 200, error: null },
    ]);
  });

  test('a second refusal is reported, after two attempts', async () => {
    pair.fake.script(MODELS.sonnet46, REFUSAL);
    const response = await postTranslated(pair.gateway, 'chat', options);
    expect([response.status, response.headers.get('x-request-id')]).toEqual([400, expect.any(String)]);
    const { text, record } = await settled(response);
    expect(JSON.parse(text).error.message).toContain('Invalid `signature`');
    expect(record.attempts.map(({ status }) => status)).toEqual([400, 400]);
    expect(pair.fake.served(MODELS.sonnet46).length).toBe(2);
  });

  test('without reasoning in the history is not sent again', async () => {
    pair.fake.script(MODELS.sonnet46, REFUSAL);
    const { record } = await settled(await postTranslated(pair.gateway, 'chat'));
    expect([record.status, record.attempts.length]).toEqual([400, 1]);
  });

  test('takes a budget of thinking with it, for Anthropic would expect the thinking that was left out', async () => {
    pair.fake.script(MODELS.sonnet45, [REFUSAL, { answer: 'ok' }]);
    const members = { ...options, reasoning_effort: 'low', max_tokens: 9_000 };
    const response = await post(pair.gateway, 'chat', bodyFor('chat', MODELS.sonnet45, members));
    expect(response.status).toBe(200);
    const thinking = sentTexts(pair, MODELS.sonnet45).map((text) => JSON.parse(text).thinking);
    expect(thinking).toEqual([{ type: 'enabled', budget_tokens: 2048 }, { type: 'disabled' }]);
    expect(response.headers.get('x-tollgate-dropped')).toBe('reasoning_effort');
  });

  test('a refusal is final if another attempt would drop a member for a strict key', async () => {
    pair.fake.script(MODELS.sonnet45, [REFUSAL, { answer: 'ok' }]);
    const { key } = await createKey(pair.gateway, { strict: true });
    const members = { ...options, reasoning_effort: 'low', max_tokens: 9_000 };
    const response = await post({ url: pair.gateway.url, key }, 'chat', bodyFor('chat', MODELS.sonnet45, members));
    expect(response.status).toBe(400);
    const { text, record } = await settled(response);
    expect(JSON.parse(text).error.message).toContain('Invalid `signature`');
    expect(record).toMatchObject({
      error: 'upstream_rejected',
      attempts: [{ status: 400, error: 'upstream_rejected' }],
    });
    expect(pair.fake.served(MODELS.sonnet45).length).toBe(1);
  });
});
