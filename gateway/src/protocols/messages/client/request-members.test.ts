/** Tests the parser against the table of members: each member of the format has one fate, and the parser applies it. */
import { describe, expect, test } from 'bun:test';
import { parse, refusal } from '../testing/request-rig.ts';
import { REQUEST_MEMBERS } from './parse-request.ts';

const BODY = { model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] };

/** Wire reference B.2. Members whose own members differ in fate are listed by those. */
const FORMAT = [
  'model max_tokens messages system stream temperature top_p top_k stop_sequences tools tool_choice thinking',
  'output_config.effort output_config.format output_config.task_budget output_format cache_control metadata.user_id',
  'service_tier speed container diagnostics inference_geo betas context_management mcp_servers compaction thread',
  'fallbacks fallback_credit_token billing_policy safeguards tags user_profile_id',
  'tool_choice.disable_parallel_tool_use',
].flatMap((line) => line.split(' '));

test('every member of the format has exactly one row, and no row is of another', () => {
  expect(REQUEST_MEMBERS.map(({ member }) => member).sort()).toEqual(FORMAT.sort());
});

test('a row either becomes something or has a fate of its own', () => {
  for (const { becomes, fate } of REQUEST_MEMBERS) expect(becomes === null).toBe(fate !== null);
});

const SAMPLES: Readonly<Record<string, unknown>> = {
  speed: 'fast',
  'output_config.task_budget': { type: 'tokens', total: 1000 },
  container: 'container_1',
  inference_geo: 'eu',
  user_profile_id: 'u',
  fallback_credit_token: 'f',
  thread: { id: 't' },
};

function bodyWith(member: string, value: unknown) {
  const [outer = '', inner] = member.split('.');
  return { ...BODY, [outer]: inner === undefined ? value : { [inner]: value } };
}

describe.each(REQUEST_MEMBERS.filter(({ fate }) => fate === 'dropped').map(({ member }) => member))('%s', (member) => {
  const body = bodyWith(member, SAMPLES[member] ?? ['x']);

  test('is dropped and named', () => {
    expect(parse(body).dropped).toEqual([member]);
  });

  test('is refused where the key is strict', () => {
    expect(refusal(() => parse(body, true))?.param).toBe(member);
  });
});

test.each(REQUEST_MEMBERS.filter(({ fate }) => fate === 'refused').map(({ member }) => member))(
  '%s is refused by its name, and null or an empty list of it is not',
  (member) => {
    const found = refusal(() => parse(bodyWith(member, SAMPLES[member] ?? [{ type: 'x' }])));
    expect(found?.param).toBe(member);
    expect(found?.message).toStartWith(`${member}: `);
    expect(found?.message).toEndWith('Leave it out, or choose a model that Anthropic serves');
    expect(parse(bodyWith(member, null)).dropped).toEqual([]);
    expect(parse(bodyWith(member, [])).dropped).toEqual([]);
  },
);

test('the refusal of safeguards has the word that Claude Code looks for', () => {
  expect(refusal(() => parse({ ...BODY, safeguards: { mode: 'auto' } }))?.message).toContain('safeguards are checks');
});

test('the standard speed sets nothing', () => {
  expect(parse({ ...BODY, speed: 'standard' }, true).dropped).toEqual([]);
  expect(parse({ ...BODY, inference_geo: 'standard' }).dropped).toEqual(['inference_geo']);
});

test('vector 53: an unknown member is dropped and named, never refused', () => {
  expect(parse({ ...BODY, brand_new: { a: 1 } }).dropped).toEqual(['brand_new']);
});

test('the name of an unknown member is cut where it is long or odd', () => {
  expect(parse({ ...BODY, ['x'.repeat(5000)]: 1 }).dropped).toEqual([`["${'x'.repeat(64).slice(0, 64)}"…]`]);
  expect(parse({ ...BODY, 'a\r\nb': 1 }).dropped).toEqual([String.raw`["a\r\nb"]`]);
});
