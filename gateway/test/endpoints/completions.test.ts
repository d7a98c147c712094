/** Tests legacy completions through a running gateway: bytes, streams, usage, money and refusals. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import OpenAI from 'openai';
import { asObject, type JsonObject } from '../../src/protocols/json.ts';
import { recordingBytes } from '../fake-upstream/recording.ts';
import { loadRecordings } from '../fake-upstream/recordings.ts';
import { type EndpointRig, startEndpointRig } from './endpoint-rig.ts';

const PRICE = { input: 1, output: 2 };
const INSTRUCT = 'gpt-3.5-turbo-instruct';
const recordings = (loadRecordings({ api: 'openai-completions' }) ?? []).filter(
  ({ provider, request, response }) => provider !== 'portkey' && request !== null && response.status === 200,
);

function configFor(url: string): object {
  const base = { base_url: `${url}/v1`, api_key: 'lab-credential' };
  const target = (provider: string, model: string) => ({ targets: [{ provider, model }], price: PRICE });
  return {
    defaults: { routing: { max_extra_attempts: 0 } },
    providers: {
      openai: { kind: 'openai', ...base },
      lab: { kind: 'openai-compatible', ...base },
      vllm: { kind: 'openai-compatible', preset: 'vllm', base_url: `${url}/v1` },
    },
    models: {
      [INSTRUCT]: target('openai', INSTRUCT),
      'gpt-5.2': target('openai', 'gpt-5.2'),
      local: target('vllm', 'qwen-coder'),
      listed: { ...target('lab', 'coder'), protocols: ['completions'] },
      cut: { ...target('lab', 'cut'), protocols: ['completions'] },
      ...Object.fromEntries(
        recordings.map(({ id }) => [`rec:${id}`, { ...target('lab', `lab:${id}`), protocols: ['completions'] }]),
      ),
    },
  };
}

const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };
const whole = (members: object = {}) => ({
  id: 'cmpl-1',
  object: 'text_completion',
  created: 1,
  model: 'm',
  choices: [{ text: ' world', index: 0, logprobs: null, finish_reason: 'length' }],
  usage,
  ...members,
});
const chunk = (members: object) =>
  `data: ${JSON.stringify({ id: 'cmpl-1', object: 'text_completion', created: 1, model: 'm', ...members })}\n\n`;
const text = (value: string, finish_reason: string | null = null, index = 0) =>
  chunk({ choices: [{ text: value, index, logprobs: null, finish_reason }] });
const DONE = 'data: [DONE]\n\n';
const SSE = { 'content-type': 'text/event-stream' };
const COUNTED = chunk({ choices: [], usage });

let rig: EndpointRig;
beforeAll(async () => {
  rig = await startEndpointRig(configFor);
  for (const model of [INSTRUCT, 'coder', 'qwen-coder']) rig.upstream.answer(model, { body: whole() });
}, 60_000);
afterAll(() => rig.stop());

const complete = (model: string, members: object = {}, headers = {}) =>
  rig.post('/v1/completions', { model, prompt: 'hello', ...members }, headers);
const lastSent = (model: string): JsonObject => JSON.parse(String(rig.upstream.served(model).at(-1)?.body));

test('a plain answer passes byte for byte, with its usage and cost', async () => {
  const body = JSON.stringify(whole({ new_member: 1.0 }), null, 1);
  rig.upstream.answer(INSTRUCT, { body });
  const answer = await complete(INSTRUCT, { best_of: 3, suffix: 'x', logprobs: 2 });
  expect([answer.status, answer.bytes.toString()]).toEqual([200, body]);
  expect(rig.upstream.served(INSTRUCT).at(-1)?.path).toBe('/v1/completions');
  expect(lastSent(INSTRUCT)).toEqual({ model: INSTRUCT, prompt: 'hello', best_of: 3, suffix: 'x', logprobs: 2 });
  expect(await rig.recordOf(answer)).toMatchObject({
    protocol: 'completions',
    stream: false,
    finish_reason: 'length',
    usage_source: 'upstream',
    usage: { input: 5, output: 2 },
    cost_nano_usd: '9000',
  });
});

test('a stream passes without the usage chunk that the gateway asked for', async () => {
  rig.upstream.answer('qwen-coder', { headers: SSE, body: text('a') + text('b') + text('', 'stop') + COUNTED + DONE });
  const answer = await complete('local', { stream: true });
  expect(answer.bytes.toString()).toBe(text('a') + text('b') + text('', 'stop') + DONE);
  expect(lastSent('qwen-coder').stream_options).toEqual({ include_usage: true });
  expect(await rig.recordOf(answer)).toMatchObject({
    stream: true,
    usage: { input: 5, output: 2 },
    finish_reason: 'stop',
  });
  const asked = await complete('local', { stream: true, stream_options: { include_usage: true } });
  expect(asked.bytes.toString()).toContain(COUNTED);
});

test('OpenAI’s client reads both', async () => {
  const client = new OpenAI({ apiKey: rig.gateway.key, baseURL: `${rig.gateway.url}/v1` });
  const plain = await client.completions.create({ model: INSTRUCT, prompt: 'hello' });
  expect(plain.choices[0]?.text).toBe(' world');
  let said = '';
  const stream = await client.completions.create({ model: 'local', prompt: 'hello', stream: true });
  for await (const { choices } of stream) said += choices[0]?.text ?? '';
  expect(said).toBe('ab');
});

test('a stream that breaks off ends in an error, without [DONE], and its text is billed', async () => {
  rig.upstream.answer('cut', { headers: SSE, body: text('a'.repeat(400)) });
  const answer = await complete('cut', { stream: true });
  const records = answer.bytes.toString().trim().split('\n\n');
  expect(JSON.parse(String(records.at(-1)).slice(6)).error.code).toBe('internal_error');
  expect(answer.bytes.toString()).not.toContain('[DONE]');
  expect(await rig.recordOf(answer)).toMatchObject({ error: 'upstream_truncated', usage_source: 'partial' });
});

test('an error in a stream is one for the client; a whole answer becomes a stream', async () => {
  const error = `data: ${JSON.stringify({ error: { message: 'too much', code: 429 } })}\n\n`;
  rig.upstream.answer('cut', { headers: SSE, body: error });
  expect([(await complete('cut', { stream: true })).status]).toEqual([429]);
  const two = whole({ choices: [0, 1].map((index) => ({ text: `t${index}`, index, finish_reason: 'stop' })) });
  rig.upstream.answer('cut', { body: two });
  const answer = await complete('cut', { stream: true, n: 2 });
  const events = answer.bytes
    .toString()
    .split('\n\n')
    .filter((line) => line.startsWith('data: {'));
  expect(events.map((line) => JSON.parse(line.slice(6)).choices[0]?.text)).toEqual(['t0', 't1']);
  expect(answer.bytes.toString()).toEndWith(DONE);
});

test('15: max_tokens 0 with echo has usage without completion_tokens', async () => {
  rig.upstream.answer('coder', { body: whole({ usage: { prompt_tokens: 5, total_tokens: 5 } }) });
  const answer = await complete('listed', { max_tokens: 0, echo: true, logprobs: 1 });
  expect(answer.status).toBe(200);
  expect(await rig.recordOf(answer)).toMatchObject({
    usage: { input: 5, output: 0 },
    usage_source: 'upstream',
    cost_nano_usd: '5000',
  });
});

test('a plain call that a budget covers only in part is metered, and its answer keeps the form', async () => {
  const made = await rig.gateway.run('keys', 'create', '--name', 'small', '--budget-usd', '0.05', '--json');
  const { key } = JSON.parse(made.stdout);
  rig.upstream.answer('coder', { headers: SSE, body: text('wor') + text('ld', 'stop') + COUNTED + DONE });
  const answer = await complete('listed', { max_tokens: 100_000 }, { authorization: `Bearer ${key}` });
  expect(answer.json).toMatchObject({
    object: 'text_completion',
    choices: [{ text: 'world', index: 0, finish_reason: 'stop' }],
    usage,
  });
  expect(lastSent('coder')).toMatchObject({ stream: true, max_tokens: 100_000 });
  rig.upstream.answer('coder', { body: whole() });
  // Each candidate of each prompt is held for.
  const many = { prompt: ['a', 'b'], best_of: 20, max_tokens: 16_000 };
  const metered = await complete('listed', many, { authorization: `Bearer ${key}` });
  expect([metered.status, lastSent('coder').stream]).toEqual([200, true]);
});

test('an idempotency key replays a stream', async () => {
  rig.upstream.answer('qwen-coder', { headers: SSE, body: text('a', 'stop') + COUNTED + DONE });
  const headers = { 'idempotency-key': 'completion-1' };
  const first = await complete('local', { stream: true }, headers);
  const before = rig.upstream.served('qwen-coder').length;
  const again = await complete('local', { stream: true }, headers);
  expect([again.headers.get('x-tollgate-replayed'), again.bytes.equals(first.bytes)]).toEqual(['true', true]);
  expect(rig.upstream.served('qwen-coder').length).toBe(before);
});

test('nothing is translated from or to chat: 404 with the reason', async () => {
  const refused = await complete('gpt-5.2');
  expect([refused.status, refused.json.error.param]).toEqual([404, 'model']);
  expect(refused.json.error.message).toContain('POST /v1/chat/completions');
  const chat = await rig.post('/v1/chat/completions', { model: INSTRUCT, messages: [{ role: 'user', content: 'a' }] });
  expect([chat.status, chat.json.error.message]).toEqual([400, expect.stringContaining('POST /v1/completions')]);
});

test.each([
  [{ prompt: 5 }, 'prompt'],
  [{ prompt: [] }, 'prompt'],
  [{ prompt: ['a', 5] }, 'prompt.1'],
  [{ prompt: [1, 'a'] }, 'prompt'],
  [{ n: 0 }, 'n'],
  [{ best_of: 500 }, 'best_of'],
  [{ max_tokens: -1 }, 'max_tokens'],
  [{ stream: 'yes' }, 'stream'],
  [{ stream_options: { include_usage: 5 } }, 'stream_options.include_usage'],
  [{ model: undefined }, 'model'],
])('%j is refused by name', async (members, param) => {
  const { status, json } = await complete(INSTRUCT, members);
  expect([status, json.error.param]).toEqual([400, param]);
});

describe.skipIf(recordings.length === 0)('recorded completions (needs the recordings)', () => {
  test('pass byte for byte, with the recorded usage', async () => {
    expect(recordings.length).toBeGreaterThan(20);
    for (const recording of recordings) {
      const bytes = Buffer.from(recordingBytes(recording));
      rig.upstream.answer(`lab:${recording.id}`, { headers: recording.stream ? SSE : {}, body: bytes });
      const asked = asObject(recording.request?.body);
      const answer = await rig.post('/v1/completions', {
        ...asked,
        model: `rec:${recording.id}`,
        // One recorded body lacks it.
        stream: recording.stream,
      });
      // Writer's own stream is none of this format: it has no choices and no end.
      if (recording.provider === 'writer' && recording.stream) {
        expect([recording.id, answer.status]).toEqual([recording.id, 500]);
        continue;
      }
      expect([recording.id, answer.status, answer.bytes.equals(bytes)]).toEqual([recording.id, 200, true]);
      if (recording.stream) continue;
      const { usage: counted } = JSON.parse(bytes.toString());
      if (counted === undefined) continue;
      const nano = counted.prompt_tokens * 1_000 + (counted.completion_tokens ?? 0) * 2_000;
      expect([recording.id, (await rig.recordOf(answer))?.cost_nano_usd]).toEqual([recording.id, String(nano)]);
    }
  });
});

test('a model that a request names in addition needs the same right, and nothing is sent without it', async () => {
  const made = await rig.gateway.run('keys', 'create', '--name', 'narrow', '--models', 'listed', '--json');
  const headers = { authorization: `Bearer ${JSON.parse(made.stdout).key}` };
  const before = rig.upstream.served('coder').length;
  const body = { model: 'listed', prompt: 'hello' };
  for (const [models, status] of [
    [['cut'], 403],
    [['unheard-of'], 403],
  ] as const) {
    const refused = await rig.post('/v1/completions', { ...body, models }, headers);
    expect([refused.status, refused.json.error.param]).toEqual([status, 'models.0']);
  }
  expect(rig.upstream.served('coder')).toHaveLength(before);
  expect((await rig.post('/v1/completions', { ...body, models: ['coder'] }, headers)).status).toBe(200);
});
