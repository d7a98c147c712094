/** Tests how an assistant turn is rendered: text, calls with their aliases, earlier reasoning. */
import { describe, expect, test } from 'bun:test';
import { type Part, textPart } from '../../../generation/part.ts';
import { assistantTurn, requestOf, userTurn } from '../../../generation/testing/request-of.ts';
import { aliasText, shortToolCallId } from '../../request/tool-names.ts';
import { withChatTraits } from '../../testing/capable-upstream.ts';
import { callOf, messagesOf, render, resultOf } from '../testing/chat-request.ts';

const ask = userTurn(textPart('go'));
const renderMessage = (parts: readonly Part[], traits = withChatTraits({})) =>
  messagesOf(
    [
      ask,
      assistantTurn(...parts),
      userTurn(...parts.flatMap((part) => (part.kind === 'tool_call' ? [resultOf(part.id)] : []))),
    ],
    traits,
  )[1];

function thought(text: string, redacted = false): Part {
  return { kind: 'reasoning', text, signature: redacted ? 'XYZ' : null, redacted, issuer: null };
}

function opaque(words: string | null): Part {
  return { kind: 'opaque', type: 'server_tool_use', native: { origin: 'messages', json: '{}' }, words };
}

test('joins texts in order, whatever is between them', () => {
  expect(renderMessage([textPart('I look. '), callOf('c1'), textPart('Then.')])).toMatchObject({
    content: 'I look. Then.',
    tool_calls: [{ id: 'c1', type: 'function', function: { name: 'weather', arguments: '{}' } }],
  });
});

test('renders null content with tool calls, or an empty string if the provider refuses null', () => {
  expect(renderMessage([callOf('c1')]).content).toBeNull();
  expect(renderMessage([callOf('c1')], withChatTraits({ nullContent: false })).content).toBe('');
  expect(renderMessage([]).content).toBe('');
});

test('sends earlier reasoning only to a provider that requires it, never redacted reasoning', () => {
  const parts = [thought('hm'), thought('', true), thought('ah'), textPart('x')];
  expect(renderMessage(parts)).toEqual({ role: 'assistant', content: 'x', reasoning_content: 'hm\n\nah' });
  expect(renderMessage(parts, withChatTraits({ reasoningInHistory: 'reasoning' })).reasoning).toBe('hm\n\nah');
  expect(renderMessage(parts, withChatTraits({ reasoningInHistory: null }))).toEqual({
    role: 'assistant',
    content: 'x',
  });
});

test('renders content of another format as text, or omits it', () => {
  expect(renderMessage([textPart('a'), opaque('[searched: x]'), opaque(null), textPart('b')]).content).toBe(
    'a\n[searched: x]\nb',
  );
});

test('text in place of a part is on a line of its own, without empty lines around it', () => {
  expect(renderMessage([opaque('[one]'), opaque('[two]')]).content).toBe('[one]\n[two]');
});

test('a refusal is one where the host has the member, else text', () => {
  const parts: Part[] = [{ kind: 'refusal', text: 'no' }];
  expect(renderMessage(parts)).toEqual({ role: 'assistant', content: '', refusal: 'no' });
  expect(renderMessage(parts, withChatTraits({ openaiMembers: false }))).toEqual({ role: 'assistant', content: 'no' });
});

describe('vector 47: ids that the host refuses are the same alias in call and result', () => {
  const id = 'call_AbC:functions.get_weather|fc_0123456789abcdef0123456789abcdef';
  const turns = [ask, assistantTurn(callOf(id)), userTurn(resultOf(id))];
  test.each([
    ['any', id],
    ['forty', aliasText(id, 40)],
    ['nine', shortToolCallId(id)],
  ] as const)('%s', (toolIds, alias) => {
    const [, message, result] = messagesOf(turns, withChatTraits({ toolIds }));
    expect([message.tool_calls[0].id, result.tool_call_id]).toEqual([alias, alias]);
  });
});

test('vector 46: a long MCP name is an alias everywhere, and the answer’s is restored', () => {
  const name = `mcp__${'a'.repeat(95)}`;
  const alias = aliasText(name, 64);
  const { body, tools } = render(
    requestOf({
      turns: [ask, assistantTurn(callOf('c1', name)), userTurn(resultOf('c1'))],
      tools: [{ kind: 'function', name, description: null, parameters: null, strict: null, cache_mark: null }],
      tool_choice: { kind: 'tool', name },
    }),
  );
  expect(alias).toHaveLength(64);
  expect([body.messages[1].tool_calls[0].function.name, body.tools[0].function.name]).toEqual([alias, alias]);
  expect(body.tool_choice).toEqual({ type: 'function', function: { name: alias } });
  expect([...tools.restored]).toEqual([[alias, name]]);
});

test('keeps the text of a free-text tool call', () => {
  const call: Part = { kind: 'tool_call', id: 'c1', name: 'math', tool: 'custom', arguments: '1+1', cache_mark: null };
  expect(renderMessage([call]).tool_calls).toEqual([
    { id: 'c1', type: 'custom', custom: { name: 'math', input: '1+1' } },
  ]);
});

describe('a model that refuses earlier answers without reasoning', () => {
  const traits = withChatTraits({ unreasonedRefused: 'all' });

  test('gets a stand-in for what is missing, and none for what is there', () => {
    expect(renderMessage([textPart('a')], traits).reasoning_content).toBe(' ');
    expect(renderMessage([callOf('c1')], traits).reasoning_content).toBe(' ');
    expect(renderMessage([thought('hm'), textPart('a')], traits).reasoning_content).toBe('hm');
    expect(renderMessage([textPart('a')]).reasoning_content).toBeUndefined();
  });

  test('gets none if it is kept from reasoning, and none with the beginning of its answer', () => {
    const off = { mode: 'off', budgetTokens: null, effort: null, display: null } as const;
    const turns = [ask, assistantTurn(textPart('a')), ask, assistantTurn(textPart('b'))];
    const messages = (reasoning: typeof off | null) => render(requestOf({ turns, reasoning }), traits).body.messages;
    expect(messages(null).map(({ reasoning_content }: { reasoning_content?: string }) => reasoning_content)).toEqual([
      undefined,
      ' ',
      undefined,
      undefined,
    ]);
    expect(messages(off)[1].reasoning_content).toBeUndefined();
  });
});
