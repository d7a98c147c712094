/** Tests the comparison of prompts: the first block that differs in each format, and that equal beginnings have none. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { comparePrompts } from './compare-prompts.ts';

const bytes = (body: unknown) => Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
const compare = (one: unknown, other: unknown) => comparePrompts(bytes(one), bytes(other));

const TOOL = { name: 'read', input_schema: { type: 'object' } };
const user = (content: unknown) => ({ role: 'user', content });
const said = (content: unknown) => ({ role: 'assistant', content });
const MESSAGES = {
  model: 'm',
  tools: [TOOL, { ...TOOL, name: 'write' }],
  system: [{ type: 'text', text: 'Be brief.' }],
  messages: [user('one'), said('two')],
};
const CHAT = { model: 'm', messages: [{ role: 'system', content: 'Be brief.' }, user('one'), said('two')] };

describe('the first difference', () => {
  test.each<[string, unknown, unknown, unknown]>([
    [
      'a changed tool',
      MESSAGES,
      { ...MESSAGES, tools: [TOOL, { ...TOOL, name: 'edit' }] },
      { block: 'tools', index: 1 },
    ],
    ['an added tool', MESSAGES, { ...MESSAGES, tools: [...MESSAGES.tools, TOOL] }, { block: 'tools', index: 2 }],
    ['no tools', MESSAGES, { ...MESSAGES, tools: undefined }, { block: 'tools', index: 0 }],
    [
      'instructions, before messages',
      MESSAGES,
      { ...MESSAGES, system: 'Today is Monday.', messages: [] },
      { block: 'system', index: 0 },
    ],
    ['the choice of tools', MESSAGES, { ...MESSAGES, tool_choice: { type: 'any' } }, { block: 'settings', index: 0 }],
    [
      'a message',
      MESSAGES,
      { ...MESSAGES, messages: [user('one'), said('2'), user('x')] },
      { block: 'history', index: 1 },
    ],
    [
      'a system message of chat',
      CHAT,
      { messages: [{ role: 'system', content: 'x' }, user('one')] },
      { block: 'system', index: 0 },
    ],
    ['a message of chat', CHAT, { messages: [CHAT.messages[0], user('other')] }, { block: 'history', index: 0 }],
    [
      'instructions of responses',
      { instructions: 'a', input: 'x' },
      { instructions: 'b', input: 'x' },
      { block: 'system', index: 0 },
    ],
    [
      'input of responses',
      { input: [user('a'), user('b')] },
      { input: [user('a'), user('c')] },
      { block: 'history', index: 1 },
    ],
    [
      'contents of gemini',
      { systemInstruction: { parts: [{ text: 's' }] }, contents: [{ parts: [{ text: 'a' }] }] },
      { systemInstruction: { parts: [{ text: 's' }] }, contents: [{ parts: [{ text: 'b' }] }] },
      { block: 'history', index: 0 },
    ],
  ])('%s', async (_, one, other, expected) => {
    expect(await compare(one, other)).toEqual(expected as never);
  });
});

describe('the same beginning', () => {
  test.each<[string, unknown, unknown]>([
    ['further messages', MESSAGES, { ...MESSAGES, messages: [...MESSAGES.messages, user('three')] }],
    ['fewer messages', MESSAGES, { ...MESSAGES, messages: [user('one')] }],
    ['the choice of tools of chat, which no cache contains', CHAT, { ...CHAT, tool_choice: 'none', temperature: 1 }],
    [
      'moved marks of the cache',
      MESSAGES,
      {
        ...MESSAGES,
        system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
        messages: [user([{ type: 'text', text: 'one', cache_control: { type: 'ephemeral' } }]), said('two')],
      },
    ],
    ['instructions as a text', MESSAGES, { ...MESSAGES, system: 'Be brief.' }],
    [
      'another order of members, and other escapes',
      '{"messages":[{"role":"user","content":"\\u0061"}]}',
      '{"messages":[{"content":"a","role":"user"}]}',
    ],
  ])('%s', async (_, one, other) => {
    expect(await compare(one, other)).toBeNull();
  });

  test('any prompt that continues another has no difference, in any format', async () => {
    const block = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 });
    const message = fc.record({
      role: fc.constantFrom('system', 'user', 'assistant'),
      content: fc.jsonValue({ maxDepth: 2 }),
    });
    const lists = fc.record({
      tools: fc.array(block),
      messages: fc.array(message),
      more: fc.array(message, { minLength: 1 }),
    });
    const turn = { role: 'user', content: 'first' };
    await fc.assert(
      fc.asyncProperty(
        lists,
        fc.constantFrom('messages', 'input', 'contents'),
        async ({ tools, messages, more }, name) => {
          const before = [turn, ...messages];
          expect(await compare({ tools, [name]: before }, { [name]: [...before, ...more], tools })).toBeNull();
        },
      ),
      { numRuns: 60 },
    );
  });
});

test.each<[string, unknown]>([
  ['not JSON', '{"messages":['],
  ['a list', []],
  ['a turn whose history the provider keeps', { previous_response_id: 'resp_1', input: 'x' }],
  ['a turn of a conversation that the provider keeps', { conversation: 'conv_1', input: 'x' }],
])('is not known for %s', async (_, body) => {
  expect(await compare(CHAT, body)).toBe('unknown');
  expect(await compare(body, CHAT)).toBe('unknown');
});
