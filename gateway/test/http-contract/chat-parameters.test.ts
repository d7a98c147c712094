/**
 * Tests every parameter of a chat completions body in the founding specification (2.1): below, at and above its limits,
 * wrong type, null.
 */
import { beforeAll, describe, expect, test } from 'bun:test';
import type { SharedPair } from '../harness/start-pair.ts';
import { goodBody, post } from './calls.ts';
import { shareContractPair } from './contract-config.ts';
import { expectRefusal, invalid } from './expect-refusal.ts';

let pair: SharedPair;
beforeAll(async () => {
  pair = await shareContractPair();
});

/** JSON text of a member's value, for values that JSON.stringify cannot write. */
type Json = string;
/** `member` is what the message and `param` must name. */
type Row = readonly [member: string, json: Json];

const USER = '{"role":"user","content":"x"}';
const chars = (count: number): Json => JSON.stringify('u'.repeat(count));
const elements = (count: number, one: Json): Json => `[${Array(count).fill(one).join(',')}]`;

const TAKEN: readonly Row[] = [
  ['temperature', '0'],
  ['temperature', '0.0'],
  ['temperature', '-0'],
  ['temperature', '1'],
  ['temperature', '2'],
  ['temperature', '2e0'],
  ['temperature', 'null'],
  ['top_p', '0'],
  ['top_p', '0.5'],
  ['top_p', '1'],
  ['top_p', 'null'],
  ['stream', 'false'],
  ['stream', 'null'],
  ['stream', 'true'],
  ['stream_options', 'null'],
  ['max_tokens', '1'],
  ['max_tokens', '9007199254740991'],
  ['max_tokens', 'null'],
  ['max_completion_tokens', '1'],
  ['max_completion_tokens', '9007199254740991'],
  ['max_completion_tokens', 'null'],
  ['tools', '[]'],
  ['tools', '[{"type":"function","function":{"name":"f"}}]'],
  ['tools', 'null'],
  ['tool_choice', '"auto"'],
  ['tool_choice', '"none"'],
  ['tool_choice', '{"type":"function","function":{"name":"f"}}'],
  ['tool_choice', 'null'],
  ['response_format', '{"type":"json_object"}'],
  ['response_format', 'null'],
  ['user', '"someone"'],
  ['user', chars(256)],
  ['user', JSON.stringify('😀'.repeat(256))],
  ['user', 'null'],
  ['metadata', 'null'],
  ['metadata', '{}'],
  ['metadata', `{${chars(64)}:${chars(512)}}`],
  ['metadata', `{${JSON.stringify('é'.repeat(64))}:${JSON.stringify('😀'.repeat(512))}}`],
  ['seed', '123456789012345678901234567890'],
  ['reasoning_effort', '"of a kind that does not exist yet"'],
  ['a_member_that_nobody_knows', '{"deep":[1,2,{"er":null}]}'],
  ['messages', `[{"role":"developer","content":"x"},{"role":"system","content":"x"},${USER}]`],
  [
    'messages',
    `[${USER},{"role":"assistant","content":null,"tool_calls":[]},{"role":"tool","tool_call_id":"t","content":"x"}]`,
  ],
  ['messages', `[{"role":"user","content":[{"type":"text","text":"x"},{"type":"a new one"}]}]`],
  ['messages', `[{"role":"user","content":${elements(1000, '{"type":"text","text":"x"}')}}]`],
];

const REFUSED: readonly Row[] = [
  ['temperature', '-0.0000001'],
  ['temperature', '2.0000001'],
  ['temperature', '-1'],
  ['temperature', '1e999'],
  ['temperature', '"1"'],
  ['temperature', 'true'],
  ['temperature', '[1]'],
  ['top_p', '-0.0000001'],
  ['top_p', '1.0000001'],
  ['top_p', '"0.5"'],
  ['top_p', '{}'],
  ['stream', '"true"'],
  ['stream', '1'],
  ['stream', '[]'],
  ['stream_options', '"include_usage"'],
  ['stream_options', '[]'],
  ['stream_options', 'true'],
  ['max_tokens', '0'],
  ['max_tokens', '-1'],
  ['max_tokens', '1.5'],
  ['max_tokens', '9007199254740992'],
  ['max_tokens', '1e999'],
  ['max_tokens', '"5"'],
  ['max_tokens', 'true'],
  ['max_completion_tokens', '0'],
  ['max_completion_tokens', '-1'],
  ['max_completion_tokens', '0.5'],
  ['max_completion_tokens', '9007199254740992'],
  ['max_completion_tokens', '"5"'],
  ['tools', '{}'],
  ['tools', '"f"'],
  ['tools', 'true'],
  ['tool_choice', '1'],
  ['tool_choice', '[]'],
  ['tool_choice', 'true'],
  ['response_format', '"json_object"'],
  ['response_format', '[]'],
  ['response_format', '1'],
  ['user', '5'],
  ['user', '{}'],
  ['user', chars(257)],
  ['user', JSON.stringify('😀'.repeat(257))],
  ['user', '"a\\u0000b"'],
  ['user', '"a\\nb"'],
  ['user', '"a\\u007fb"'],
  ['metadata', '"x"'],
  ['metadata', '[]'],
  ['metadata', `{${chars(65)}:"x"}`],
  ['model', 'null'],
  ['model', '5'],
  ['model', '""'],
  ['model', '["ok"]'],
  ['model', chars(257)],
  ['model', '"o\\u0000k"'],
  ['model', '"ok\\r\\n"'],
  ['messages', 'null'],
  ['messages', '{}'],
  ['messages', '"hello"'],
  ['messages', '[]'],
];

/** Like REFUSED, but the fault is inside the member, and so is the path that must be named. */
const REFUSED_WITHIN: ReadonlyArray<readonly [member: string, json: Json, path: string]> = [
  ['stream_options', '{"include_usage":"yes"}', 'stream_options.include_usage'],
  ['stream_options', '{"include_usage":1}', 'stream_options.include_usage'],
  ['tools', '[{},5]', 'tools.1'],
  ['tools', '[null]', 'tools.0'],
  ['metadata', `{"k":${chars(513)}}`, 'metadata.k'],
  ['metadata', '{"k":"a\\u0001"}', 'metadata.k'],
  ['messages', '[5]', 'messages.0'],
  ['messages', `[${USER},null]`, 'messages.1'],
  ['messages', '[{"content":"x"}]', 'messages.0.role'],
  ['messages', '[{"role":"wizard","content":"x"}]', 'messages.0.role'],
  ['messages', '[{"role":5,"content":"x"}]', 'messages.0.role'],
  ['messages', '[{"role":"user","content":5}]', 'messages.0.content'],
  ['messages', '[{"role":"user","content":{}}]', 'messages.0.content'],
  ['messages', '[{"role":"user","content":[7]}]', 'messages.0.content.0'],
  [
    'messages',
    `[${USER},{"role":"user","content":${elements(1001, '{"type":"text","text":"x"}')}}]`,
    'messages.1.content',
  ],
];

/** Renders a good body whose member is exactly the given JSON text. */
function withMember(member: string, json: Json): string {
  const rest = JSON.stringify(goodBody('chat', { [member]: undefined })).slice(1, -1);
  return `{${rest},${JSON.stringify(member)}:${json}}`;
}

const short = (json: Json) => (json.length > 60 ? `${json.slice(0, 40).toWellFormed()}… (${json.length} long)` : json);
const name = ([member, json]: readonly [string, Json, ...string[]]) => `${member}: ${short(json)}`;

describe('taken', () => {
  for (const row of TAKEN) {
    test(name(row), async () => {
      const response = await post(pair.gateway, 'chat', withMember(...row));
      const text = await response.text();
      expect({ status: response.status, text }).toEqual({ status: 200, text: expect.stringContaining('Good') });
    });
  }

  test('stream_options with a stream, its include_usage true, false, null or absent', async () => {
    for (const options of [{ include_usage: true }, { include_usage: false }, { include_usage: null }, {}]) {
      const body = goodBody('chat', { stream: true, stream_options: options });
      const response = await post(pair.gateway, 'chat', body);
      const records = await response.text();
      expect(response.status).toBe(200);
      expect(records).toEndWith('data: [DONE]\n\n');
      expect(records.includes('"usage":{')).toBe(options.include_usage === true);
    }
  });
});

describe('refused with 400, the member named, nothing sent upstream', () => {
  for (const row of REFUSED) test(name(row), () => expectMemberRefused(row[0], row[1], row[0]));
  for (const row of REFUSED_WITHIN) test(name(row), () => expectMemberRefused(...row));

  test('model and messages left out', async () => {
    for (const member of ['model', 'messages']) {
      const body = goodBody('chat', { [member]: undefined });
      await expectRefusal(
        await post(pair.gateway, 'chat', body),
        'chat',
        invalid('chat', `${member}: found nothing`, member),
      );
    }
  });

  test('a body that is no object', async () => {
    for (const body of ['[]', '"x"', '5', 'null', 'true']) {
      await expectRefusal(
        await post(pair.gateway, 'chat', body),
        'chat',
        invalid('chat', 'expected a JSON object', null),
      );
    }
  });
});

async function expectMemberRefused(member: string, json: Json, path: string): Promise<void> {
  const before = pair.fake.served().length;
  const response = await post(pair.gateway, 'chat', withMember(member, json));
  await expectRefusal(response, 'chat', invalid('chat', `${path}: found`, path));
  expect(pair.fake.served().length).toBe(before);
}
