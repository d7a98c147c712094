/**
 * Tests compaction for upstreams of other formats: one summarizing request, whose answer is an item that only this
 * gateway reads (vector 37; specification of the Responses API, E.5).
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { JsonObject } from '../../../src/protocols/json.ts';
import { violationOf } from '../../../src/protocols/responses/testing/responses-stream.ts';
import { type Pair, startPair } from '../../harness/start-pair.ts';
import { control, createKey } from '../../http-contract/make-key.ts';
import { type Answer, ask, configOf, eventsIn, itemsOf, lastSent, OF_EACH_FORMAT } from './rig.ts';

const SUMMARY = 'They said hi, and the file is a.txt.';

const UPSTREAM = { m: 'claude-a', c: 'lab-c', r: 'gpt-lab' } as const;
const configFor = configOf(OF_EACH_FORMAT, {
  m: ['anthropic', UPSTREAM.m],
  c: ['lab', UPSTREAM.c],
  r: ['openai', UPSTREAM.r],
});

let pair: Pair;
let foreign: string;
beforeAll(async () => {
  pair = await startPair(configFor);
  await control(pair.gateway, 'workspaces.create', { id: 'elsewhere', account: 'default' });
  foreign = (await createKey(pair.gateway, { workspace: 'elsewhere' })).key;
}, 60_000);
afterAll(() => pair.stop());

const HISTORY = [
  { role: 'developer', content: 'Be brief' },
  { role: 'user', content: 'hi' },
  { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{}' },
  { type: 'function_call_output', call_id: 'call_1', output: 'a.txt' },
];
const TOOLS = [{ type: 'function', name: 'look', parameters: { type: 'object' }, strict: false }];
const TRIGGER = { type: 'compaction_trigger' };

function respond(model: string, input: readonly object[], members: object = {}, key?: string): Promise<Answer> {
  return ask(pair, '/v1/responses', { model, input, store: false, tools: TOOLS, ...members }, key);
}

/** The compaction that a model made. */
async function compact(model: 'm' | 'c', members: object = {}): Promise<JsonObject> {
  pair.fake.script(UPSTREAM[model], [{ say: { reasoning: 'hm', text: SUMMARY } }, { answer: 'ok' }]);
  const answer = await respond(model, [...HISTORY, TRIGGER], members);
  const [item, ...others] = itemsOf(answer);
  expect([answer.status, others, item?.type]).toEqual([200, [], 'compaction']);
  return item ?? {};
}

describe.each(['m', 'c'] as const)('upstream %s', (model) => {
  test.each([true, false])('writes a summary, which is one sealed item, streamed: %p', async (stream) => {
    pair.fake.script(UPSTREAM[model], [{ say: { text: SUMMARY } }]);
    const answer = await respond(model, [...HISTORY, TRIGGER], { stream });
    if (stream) {
      expect(violationOf(answer.text)).toBeNull();
      expect(eventsIn(answer.text).map(({ type }) => type)).toEqual([
        'response.created',
        'response.in_progress',
        'response.output_item.added',
        'response.output_item.done',
        'response.completed',
      ]);
    }
    const [item] = itemsOf(answer);
    expect(item).toEqual({
      id: item?.id,
      type: 'compaction',
      encrypted_content: expect.stringMatching(/^gw2\.[\w-]+$/),
    });
    expect(answer.text).not.toContain('a.txt');
    const sent = JSON.stringify(lastSent(pair, UPSTREAM[model]));
    expect(sent).toContain('Summarize the conversation above');
    expect(sent).toContain('a.txt');
    const [record] = await pair.gateway.calls('--limit', '1');
    expect([record?.usage.input, record?.usage_source]).toEqual([11, 'upstream']);
  });

  test('reads its summary in the next request, in the place of the history', async () => {
    const item = await compact(model);
    const next = await respond(model, [item, { role: 'user', content: 'Go on.' }]);
    expect([next.status, JSON.parse(next.text).status]).toEqual([200, 'completed']);
    const sent = JSON.stringify(lastSent(pair, UPSTREAM[model]));
    expect(sent).toContain(`Summary of the conversation so far: ${SUMMARY}`);
    expect(sent).not.toContain('gw2.');
  });
});

test('a cut summary is no compaction', async () => {
  const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };
  const message = { role: 'assistant', content: 'They sa' };
  pair.fake.script('lab-c', { json: { choices: [{ index: 0, message, finish_reason: 'length' }], usage } });
  expect(JSON.parse((await respond('c', [...HISTORY, TRIGGER])).text)).toMatchObject({
    status: 'incomplete',
    incomplete_details: { reason: 'max_output_tokens' },
    output: [],
  });
});

test('an empty summary is a failure of the provider, so that the client keeps its history', async () => {
  pair.fake.script('lab-c', { say: { text: ' ' } });
  const answer = await respond('c', [...HISTORY, TRIGGER]);
  expect([answer.status, answer.text]).toEqual([500, expect.stringContaining('wrote no summary of the conversation')]);
  const [record] = await pair.gateway.calls('--limit', '1');
  expect([record?.error, record?.reason?.kind]).toEqual(['upstream_malformed', 'provider_error']);
  const { text } = await respond('c', [...HISTORY, TRIGGER], { stream: true });
  expect(eventsIn(text).at(-1)?.type).toBe('response.failed');
});

test('a summary moves between models of the workspace, to a provider of the format as text', async () => {
  const item = await compact('m');
  for (const model of ['c', 'r'] as const) {
    pair.fake.script(UPSTREAM[model], { answer: 'ok' });
    const next = await respond(model, [HISTORY[0] as object, item, { role: 'user', content: 'Go on.' }]);
    expect(next.status).toBe(200);
    expect(JSON.stringify(lastSent(pair, UPSTREAM[model]))).toContain(SUMMARY);
  }
  expect(lastSent(pair, 'gpt-lab').input).toEqual([
    HISTORY[0],
    {
      type: 'message',
      role: 'developer',
      content: [{ type: 'input_text', text: `Summary of the conversation so far: ${SUMMARY}` }],
    },
    { role: 'user', content: 'Go on.' },
  ]);
});

describe.each(['m', 'c', 'r'] as const)('upstream %s refuses a compaction', (model) => {
  const expectRefused = ({ status, text }: Answer) =>
    expect([status, JSON.parse(text).error]).toMatchObject([
      400,
      { code: 'invalid_encrypted_content', param: 'input.0', type: 'invalid_request_error' },
    ]);

  test('that was altered, or made for another workspace', async () => {
    const item = await compact('m');
    const sealed = String(item.encrypted_content);
    const bad = {
      ...item,
      encrypted_content: `${sealed.slice(0, 40)}${sealed[40] === 'A' ? 'B' : 'A'}${sealed.slice(41)}`,
    };
    expectRefused(await respond(model, [bad, { role: 'user', content: 'Go on.' }]));
    expectRefused(await respond(model, [item, { role: 'user', content: 'Go on.' }], {}, foreign));
  });

  test('that another provider made, unless it speaks the format itself', async () => {
    pair.fake.script(UPSTREAM[model], { answer: 'ok' });
    const item = { type: 'compaction', encrypted_content: 'gAAAAtheirs' };
    const answer = await respond(model, [item, { role: 'user', content: 'Go on.' }]);
    if (model !== 'r') expectRefused(answer);
    else expect([answer.status, lastSent(pair, 'gpt-lab').input[0]]).toEqual([200, item]);
  });
});

describe('POST /v1/responses/compact', () => {
  const compacted = (model: string, input: readonly object[], members: object = {}) =>
    ask(pair, '/v1/responses/compact', { model, input, tools: TOOLS, ...members });
  const native = {
    id: 'cmp_1',
    object: 'response.compaction',
    created_at: 1_800_000_000,
    output: [{ id: 'cmp_2', type: 'compaction', encrypted_content: 'gAAAAtheirs' }],
    usage: { input_tokens: 30, output_tokens: 4, total_tokens: 34 },
  };

  test.each(['m', 'c'] as const)('is a summary that the next request reads, upstream %s', async (model) => {
    pair.fake.script(UPSTREAM[model], [{ say: { text: SUMMARY } }, { answer: 'ok' }]);
    const answer = await compacted(model, HISTORY, { stream: true, instructions: 'Be brief' });
    const body = JSON.parse(answer.text);
    expect([answer.status, Object.keys(body)]).toEqual([200, ['id', 'object', 'created_at', 'output', 'usage']]);
    expect(body).toMatchObject({ object: 'response.compaction', output: [{ type: 'compaction' }] });
    expect(body.usage.total_tokens).toBe(body.usage.input_tokens + body.usage.output_tokens);
    const [record] = await pair.gateway.calls('--limit', '1');
    expect(record).toMatchObject({ protocol: 'responses', stream: false, usage: { input: 11 } });
    expect((await respond(model, [...body.output, { role: 'user', content: 'Go on.' }])).status).toBe(200);
    expect(JSON.stringify(lastSent(pair, UPSTREAM[model]))).toContain(SUMMARY);
  });

  test('passes to a provider of the format, as written, and is charged', async () => {
    pair.fake.script('gpt-lab', { json: native });
    const answer = await compacted('r', HISTORY, { prompt_cache_key: 'thread' });
    expect([answer.status, JSON.parse(answer.text)]).toEqual([200, native]);
    expect(pair.fake.served('gpt-lab').at(-1)?.requestLine).toBe('POST /v1/responses/compact HTTP/1.1');
    expect(lastSent(pair, 'gpt-lab')).toEqual({
      model: 'gpt-lab',
      input: HISTORY,
      tools: TOOLS,
      prompt_cache_key: 'thread',
    });
    const [record] = await pair.gateway.calls('--limit', '1');
    expect([record?.usage.input, record?.usage.output, record?.cost_nano_usd]).toEqual([
      30,
      4,
      String(30_000 + 20_000),
    ]);
  });

  test('is a summary where a provider of the format does not have it', async () => {
    pair.fake.script('gpt-lab', [{ status: 404, errorBodyBytes: 90 }, { say: { text: SUMMARY } }]);
    const answer = await compacted('r', HISTORY);
    expect([answer.status, JSON.parse(answer.text).output[0].type]).toEqual([200, 'compaction']);
    expect(
      pair.fake
        .served('gpt-lab')
        .slice(-2)
        .map(({ requestLine }) => requestLine.split(' ')[1]),
    ).toEqual(['/v1/responses/compact', '/v1/responses']);
  });

  test('is refused as a response would be, and fails where no summary comes', async () => {
    const unknown = await compacted('nope', HISTORY);
    expect([unknown.status, JSON.parse(unknown.text).error.code]).toEqual([400, 'model_not_found']);
    pair.fake.script('lab-c', { say: { calls: [{ id: 'call_9', name: 'look', input: {} }] } });
    expect((await compacted('c', HISTORY)).status).toBe(500);
    const { gateway } = pair;
    const headers = { authorization: `Bearer ${gateway.key}` };
    expect((await fetch(`${gateway.url}/v1/responses/compact`, { headers })).status).toBe(405);
  });
});
