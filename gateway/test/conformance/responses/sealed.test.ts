/**
 * Tests reasoning that Responses clients carry sealed: it returns to its issuer as it was, over turns and restarts, and
 * nowhere else (vectors 11 to 13, contract 10.15).
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { JsonObject } from '../../../src/protocols/json.ts';
import { violationOf } from '../../../src/protocols/responses/testing/responses-stream.ts';
import { SIGNATURE } from '../../fake-upstream/answer/messages-answer.ts';
import { type Pair, startPair } from '../../harness/start-pair.ts';
import { control, createKey } from '../../http-contract/make-key.ts';
import { type Answer, ask, configOf, droppedBy, itemsOf, lastSent } from './rig.ts';

const MEMBER = 'input[].reasoning';

const configFor = configOf(
  {
    anthropic: { kind: 'anthropic' },
    other: { kind: 'anthropic' },
    moonshot: { kind: 'openai-compatible', preset: 'moonshot' },
    openai: { kind: 'openai' },
  },
  {
    claude: ['anthropic', 'claude-a'],
    'claude-other': ['other', 'claude-a'],
    'claude-b': ['anthropic', 'claude-b'],
    kimi: ['moonshot', 'kimi-k2'],
    native: ['openai', 'gpt-lab'],
  },
);

let pair: Pair;
let foreign: string;
let strict: string;
beforeAll(async () => {
  pair = await startPair(configFor);
  await control(pair.gateway, 'workspaces.create', { id: 'elsewhere', account: 'default' });
  foreign = (await createKey(pair.gateway, { workspace: 'elsewhere' })).key;
  strict = (await createKey(pair.gateway, { strict: true })).key;
}, 60_000);
afterAll(() => pair.stop());

const tools = [{ type: 'function', name: 'look', parameters: { type: 'object' }, strict: false }];
const asked = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] };
/** As Codex sends it. */
const CODEX = { store: false, include: ['reasoning.encrypted_content'], tools, reasoning: { effort: 'medium' } };

function respond(model: string, input: readonly object[], members: object = {}, key?: string): Promise<Answer> {
  return ask(pair, '/v1/responses', { model, input, ...CODEX, ...members }, key);
}

const sealOf = (items: readonly JsonObject[]) =>
  String(items.find(({ type }) => type === 'reasoning')?.encrypted_content);
const altered = (sealed: string, at: number) =>
  sealed.slice(0, at) + (sealed[at] === 'A' ? 'B' : 'A') + sealed.slice(at + 1);
const replaced = (items: readonly JsonObject[], encrypted_content: string) =>
  items.map((item) => (item.type === 'reasoning' ? { ...item, encrypted_content } : item));

/** The answer of a first turn that thinks, in a text. */
async function think(model: string, upstream: string): Promise<JsonObject[]> {
  pair.fake.script(upstream, [{ say: { reasoning: 'hm, so', text: 'I see' } }, { answer: 'ok' }]);
  return itemsOf(await respond(model, [asked]));
}

// Vector 11.
describe.each([true, false])('a Codex-like client, streamed: %p', (stream) => {
  test('gets thinking back to its issuer as it was, over three turns', async () => {
    const turn = (at: number) => ({
      say: { reasoning: `thought ${at}`, calls: [{ id: `call_${at}`, name: 'look', input: { at } }] },
    });
    pair.fake.script('claude-a', [turn(0), turn(1), turn(2), { answer: 'ok' }]);
    const input: object[] = [asked];
    for (let at = 0; at < 4; at++) {
      const answer = await respond('claude', input, { stream });
      if (stream) expect(violationOf(answer.text)).toBeNull();
      expect([answer.status, droppedBy(answer)]).toEqual([200, []]);
      const items = itemsOf(answer);
      input.push(...items);
      for (const { type, call_id } of items)
        if (type === 'function_call') input.push({ type: 'function_call_output', call_id, output: 'seen' });
    }
    const { messages } = lastSent(pair, 'claude-a');
    const said = messages.filter(({ role }: JsonObject) => role === 'assistant');
    expect(said.map(({ content }: { content: JsonObject[] }) => content)).toMatchObject(
      [0, 1, 2].map((at) => [
        { type: 'thinking', thinking: `thought ${at}`, signature: SIGNATURE },
        { type: 'tool_use', input: { at } },
      ]),
    );
    const seals = input.filter((item) => 'encrypted_content' in item).map((item) => sealOf([item as JsonObject]));
    expect(seals.length).toBe(3);
    expect(seals.every((seal) => seal.startsWith('gw2.') && !seal.includes(SIGNATURE))).toBe(true);
  });
});

test('reasoning without text is sealed too', async () => {
  const block = (content_block: object, deltas: readonly object[]) => [
    { type: 'content_block_start', index: 0, content_block },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index: 0, delta })),
    { type: 'content_block_stop', index: 0 },
  ];
  const hidden = block({ type: 'redacted_thinking', data: 'aGlkZGVu' }, []);
  const silent = block({ type: 'thinking', thinking: '', signature: '' }, [
    { type: 'signature_delta', signature: 'c2lsZW50' },
  ]).map((event) => ({ ...event, index: 1 }));
  const text = block({ type: 'text', text: '' }, [{ type: 'text_delta', text: 'ok' }]).map((event) => ({
    ...event,
    index: 2,
  }));
  const usage = { input_tokens: 3, output_tokens: 4 };
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-a', content: [], usage };
  const events = [
    { type: 'message_start', message: { ...message, stop_reason: null } },
    ...hidden,
    ...silent,
    ...text,
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage },
    { type: 'message_stop' },
  ];
  const records = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  pair.fake.script('claude-a', [{ records }, { answer: 'ok' }]);
  const first = await respond('claude', [asked], { stream: true });
  expect(violationOf(first.text)).toBeNull();
  const items = itemsOf(first);
  expect(items).toMatchObject([
    { type: 'reasoning', summary: [] },
    { type: 'reasoning', summary: [] },
    { type: 'message' },
  ]);
  await respond('claude', [asked, ...items, asked]);
  expect(lastSent(pair, 'claude-a').messages[1].content).toEqual([
    { type: 'redacted_thinking', data: 'aGlkZGVu' },
    { type: 'thinking', thinking: '', signature: 'c2lsZW50' },
    { type: 'text', text: 'ok' },
  ]);
});

test('reasoning that its issuer does not sign goes back to it as it was', async () => {
  const items = await think('kimi', 'kimi-k2');
  const second = await respond('kimi', [asked, ...items, asked]);
  expect([second.status, droppedBy(second).includes(MEMBER)]).toEqual([200, false]);
  expect(lastSent(pair, 'kimi-k2').messages[1]).toMatchObject({ reasoning_content: 'hm, so', content: 'I see' });
});

// Vectors 12 and 13.
describe('sealed reasoning is left out, named, and everything else kept, where it', () => {
  const isOmitted = (answer: Answer, upstream: string, items: readonly JsonObject[]) => {
    expect([answer.status, droppedBy(answer).includes(MEMBER)]).toEqual([200, true]);
    const sent = JSON.stringify(lastSent(pair, upstream));
    for (const word of ['hm, so', '"type":"thinking"', 'gw2.', SIGNATURE, sealOf(items)])
      expect(sent).not.toContain(word);
    expect(sent).toContain('I see');
  };

  test.each([4, 40, -1])('was altered, at %d', async (at) => {
    const items = await think('claude', 'claude-a');
    const bad = replaced(items, altered(sealOf(items), at < 0 ? sealOf(items).length + at : at));
    isOmitted(await respond('claude', [asked, ...bad, asked]), 'claude-a', items);
  });

  test.each(['gw2.', 'gw2.AAAA', 'gw2.%%%', 'gw1.AAAA', 'gAAAAABforeign'])('is %s', async (sealed) => {
    const items = replaced(await think('claude', 'claude-a'), sealed);
    const answer = await respond('claude', [asked, ...items, asked]);
    expect([answer.status, droppedBy(answer)]).toEqual([200, [MEMBER]]);
    expect(JSON.stringify(lastSent(pair, 'claude-a'))).not.toContain(sealed);
  });

  test.each([
    ['claude-other', 'claude-a'],
    ['claude-b', 'claude-b'],
    ['kimi', 'kimi-k2'],
  ])('was sealed for another target: %s', async (model, upstream) => {
    const items = await think('claude', 'claude-a');
    pair.fake.script(upstream, { answer: 'ok' });
    isOmitted(await respond(model, [asked, ...items, asked]), upstream, items);
  });

  test('is of another workspace', async () => {
    const items = await think('claude', 'claude-a');
    isOmitted(await respond('claude', [asked, ...items, asked], {}, foreign), 'claude-a', items);
  });

  test('goes to a provider of the format', async () => {
    const items = await think('claude', 'claude-a');
    pair.fake.script('gpt-lab', { answer: 'ok' });
    isOmitted(await respond('native', [asked, ...items, asked]), 'gpt-lab', items);
  });

  test('and a strict key refuses the request', async () => {
    const items = await think('claude', 'claude-a');
    expect((await respond('claude', [asked, ...items, asked], {}, strict)).status).toBe(200);
    const bad = replaced(items, altered(sealOf(items), 40));
    const answer = await respond('claude', [asked, ...bad, asked], {}, strict);
    expect([answer.status, JSON.parse(answer.text).error.param]).toEqual([400, MEMBER]);
  });
});
