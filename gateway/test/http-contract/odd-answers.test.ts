/**
 * Tests answers in a form that was not requested: upstream charges for each, so each reaches the client as an answer.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { gzipSync } from 'node:zlib';
import type { Pair } from '../harness/start-pair.ts';
import { post, type Side } from './calls.ts';
import { bodyFor, MODELS, startTranslatedPair } from './translated-rig.ts';

let pair: Pair;
beforeAll(async () => {
  // Each answer is judged as it came, without another attempt.
  pair = await startTranslatedPair({ commit_after: '200ms' }, { routing: { max_extra_attempts: 0 } });
});
beforeEach(() => pair.fake.reset());
afterAll(() => pair.stop());

const CHAT_USAGE = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 };
const completion = (choice: object, more: object = {}) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, finish_reason: 'stop', ...choice }],
  usage: CHAT_USAGE,
  ...more,
});
const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text: 'Good day.' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 5, output_tokens: 3 },
};
const PLAIN = {
  [MODELS.own]: completion({ message: { role: 'assistant', content: 'Good day.' } }),
  [MODELS.sonnet46]: MESSAGE,
} as const;

async function expectBilled(usage: object = { input: 5, output: 3 }) {
  const [record] = await pair.gateway.calls('--limit', '1');
  expect(record).toMatchObject({ status: 200, error: null, usage, usage_source: 'upstream' });
}

describe('a plain answer to a request for a stream', () => {
  const ways = (['chat', 'messages'] as const).flatMap((side) =>
    [MODELS.own, MODELS.sonnet46].map((model) => [side, model] as const),
  );
  const ask = (side: Side, model: string, more: object = {}) =>
    post(pair.gateway, side, bodyFor(side, model, { stream: true, ...more }));

  async function expectStream(response: Response, side: Side) {
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    const text = await response.text();
    expect(text).toContain(side === 'chat' ? '"content":"Good day."' : '"text":"Good day."');
    expect(text.trimEnd()).toEndWith(side === 'chat' ? 'data: [DONE]' : 'data: {"type":"message_stop"}');
    expect(text.split(side === 'chat' ? '[DONE]' : 'event: message_stop')).toHaveLength(2);
    return text;
  }

  test.each(ways)('%s at %s is that stream, and billed', async (side, model) => {
    pair.fake.script(model, { json: PLAIN[model as keyof typeof PLAIN] });
    const text = await expectStream(await ask(side, model), side);
    // The client did not request usage.
    if (side === 'chat') expect(text).not.toContain('"prompt_tokens"');
    await expectBilled();
  });

  test('the stream has the requested usage', async () => {
    pair.fake.script(MODELS.own, { json: PLAIN[MODELS.own] });
    const text = await expectStream(await ask('chat', MODELS.own, { stream_options: { include_usage: true } }), 'chat');
    expect(text).toContain('"prompt_tokens":5');
  });

  test('may be compressed, or come after the stream was promised', async () => {
    const packed = gzipSync(JSON.stringify(PLAIN[MODELS.own])).toString('base64');
    pair.fake.script(MODELS.own, {
      bodyBase64: packed,
      headers: { 'content-encoding': 'gzip', 'content-type': 'application/json' },
    });
    await expectStream(await ask('messages', MODELS.own), 'messages');
    pair.fake.script(MODELS.own, { json: PLAIN[MODELS.own], delayBeforeFirstByteMs: 600 });
    await expectStream(await ask('messages', MODELS.own), 'messages');
    await expectBilled();
  });

  test('a plain error is passed on as that error', async () => {
    pair.fake.script(MODELS.own, { json: { error: { message: 'over capacity', code: 503 } } });
    for (const [side, status] of [
      ['chat', 500],
      ['messages', 529],
    ] as const) {
      const response = await ask(side, MODELS.own);
      expect([response.status, await response.text()]).toEqual([status, expect.stringContaining('overloaded')]);
    }
  });
});

describe('a stream in the coding identity, which hosts name to keep proxies from compressing', () => {
  test.each(['chat', 'messages'] as const)('is read for a client of %s', async (side) => {
    for (const model of Object.values(MODELS)) {
      pair.fake.script(model, { headers: { 'content-encoding': 'Identity' } });
      const response = await post(pair.gateway, side, bodyFor(side, model, { stream: true }));
      const text = await response.text();
      expect([response.status, text]).toEqual([200, expect.stringMatching(/\[DONE\]|event: message_stop/)]);
    }
  });
});

describe('a filtered answer without a message, as Azure gives it', () => {
  const filtered = { finish_reason: 'content_filter', content_filter_results: { hate: { filtered: true } } };

  test('is a refusal with its usage, plain', async () => {
    pair.fake.script(MODELS.own, { json: completion(filtered) });
    const response = await post(pair.gateway, 'messages', bodyFor('messages', MODELS.own));
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      content: [],
      stop_reason: 'refusal',
      usage: { input_tokens: 5, output_tokens: 3 },
    });
    await expectBilled();
  });

  test('is a refusal with its usage, streamed or meant to be', async () => {
    const chunk = (members: object) => `data: ${JSON.stringify({ id: 'a', model: 'm', ...members })}\n\n`;
    const records = [
      chunk({ choices: [], prompt_filter_results: [] }),
      chunk({ choices: [{ index: 0, ...filtered }] }),
      chunk({ choices: [], usage: CHAT_USAGE }),
      'data: [DONE]\n\n',
    ];
    for (const scenario of [{ records }, { json: completion(filtered) }]) {
      pair.fake.script(MODELS.own, scenario);
      const response = await post(pair.gateway, 'messages', bodyFor('messages', MODELS.own, { stream: true }));
      const text = await response.text();
      expect([response.status, text]).toEqual([200, expect.stringContaining('"stop_reason":"refusal"')]);
      expect(text).toContain('"output_tokens":3');
      await expectBilled();
    }
  });
});

describe('arguments of a call', () => {
  const tools = [{ name: 'look', input_schema: { type: 'object' } }];
  const called = (args: unknown) => ({ id: 'call_1', type: 'function', function: { name: 'look', arguments: args } });

  test.each([
    ['null in a text', 'null', {}],
    ['an object', { at: 'Bern' }, { at: 'Bern' }],
    ['an object in a text in a text', '"{\\"at\\":\\"Bern\\"}"', { at: 'Bern' }],
  ])('that are %s reach a messages client as input', async (_form, written, input) => {
    const message = { role: 'assistant', content: null, tool_calls: [called(written)] };
    pair.fake.script(MODELS.own, { json: completion({ message, finish_reason: 'tool_calls' }) });
    const plain = await post(pair.gateway, 'messages', bodyFor('messages', MODELS.own, { tools }));
    expect([plain.status, await plain.json()]).toMatchObject([
      200,
      { content: [{ type: 'tool_use', name: 'look', input }], stop_reason: 'tool_use' },
    ]);
    await expectBilled();

    const delta = { role: 'assistant', tool_calls: [{ index: 0, ...called(written) }] };
    const chunk = (choice: object) =>
      `data: ${JSON.stringify({ id: 'a', model: 'm', choices: [{ index: 0, ...choice }] })}\n\n`;
    const records = [chunk({ delta }), chunk({ delta: {}, finish_reason: 'tool_calls' }), 'data: [DONE]\n\n'];
    pair.fake.script(MODELS.own, { records });
    const streamed = await post(pair.gateway, 'messages', bodyFor('messages', MODELS.own, { tools, stream: true }));
    const pieces = [...(await streamed.text()).matchAll(/"partial_json":("(?:[^"\\]|\\.)*")/g)];
    expect(JSON.parse(pieces.map(([, piece]) => JSON.parse(piece ?? '""')).join(''))).toEqual(input);
  });
});
