/**
 * Tests every parameter of a messages body in the founding specification (2.4), the parameters of chat completions
 * only, and the versions.
 */
import { beforeAll, describe, expect, test } from 'bun:test';
import type { SharedPair } from '../harness/start-pair.ts';
import { goodBody, type HeaderChanges, post } from './calls.ts';
import { shareContractPair } from './contract-config.ts';
import { expectRefusal, invalid } from './expect-refusal.ts';

let pair: SharedPair;
beforeAll(async () => {
  pair = await shareContractPair();
});

/** JSON text of a member's value, for values that JSON.stringify cannot write. */
type Json = string;
type Row = readonly [member: string, json: Json];

const USER = '{"role":"user","content":"x"}';
const TEXT = '{"type":"text","text":"x"}';
const chars = (count: number): Json => JSON.stringify('u'.repeat(count));
const elements = (count: number, one: Json): Json => `[${Array(count).fill(one).join(',')}]`;

const TAKEN: readonly Row[] = [
  ['max_tokens', '0'],
  ['max_tokens', '1'],
  ['max_tokens', '9007199254740991'],
  ['system', '"x"'],
  ['system', '[]'],
  ['system', `[${TEXT},${TEXT}]`],
  ['stream', 'false'],
  ['stream', 'null'],
  ['stream', 'true'],
  ['tools', '[]'],
  ['tools', '[{"name":"f","input_schema":{"type":"object"}}]'],
  ['metadata', '{"user_id":"someone"}'],
  ['metadata', `{"user_id":${chars(512)}}`],
  ['metadata', '{}'],
  ['metadata', 'null'],
  ['temperature', '1'],
  ['top_p', '0.5'],
  ['top_k', '5'],
  ['stop_sequences', '["x"]'],
  ['thinking', '{"type":"of a kind that does not exist yet"}'],
  ['a_member_that_nobody_knows', '{"deep":[1,2,{"er":null}]}'],
  ['messages', `[${USER},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]},${USER}]`],
  ['messages', `[${USER},{"role":"system","content":"x"},${USER}]`],
  ['messages', `[{"role":"user","content":[${TEXT},{"type":"a new one"}]}]`],
  ['messages', `[{"role":"user","content":${elements(1000, TEXT)}}]`],
];

/** `path` is what the message must name. */
const REFUSED: ReadonlyArray<readonly [member: string, json: Json, path: string]> = [
  ['max_tokens', '-1', 'max_tokens'],
  ['max_tokens', '1.5', 'max_tokens'],
  ['max_tokens', '9007199254740992', 'max_tokens'],
  ['max_tokens', '"5"', 'max_tokens'],
  ['max_tokens', 'null', 'max_tokens'],
  ['max_tokens', 'true', 'max_tokens'],
  ['max_tokens', '[]', 'max_tokens'],
  ['system', '5', 'system'],
  ['system', '{}', 'system'],
  ['system', 'true', 'system'],
  ['system', '["x"]', 'system.0'],
  ['stream', '"true"', 'stream'],
  ['stream', '1', 'stream'],
  ['tools', '{}', 'tools'],
  ['tools', '"f"', 'tools'],
  ['tools', '[1]', 'tools.0'],
  ['metadata', '"x"', 'metadata'],
  ['metadata', '[]', 'metadata'],
  ['metadata', `{${chars(65)}:"x"}`, 'metadata'],
  ['metadata', `{"user_id":${chars(513)}}`, 'metadata.user_id'],
  ['metadata', '{"user_id":"a\\u0000"}', 'metadata.user_id'],
  ['model', 'null', 'model'],
  ['model', '5', 'model'],
  ['model', '""', 'model'],
  ['model', chars(257), 'model'],
  ['model', '"m\\u0000"', 'model'],
  ['messages', 'null', 'messages'],
  ['messages', '"hello"', 'messages'],
  ['messages', '{}', 'messages'],
  ['messages', '[]', 'messages'],
  ['messages', '[5]', 'messages.0'],
  ['messages', `[${USER},null]`, 'messages.1'],
  ['messages', '[{"content":"x"}]', 'messages.0.role'],
  ['messages', '[{"role":"wizard","content":"x"}]', 'messages.0.role'],
  ['messages', '[{"role":"tool","content":"x"}]', 'messages.0.role'],
  ['messages', '[{"role":"user"}]', 'messages.0.content'],
  ['messages', '[{"role":"user","content":null}]', 'messages.0.content'],
  ['messages', '[{"role":"user","content":5}]', 'messages.0.content'],
  ['messages', '[{"role":"user","content":["x"]}]', 'messages.0.content.0'],
  ['messages', `[${USER},{"role":"user","content":${elements(1001, TEXT)}}]`, 'messages.1.content'],
];

/** The nineteen parameters of contract 5, each with the messages equivalent that the refusal must name. */
const CHAT_ONLY: ReadonlyArray<readonly [member: string, json: Json, says: string]> = [
  ['max_completion_tokens', '64', 'max_tokens'],
  ['response_format', '{"type":"json_object"}', 'output_config'],
  ['n', '1', 'one answer'],
  ['stop', '"x"', 'stop_sequences'],
  ['stream_options', '{"include_usage":true}', 'usage'],
  ['frequency_penalty', '0', 'leave it out'],
  ['presence_penalty', '0', 'leave it out'],
  ['logprobs', 'true', 'leave it out'],
  ['top_logprobs', '1', 'leave it out'],
  ['logit_bias', '{}', 'leave it out'],
  ['functions', '[]', 'tools'],
  ['function_call', '"auto"', 'tool_choice'],
  ['parallel_tool_calls', 'false', 'disable_parallel_tool_use'],
  ['reasoning_effort', '"low"', 'output_config'],
  ['seed', '1', 'leave it out'],
  ['user', '"someone"', 'metadata'],
  ['modalities', '["text"]', 'leave it out'],
  ['audio', '{}', 'leave it out'],
  ['prediction', '{}', 'leave it out'],
];

/** Renders a good body whose member is exactly the given JSON text. */
function withMember(member: string, json: Json): string {
  const rest = JSON.stringify(goodBody('messages', { [member]: undefined })).slice(1, -1);
  return `{${rest},${JSON.stringify(member)}:${json}}`;
}

const short = (json: Json) => (json.length > 60 ? `${json.slice(0, 40)}… (${json.length} long)` : json);

async function expectTaken(body: string, changes: HeaderChanges = {}): Promise<void> {
  const response = await post(pair.gateway, 'messages', body, changes);
  const text = await response.text();
  expect({ status: response.status, text }).toEqual({ status: 200, text: expect.stringContaining('Good') });
}

async function expectRefused(body: string, says: string | RegExp, changes: HeaderChanges = {}): Promise<void> {
  const before = pair.fake.served().length;
  await expectRefusal(await post(pair.gateway, 'messages', body, changes), 'messages', invalid('messages', says));
  expect(pair.fake.served().length).toBe(before);
}

describe('taken', () => {
  for (const row of TAKEN) test(`${row[0]}: ${short(row[1])}`, () => expectTaken(withMember(...row)));
});

describe('refused with 400, the member named, nothing sent upstream', () => {
  for (const [member, json, path] of REFUSED) {
    test(`${member}: ${short(json)}`, () => expectRefused(withMember(member, json), `${path}: found`));
  }

  test('model, messages and max_tokens left out', async () => {
    for (const member of ['model', 'messages', 'max_tokens']) {
      await expectRefused(JSON.stringify(goodBody('messages', { [member]: undefined })), `${member}: found nothing`);
    }
  });

  test('a body that is no object', async () => {
    for (const body of ['[]', '"x"', '5', 'null']) await expectRefused(body, 'expected a JSON object');
  });
});

describe('a parameter of chat completions is refused with the messages way of saying it', () => {
  test('there are nineteen', () => expect(new Set(CHAT_ONLY.map(([member]) => member)).size).toBe(19));
  for (const [member, json, says] of CHAT_ONLY) {
    test(member, async () => {
      await expectRefused(withMember(member, json), new RegExp(`^${member}: .*${says}`));
      await expectRefused(withMember(member, 'null'), new RegExp(`^${member}: .*${says}`));
    });
  }
});

describe('counting tokens', () => {
  const count = '/v1/messages/count_tokens';

  test('needs no max_tokens and has the same checks', async () => {
    const body = goodBody('messages', { max_tokens: undefined });
    const counted = await post(pair.gateway, count, body);
    expect(counted.status).toBe(200);
    expect(await counted.json()).toEqual({ input_tokens: expect.any(Number) });
    const refused = await post(pair.gateway, count, { ...body, messages: 5 });
    await expectRefusal(refused, 'messages', invalid('messages', 'messages: found 5'));
    const chatOnly = await post(pair.gateway, count, { ...body, user: 'someone' });
    await expectRefusal(chatOnly, 'messages', invalid('messages', 'user: '));
  });
});

describe('versions', () => {
  const OLDER = '2023-06-01';
  const NEWER = '2026-10-21';
  const good = JSON.stringify(goodBody('messages'));
  const assistantDocument = (nested: boolean) => {
    const document = { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'x' } };
    const content = nested ? [{ type: 'server_result', content: [document] }] : [document];
    return JSON.stringify(
      goodBody('messages', { messages: [JSON.parse(USER), { role: 'assistant', content }, JSON.parse(USER)] }),
    );
  };
  const citations = (value: unknown, role = 'user') => {
    const turn = { role, content: [{ type: 'text', text: 'x', citations: value }] };
    return JSON.stringify(goodBody('messages', { messages: [JSON.parse(USER), turn] }));
  };

  test('both values are taken in both headers, and reach upstream as anthropic-version', async () => {
    for (const header of ['anthropic-version', 'provider-version']) {
      for (const version of [OLDER, NEWER]) {
        await expectTaken(good, { [header]: version });
        const sent = pair.fake.served('m-ok').at(-1)?.headers ?? [];
        expect(sent.filter(([name]) => /version$/.test(name))).toEqual([['anthropic-version', version]]);
      }
    }
  });

  test('no version is the older one', async () => {
    await expectTaken(withMember('temperature', '1'));
    expect(pair.fake.served('m-ok').at(-1)?.headers).toContainEqual(['anthropic-version', OLDER]);
  });

  test('another value is refused, whichever header it came in', async () => {
    for (const header of ['anthropic-version', 'provider-version']) {
      for (const version of ['2024-01-01', 'latest', '2023-06-01, 2026-10-21', 'x'.repeat(200)]) {
        await expectRefused(good, '2023-06-01 or 2026-10-21', { [header]: version });
      }
    }
  });

  test('both headers with the same value are one', async () => {
    await expectTaken(good, { 'anthropic-version': NEWER, 'provider-version': NEWER });
  });

  test('the newer one refuses temperature, top_p and top_k, the older one takes them', async () => {
    for (const member of ['temperature', 'top_p', 'top_k']) {
      await expectTaken(withMember(member, '1'), { 'anthropic-version': OLDER });
      await expectRefused(withMember(member, '1'), `${member}: `, { 'anthropic-version': NEWER });
    }
  });

  test('the newer one refuses a document directly in an assistant turn, and takes one within a block', async () => {
    await expectTaken(assistantDocument(false), { 'anthropic-version': OLDER });
    await expectTaken(assistantDocument(true), { 'anthropic-version': NEWER });
    await expectRefused(assistantDocument(false), 'messages.1.content.0', { 'anthropic-version': NEWER });
  });

  test('the newer one refuses citations on user text, and takes empty ones and those of the assistant', async () => {
    await expectTaken(citations([{ type: 'x' }]), { 'anthropic-version': OLDER });
    for (const none of [[], null]) await expectTaken(citations(none), { 'anthropic-version': NEWER });
    await expectTaken(citations([{ type: 'x' }], 'assistant'), { 'anthropic-version': NEWER });
    await expectRefused(citations([{ type: 'x' }]), 'messages.1.content.0.citations', { 'anthropic-version': NEWER });
  });

  test('chat has no version: any value is ignored there', async () => {
    const response = await post(pair.gateway, 'chat', goodBody('chat'), { 'anthropic-version': 'nonsense' });
    expect(response.status).toBe(200);
  });

  test('betas and unknown anthropic headers pass to upstream, whatever they say', async () => {
    await expectTaken(good, { 'anthropic-beta': 'a-2026-01-01, b', 'anthropic-odd-thing': 'x' });
    const sent = pair.fake.served('m-ok').at(-1)?.headers;
    expect(sent).toContainEqual(['anthropic-beta', 'a-2026-01-01, b']);
    expect(sent).toContainEqual(['anthropic-odd-thing', 'x']);
  });
});
