/**
 * Tests how a running gateway handles anomalous usage: hidden reasoning, numbers that do not match the answer, and
 * numbers from before the end. Each in the same format and, where that is a different path, translated.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { eventually } from '../harness/eventually.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { post, type Side } from '../http-contract/calls.ts';
import { moneyConfig, newPrepaid, verified } from './money-rig.ts';

/** Each command is a process of its own, and a machine may be busy. */
setDefaultTimeout(30_000);

const PRICE = { input: 1, output: 5 };
const SIDES: readonly Side[] = ['chat', 'messages'];

let pair: Pair;
beforeAll(async () => {
  pair = await startPair((url) =>
    moneyConfig(url, { 'of-chat': { host: 'chat', price: PRICE }, 'of-messages': { host: 'messages', price: PRICE } }),
  );
});
afterAll(async () => {
  await verified(pair);
  await pair.stop();
});

const chunk = (members: object) => `data: ${JSON.stringify({ id: 'c', model: 'm', ...members })}\n\n`;
const contentChunk = (content: string) => chunk({ choices: [{ index: 0, delta: { content }, finish_reason: null }] });
const stop = chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
const done = 'data: [DONE]\n\n';

function scriptChat(usage: object | null, content: string): void {
  const message = { role: 'assistant', content, refusal: null };
  const choices = [{ index: 0, message, finish_reason: 'stop', logprobs: null }];
  pair.fake.script('of-chat', { json: { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices, usage } });
}

function scriptMessages(last: object | undefined, more: object = {}, stop_reason = 'end_turn'): void {
  const event = (type: string, members: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
  const usage = { input_tokens: 77, output_tokens: 1 };
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [],
    stop_reason: null,
    usage,
    ...more,
  };
  const records = [
    event('message_start', { message }),
    event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    ...Array.from({ length: 4 }, () =>
      event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'x'.repeat(100) } }),
    ),
    event('content_block_stop', { index: 0 }),
    event('message_delta', { delta: { stop_reason, stop_sequence: null }, ...last }),
    event('message_stop', {}),
  ];
  pair.fake.script('of-messages', { records });
}

/** Returns the record of a whole call. */
async function recordOf(key: string, side: Side, model: string, stream: boolean) {
  const members = { model, stream, max_tokens: 100, messages: [{ role: 'user', content: 'Say it.' }] };
  const response = await post({ url: pair.gateway.url, key }, side, members);
  const text = await response.text();
  const [record] = await pair.gateway.calls('--request-id', response.headers.get('x-request-id') ?? '');
  if (record === undefined) throw new Error(`no record of a call that got ${response.status}: ${text}`);
  return record;
}

const keyOf = async () => (await newPrepaid(pair.gateway, 10_000_000_000n)).key;

test('hidden reasoning does not change the ratio for counted answers', async () => {
  const key = await keyOf();
  const usage = { prompt_tokens: 9, completion_tokens: 500, completion_tokens_details: { reasoning_tokens: 495 } };
  pair.fake.script('of-chat', { records: [contentChunk('x'.repeat(18)), stop, chunk({ choices: [], usage }), done] });
  for (let i = 0; i < 40; i++) {
    const response = await post({ url: pair.gateway.url, key }, 'chat', {
      model: 'of-chat',
      stream: true,
      messages: [{ role: 'user', content: 'Think.' }],
    });
    await response.text();
  }
  pair.fake.script('of-chat', { records: [contentChunk('x'.repeat(4_000)), stop, done] });
  const record = await recordOf(key, 'chat', 'of-chat', true);
  expect([record.usage_source, record.usage.output]).toEqual(['counted', 1_000]);
});

describe.each(SIDES)('a client of %s', (side) => {
  test.each([
    ['far beyond what the caller allowed', 'x'.repeat(18), 5_000_000],
    ['nothing for a long text', 'x '.repeat(25_000), 0],
  ])('flags a plain answer that reports %s, and bills it as reported', async (_, text, completion_tokens) => {
    scriptChat({ prompt_tokens: 9, completion_tokens }, text);
    const record = await recordOf(await keyOf(), side, 'of-chat', false);
    expect(record).toMatchObject({ usage_source: 'upstream', usage_flags: ['far_output'] });
    expect(record.usage.output).toBe(completion_tokens);
  });

  test.each([
    ['its message_delta has none', undefined],
    ['its message_delta has no output', { usage: { input_tokens: 77 } }],
  ])('pays for a messages stream by our count of its output where %s', async (_, last) => {
    scriptMessages(last);
    const record = await recordOf(await keyOf(), side, 'of-messages', true);
    expect([record.usage_source, record.usage.input, record.usage.output]).toEqual(['counted', 77, 100]);
  });

  test('charges a chat stream by our count if only its first chunk had usage', async () => {
    const usage = { prompt_tokens: 77, completion_tokens: 0 };
    const first = chunk({ choices: [{ index: 0, delta: { role: 'assistant', content: '' } }], usage });
    pair.fake.script('of-chat', { records: [first, contentChunk('x'.repeat(400)), stop, done] });
    const record = await recordOf(await keyOf(), side, 'of-chat', true);
    expect([record.usage_source, record.usage.input, record.usage.output]).toEqual(['counted', 77, 100]);
  });
});

/** More than a frame of the journal takes. */
const LONG = 'n'.repeat(1_100_000);
const USED = { prompt_tokens: 9, completion_tokens: 100 };

describe.each(SIDES)('names of a megabyte for a client of %s', (side) => {
  test.each(['of-chat', 'of-messages'] as const)(
    'are cut in the record of a stream %s, which is charged',
    async (model) => {
      if (model === 'of-messages') scriptMessages({ usage: { output_tokens: 100 } }, { id: LONG, model: LONG }, LONG);
      else {
        const named = (members: object) => chunk({ id: LONG, model: LONG, ...members });
        const said = named({ choices: [{ index: 0, delta: { content: 'x'.repeat(400) } }] });
        const end = named({ choices: [{ index: 0, delta: {}, finish_reason: LONG }] });
        pair.fake.script('of-chat', { records: [said, end, named({ choices: [], usage: USED }), done] });
      }
      const record = await recordOf(await keyOf(), side, model, true);
      expect(record).toMatchObject({
        status: 200,
        error: null,
        usage_source: 'upstream',
        served_model: 'n'.repeat(256),
      });
      expect(record.usage.output).toBe(100);
      expect(record.finish_reason?.length).toBeLessThanOrEqual(256);
    },
  );

  test('are not repeated in each chunk', async () => {
    const chunks = Array.from({ length: 20 }, () => `data: {"choices":[{"index":0,"delta":{"content":"a\\n"}}]}\n\n`);
    const first = chunk({ id: LONG, model: LONG, choices: [{ index: 0, delta: { content: 'a' } }] });
    pair.fake.script('of-chat', { records: [first, ...chunks, stop, chunk({ choices: [], usage: USED }), done] });
    scriptMessages({ usage: { output_tokens: 100 } }, { id: LONG, model: LONG });
    for (const model of ['of-chat', 'of-messages']) {
      const members = { model, stream: true, max_tokens: 100, messages: [{ role: 'user', content: 'Say it.' }] };
      const response = await post({ url: pair.gateway.url, key: await keyOf() }, side, members);
      expect((await response.text()).length).toBeLessThan(3 * LONG.length);
    }
  });
});

test('the log has a line for each flagged answer', async () => {
  await eventually('the line', () => (pair.gateway.stderr().includes('far_output') ? true : null));
});
