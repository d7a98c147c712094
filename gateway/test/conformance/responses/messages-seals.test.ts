/**
 * Tests reasoning that messages clients carry sealed for a Responses upstream: it returns to its issuer as it was, also
 * after a restart, and nowhere else (vectors 34 and 35, contract 10.15).
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { JsonObject } from '../../../src/protocols/json.ts';
import { SEAL } from '../../fake-upstream/answer/responses-answer.ts';
import { type FakeUpstream, startFakeUpstream } from '../../fake-upstream/start-fake-upstream.ts';
import { type RunningGateway, startGateway } from '../../harness/start-gateway.ts';
import { control, createKey } from '../../http-contract/make-key.ts';
import { blocksOf } from '../message-blocks.ts';
import type { Json } from '../wire-text.ts';
import { droppedBy } from './rig.ts';

const CODEX = 'gpt-5-codex';
const MEMBER = 'messages[].content[].thinking';

let fake: FakeUpstream;
let gateway: RunningGateway;
let key: string;
let foreign: string;

function config(): object {
  const base = { base_url: `${fake.url}/v1`, api_key: 'lab-credential' };
  const target = (provider: string, model: string) => ({
    targets: [{ provider, model }],
    price: { input: 1, output: 5 },
  });
  return {
    providers: {
      openai: { kind: 'openai', ...base },
      other: { kind: 'openai', ...base },
      anthropic: { kind: 'anthropic', ...base },
    },
    models: {
      codex: target('openai', CODEX),
      'codex-other': target('other', CODEX),
      claude: target('anthropic', 'claude-a'),
    },
  };
}

beforeAll(async () => {
  fake = await startFakeUpstream();
  gateway = await startGateway({ config: config() });
  key = gateway.key;
  await control(gateway, 'workspaces.create', { id: 'elsewhere', account: 'default' });
  foreign = (await createKey(gateway, { workspace: 'elsewhere' })).key;
}, 60_000);
afterAll(async () => {
  await gateway.stop();
  await fake.stop();
});

const TOOLS = [{ name: 'look', input_schema: { type: 'object' } }];
const asked = { role: 'user', content: 'hi' };
const THINKING = { type: 'enabled', budget_tokens: 2048 };

async function ask(model: string, messages: readonly object[], members: object = {}, as = key) {
  const body = { model, messages, max_tokens: 4096, tools: TOOLS, thinking: THINKING, ...members };
  const reply = await fetch(`${gateway.url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': as, 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
    body: JSON.stringify(body),
  });
  const text = await reply.text();
  expect([reply.status, text]).toEqual([200, expect.any(String)]);
  return { status: reply.status, headers: reply.headers, text, blocks: blocksOf(text) };
}

/** The messages of a turn: the answer's blocks, and a result for each call. */
function turnOf(blocks: readonly Json[]): object[] {
  const calls = blocks.filter(({ type }) => type === 'tool_use');
  const results = calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'seen' }));
  return [
    { role: 'assistant', content: blocks },
    { role: 'user', content: results.length === 0 ? 'go on' : results },
  ];
}

const sentTo = (model: string) => Buffer.from(fake.served(model).at(-1)?.requestBody ?? []).toString();
const itemsSent = (): JsonObject[] => JSON.parse(sentTo(CODEX)).input;
const shapeOf = (items: readonly JsonObject[]) => items.map(({ type, role }) => (type === 'message' ? role : type));

/** What upstream gives in turn `at`, and what it must get back. */
const speechOf = (at: number) => ({
  say: { reasoning: `thought ${at}`, calls: [{ id: `call_${at}`, name: 'look', input: { at } }] },
});
const itemOf = (at: number) => ({
  type: 'reasoning',
  summary: [{ type: 'summary_text', text: `thought ${at}` }],
  encrypted_content: SEAL,
});

describe.each([true, false])('vector 34: a messages client, streamed: %p', (stream) => {
  test('gets reasoning back to its issuer as it was, over a loop of three turns', async () => {
    fake.script(CODEX, [speechOf(0), speechOf(1), speechOf(2), { answer: 'ok' }]);
    const messages: object[] = [asked];
    for (let at = 0; at < 3; at++) {
      const { blocks } = await ask('codex', messages, { stream });
      expect(blocks.map(({ type }) => type)).toEqual(['thinking', 'tool_use']);
      expect([blocks[0]?.thinking, String(blocks[0]?.signature).slice(0, 4)]).toEqual([`thought ${at}`, 'gw2.']);
      expect(JSON.stringify(blocks)).not.toContain(SEAL);
      messages.push(...turnOf(blocks));
    }
    const last = await ask('codex', messages, { stream });
    expect(droppedBy(last)).toEqual([]);
    const items = itemsSent();
    const turn = ['reasoning', 'function_call', 'function_call_output'];
    expect(shapeOf(items)).toEqual(['user', ...turn, ...turn, ...turn]);
    expect(items.filter(({ type }) => type === 'reasoning')).toMatchObject([itemOf(0), itemOf(1), itemOf(2)]);
  });
});

/** A turn that thinks and calls; its blocks. */
async function think(members: object = {}): Promise<Json[]> {
  fake.script(CODEX, [speechOf(0), { answer: 'ok' }, { answer: 'ok' }]);
  return (await ask('codex', [asked], members)).blocks;
}

test('vector 35: reasoning is left out where the call that it led to is gone', async () => {
  fake.script(CODEX, [speechOf(0), speechOf(1), { answer: 'ok' }]);
  const first = (await ask('codex', [asked])).blocks;
  const second = (await ask('codex', [asked, ...turnOf(first)])).blocks;
  const left = first.filter(({ type }) => type !== 'tool_use');
  await ask('codex', [asked, { role: 'assistant', content: [...left, ...second] }, ...turnOf(second).slice(1)]);
  const items = itemsSent();
  expect(shapeOf(items)).toEqual(['user', 'reasoning', 'function_call', 'function_call_output']);
  expect(items[1]).toMatchObject(itemOf(1));
});

describe('sealed reasoning is left out, named, and the call kept, where it', () => {
  const isOmitted = (text: string, dropped: string[]) => {
    expect(dropped).toContain(MEMBER);
    for (const word of ['gw2.', SEAL, 'thought 0']) expect(text).not.toContain(word);
    expect(text).toContain('call_0');
  };

  test('was altered', async () => {
    const [thinking, call] = await think();
    const signature = `${String(thinking?.signature).slice(0, -1)}${String(thinking?.signature).endsWith('A') ? 'E' : 'A'}`;
    const answer = await ask('codex', [asked, ...turnOf([{ ...thinking, signature }, { ...call }])]);
    isOmitted(sentTo(CODEX), droppedBy(answer));
  });

  test.each([['codex-other', CODEX, undefined] as const, ['claude', 'claude-a', undefined] as const])(
    'goes to another provider: %s',
    async (model, upstream) => {
      const blocks = await think();
      fake.script(upstream, { answer: 'ok' });
      const answer = await ask(model, [asked, ...turnOf(blocks)]);
      isOmitted(sentTo(upstream), droppedBy(answer));
    },
  );

  test('is of another workspace', async () => {
    const answer = await ask('codex', [asked, ...turnOf(await think())], {}, foreign);
    isOmitted(sentTo(CODEX), droppedBy(answer));
  });
});

test('reasoning without a summary has a block where the client expects one, and none before a plain text', async () => {
  const output = [
    { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: SEAL },
    {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'ok' }],
    },
  ];
  const usage = { input_tokens: 3, output_tokens: 4, total_tokens: 7 };
  const json = { id: 'resp_1', object: 'response', created_at: 1, model: CODEX, status: 'completed', output, usage };
  fake.script(CODEX, [{ json }, { answer: 'ok' }, { json }]);
  const { blocks } = await ask('codex', [asked]);
  expect(blocks).toMatchObject([
    { type: 'thinking', thinking: '' },
    { type: 'text', text: 'ok' },
  ]);
  await ask('codex', [asked, ...turnOf(blocks)]);
  expect(itemsSent().slice(1, 3)).toMatchObject([output[0], { type: 'message', role: 'assistant' }]);
  const plain = await ask('codex', [asked], { tools: undefined, thinking: undefined });
  expect(plain.blocks).toMatchObject([{ type: 'text', text: 'ok' }]);
});

test('a restart loses nothing', async () => {
  const blocks = await think();
  await gateway.stop(true);
  gateway = await startGateway({ config: config(), dataDir: gateway.dataDir });
  const answer = await ask('codex', [asked, ...turnOf(blocks)]);
  expect(droppedBy(answer)).toEqual([]);
  expect(itemsSent()[1]).toMatchObject(itemOf(0));
});
