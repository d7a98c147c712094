/** Tests refused-member.ts: messages of real providers, and hostile ones. */
import { describe, expect, test } from 'bun:test';
import { findRefusedMember } from './refused-member.ts';

const CHAT = new Set(['reasoning_effort', 'temperature', 'top_p', 'top_k', 'seed', 'stop', 'stream_options']);
const read = (message: string, code: string | null = null, param: string | null = null) =>
  findRefusedMember({ message, code, param }, CHAT);

test.each([
  [
    "Unsupported parameter: 'temperature' is not supported with this model.",
    null,
    'temperature',
    'temperature',
    'unknown',
  ],
  [
    "Unsupported value: 'temperature' does not support 0.2.",
    'unsupported_value',
    'temperature',
    'temperature',
    'value',
  ],
  [
    "Unsupported value: 'minimal' is not supported.",
    'unsupported_value',
    'reasoning_effort',
    'reasoning_effort',
    'value',
  ],
  ['`reasoning_effort` is not supported with this model', null, null, 'reasoning_effort', 'unknown'],
  ['reasoning_effort must be one of none or default', null, null, 'reasoning_effort', 'value'],
  ['Model grok-4 does not support parameter reasoningEffort.', 'Client specified', null, 'reasoning_effort', 'unknown'],
  ['body: stream_options: include_usage: Extra inputs are not permitted', null, null, 'stream_options', 'unknown'],
  ['unknown field `top_k`, expected one of `messages`, `model`', null, null, 'top_k', 'unknown'],
  ['This model does not support the temperature parameter', null, null, 'temperature', 'unknown'],
  ['seed is not allowed', null, null, 'seed', 'unknown'],
  ["'stop' is not supported with this model.", null, 'stop', 'stop', 'unknown'],
] as const)('%s names a member', (message, code, param, member, why) => {
  expect(read(message, code, param)).toEqual({ member, why });
});

describe('none is named by', () => {
  test.each([
    ['', null],
    ['it broke', null],
    ["Invalid 'messages[3]'. Use 'temperature' instead", 'messages[3]'],
    ["Unsupported value: 'messages[0].role' does not support 'temperature'", null],
    ['tool_choice: is not supported beside temperature', null],
    ['response_format: unsupported, remove `seed`', null],
    ["'n' is not supported, nor is 'seed'", null],
    ['The temperature of this conversation rises; stop', null],
    ['max_tokens is too large; lower reasoning_effort', null],
    ["Unknown parameter 'deep_thought'; see 'temperature'", null],
    ['unknown parameter', 'store'],
    ['unknown parameter', 'temperature_x'],
    ['unknown parameter', 'constructor'],
  ])('%s (%p)', (message, param) => {
    expect(read(message, null, param)).toBeNull();
  });
});

test('an output cap is named only where it may be renamed', () => {
  const error = { message: "'max_tokens' is not supported with this model.", code: null, param: null };
  expect(findRefusedMember(error, new Set(['max_tokens']))).toEqual({ member: 'max_tokens', why: 'unknown' });
  expect(findRefusedMember(error, CHAT)).toBeNull();
});
