/**
 * Tests that the tool loop of a messages client on Gemini or OpenRouter returns the provider's own signatures to it,
 * and no others.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { blocksOf } from '../conformance/message-blocks.ts';
import type { Pair } from '../harness/start-pair.ts';
import { sentTexts } from '../harness/start-pair.ts';
import { type Address, post } from './calls.ts';
import { createKey } from './make-key.ts';
import { bodyFor, lastSent, MODELS, startTranslatedPair } from './translated-rig.ts';

let pair: Pair;
beforeAll(async () => {
  pair = await startTranslatedPair();
});
beforeEach(() => pair.fake.reset());
afterAll(() => pair.stop());

const SIGNATURE = { extra_content: { google: { thought_signature: 'c2lnbmVkIGJ5IEdlbWluaQ==' } } };
const DETAILS = [
  { type: 'reasoning.summary', summary: 'I look.', format: 'openai-responses-v1', index: 0 },
  { type: 'reasoning.encrypted', data: 'c2VhbGVk', id: 'rs_1', format: 'openai-responses-v1', index: 1 },
];
const TOOLS = [{ name: 'look', input_schema: { type: 'object', properties: { at: { type: 'string' } } } }];
const called = (id: string, at: string, more: object = {}) => ({
  id,
  type: 'function',
  function: { name: 'look', arguments: JSON.stringify({ at }) },
  ...more,
});

/** Upstream's answer: the same tool calls with the given ids. */
function answerOf(ids: readonly string[], given: 'google' | 'openrouter') {
  const isGoogle = given === 'google';
  const tool_calls = ids.map((id, index) => called(id, `${index}`, isGoogle && index === 0 ? SIGNATURE : {}));
  return { role: 'assistant', content: null, tool_calls, ...(isGoogle ? {} : { reasoning_details: DETAILS }) };
}

function scenarioOf(message: ReturnType<typeof answerOf>, stream: boolean) {
  const head = { id: 'gen-1', created: 1, model: MODELS.own };
  const usage = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 };
  if (!stream) {
    return {
      json: { ...head, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }], usage },
    };
  }
  const { tool_calls, ...rest } = message;
  const deltas = [rest, ...tool_calls.map((call, index) => ({ tool_calls: [{ index, ...call }] })), {}];
  const chunks = deltas.map((delta, at) => {
    const finish_reason = at === deltas.length - 1 ? 'stop' : null;
    return { ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }], usage };
  });
  return { records: [...chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), 'data: [DONE]\n\n'] };
}

type Block = { readonly type: string; readonly id?: string };

/** The conversation of the second turn: the blocks of the first as the client got them, and the results. */
function historyOf(content: readonly Block[]) {
  const ids = content.flatMap(({ type, id }) => (type === 'tool_use' ? [id] : []));
  return [
    { role: 'user', content: 'Look.' },
    { role: 'assistant', content },
    { role: 'user', content: ids.map((id) => ({ type: 'tool_result', tool_use_id: id, content: 'seen' })) },
  ];
}

/** Runs the first turn of a loop on the caller's model; its blocks. */
async function begin(
  address: Address,
  ids: readonly string[],
  given: 'google' | 'openrouter',
  stream = false,
): Promise<Block[]> {
  pair.fake.script(MODELS.own, [scenarioOf(answerOf(ids, given), stream), { say: { text: 'Done.' } }]);
  const first = await post(address, 'messages', bodyFor('messages', MODELS.own, { tools: TOOLS, stream }));
  const text = await first.text();
  expect([first.status, text.includes(ids[0] ?? '')]).toEqual([200, true]);
  for (const secret of ['c2lnbmVkIGJ5IEdlbWluaQ==', 'c2VhbGVk']) expect(text).not.toContain(secret);
  return blocksOf(text) as unknown as Block[];
}

interface SentMessage {
  readonly tool_calls?: readonly object[];
  readonly reasoning_details?: unknown;
}

/** Runs the second turn; returns the assistant message that upstream received. */
async function goOn(address: Address, messages: readonly object[], model: string = MODELS.own): Promise<SentMessage> {
  const response = await post(address, 'messages', bodyFor('messages', model, { tools: TOOLS, messages }));
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('"message"')]);
  const sent = lastSent(pair, model).messages as readonly SentMessage[];
  return sent.find(({ tool_calls }) => tool_calls !== undefined) ?? {};
}

describe.each([false, true])('a tool loop of a messages client, stream %p', (stream) => {
  test('gives Gemini its signature back on the call that had it', async () => {
    const ids = [`call_g1_${stream}`, `call_g2_${stream}`];
    const blocks = await begin(pair.gateway, ids, 'google', stream);
    expect(blocks.map(({ type }) => type)).toEqual(['redacted_thinking', 'tool_use', 'tool_use']);
    const { tool_calls } = await goOn(pair.gateway, historyOf(blocks));
    expect(tool_calls).toEqual([called(ids[0] ?? '', '0', SIGNATURE), called(ids[1] ?? '', '1')]);
  });

  test('gives OpenRouter its reasoning details back, on the message', async () => {
    const ids = [`call_o1_${stream}`];
    const blocks = await begin(pair.gateway, ids, 'openrouter', stream);
    const { tool_calls, reasoning_details } = await goOn(pair.gateway, historyOf(blocks));
    expect([tool_calls, reasoning_details]).toEqual([[called(ids[0] ?? '', '0')], DETAILS]);
  });
});

test('data that came after its call is kept by the gateway', async () => {
  const call = called('call_late', '0');
  const records = [{ tool_calls: [{ index: 0, ...call }] }, { reasoning_details: DETAILS.slice(1) }, {}].map(
    (delta, at) => {
      const choices = [{ index: 0, delta, finish_reason: at === 2 ? 'tool_calls' : null }];
      return `data: ${JSON.stringify({ id: 'gen-2', object: 'chat.completion.chunk', created: 1, model: MODELS.own, choices })}\n\n`;
    },
  );
  pair.fake.script(MODELS.own, [{ records: [...records, 'data: [DONE]\n\n'] }, { say: { text: 'Done.' } }]);
  const first = await post(pair.gateway, 'messages', bodyFor('messages', MODELS.own, { tools: TOOLS, stream: true }));
  const blocks = blocksOf(await first.text()) as unknown as Block[];
  expect(blocks.map(({ type }) => type)).toEqual(['tool_use']);
  expect((await goOn(pair.gateway, historyOf(blocks))).reasoning_details).toEqual(DETAILS.slice(1));
});

describe('host data of one caller', () => {
  const ids = ['call_mine'];

  test('goes to the host for no other workspace', async () => {
    const blocks = await begin(pair.gateway, ids, 'google');
    await pair.gateway.run('workspaces', 'create', 'neighbors', '--account', 'default');
    const { key } = await createKey(pair.gateway, { workspace: 'neighbors' });
    const foreign = { url: pair.gateway.url, key };
    expect((await goOn(foreign, historyOf(blocks))).tool_calls).toEqual([called('call_mine', '0')]);
    pair.fake.script(MODELS.own, [{ say: { text: 'Done.' } }]);
    expect((await goOn(pair.gateway, historyOf(blocks))).tool_calls).toEqual([called('call_mine', '0', SIGNATURE)]);
  });

  test('is not sent to another model', async () => {
    const blocks = await begin(pair.gateway, ids, 'google');
    pair.fake.script(MODELS.openAi, [{ say: { text: 'Done.' } }]);
    expect((await goOn(pair.gateway, historyOf(blocks), MODELS.openAi)).tool_calls).toEqual([called('call_mine', '0')]);
  });
});

test('a lost signature is replaced by Google’s placeholder after the host required one', async () => {
  const message =
    'Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly';
  const refusal = { status: 400, json: [{ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }] };
  pair.fake.script(MODELS.own, [refusal, { say: { text: 'Done.' } }]);
  const { tool_calls } = await goOn(
    pair.gateway,
    historyOf(
      ['call_lost', 'call_second'].map((id, at) => ({ type: 'tool_use', id, name: 'look', input: { at: `${at}` } })),
    ),
  );
  const standIn = { extra_content: { google: { thought_signature: 'skip_thought_signature_validator' } } };
  expect(tool_calls).toEqual([called('call_lost', '0', standIn), called('call_second', '1')]);
  expect(sentTexts(pair, MODELS.own)).toHaveLength(2);
  const [record] = await pair.gateway.calls('--limit', '1');
  expect(record).toMatchObject({ status: 200, attempts: [{ status: 400 }, { status: 200 }] });
});
