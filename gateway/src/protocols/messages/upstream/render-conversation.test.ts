/** Tests the rendering of turns against the wire reference, C.1: roles, joining, calls and results, instructions. */
import { describe, expect, test } from 'bun:test';
import { startCpuClock } from '../../../../test/harness/cpu-clock.ts';
import {
  type Part,
  type ReasoningPart,
  type ToolCallPart,
  type ToolResultPart,
  textPart,
} from '../../../generation/part.ts';
import type { Turn } from '../../../generation/request.ts';
import { CAPABLE, withMessagesTraits } from '../../testing/capable-upstream.ts';
import { refusal, render, requestWith } from '../testing/request-rig.ts';

type TurnSpec = readonly [role: Turn['role'], ...parts: ReadonlyArray<Part | string>];

function turnsOf(turnSpecs: readonly TurnSpec[]): Turn[] {
  return turnSpecs.map(([role, ...parts], index) => ({
    role,
    name: null,
    path: `messages.${index}`,
    parts: parts.map((part) => (typeof part === 'string' ? textPart(part) : part)),
  }));
}

const renderTurns = (turnSpecs: readonly TurnSpec[], traits = CAPABLE) =>
  render(requestWith({ turns: turnsOf(turnSpecs) }), traits);
const messagesOf = (...turnSpecs: TurnSpec[]) => renderTurns(turnSpecs).body.messages;
const text = (value: string) => ({ type: 'text', text: value });
const call = (id: string, written = '{}'): ToolCallPart => ({
  kind: 'tool_call',
  id,
  name: 't',
  tool: 'function',
  arguments: written,
  cache_mark: null,
});
test('the beginning of the answer ends without white space, which Anthropic refuses, and that is named', () => {
  const trimmed = renderTurns([
    ['user', 'count'],
    ['assistant', 'one ', 'two \n'],
  ]);
  expect(trimmed.body.messages.at(-1)).toEqual({ role: 'assistant', content: [text('one '), text('two')] });
  expect(trimmed.dropped).toEqual(['messages[].content']);
  const kept = renderTurns([
    ['user', 'count'],
    ['assistant', 'one '],
    ['user', 'go on '],
  ]);
  expect(kept.body.messages.slice(1)).toEqual([
    { role: 'assistant', content: [text('one ')] },
    { role: 'user', content: [text('go on ')] },
  ]);
  expect(kept.dropped).toEqual([]);
});

const result = (call_id: string, ...parts: ToolResultPart['parts']): ToolResultPart => ({
  kind: 'tool_result',
  call_id,
  parts,
  is_error: false,
  cache_mark: null,
});
const use = (id: string) => ({ type: 'tool_use', id, name: 't', input: {} });
const used = (id: string, content?: string) => ({
  type: 'tool_result',
  tool_use_id: id,
  ...(content === undefined ? {} : { content }),
});

describe('instructions', () => {
  test('leading ones are blocks of system in their order, never joined', () => {
    const { body } = renderTurns([
      ['system', 'a', 'b'],
      ['developer', 'c'],
      ['user', 'hi'],
    ]);
    expect(body.system).toEqual([text('a'), text('b'), text('c')]);
    expect(body.messages).toEqual([{ role: 'user', content: [text('hi')] }]);
  });

  test('vector 40: one in the middle stays there', () => {
    const turnSpecs: TurnSpec[] = [
      ['user', 'a'],
      ['assistant', 'b'],
      ['developer', 'be brief'],
      ['user', 'c'],
    ];
    expect(renderTurns(turnSpecs).body.messages).toEqual([
      { role: 'user', content: [text('a')] },
      { role: 'assistant', content: [text('b')] },
      { role: 'system', content: [text('be brief')] },
      { role: 'user', content: [text('c')] },
    ]);
    expect(renderTurns(turnSpecs, withMessagesTraits({ systemTurns: false })).body.messages).toEqual([
      { role: 'user', content: [text('a')] },
      { role: 'assistant', content: [text('b')] },
      { role: 'user', content: [text('<system>be brief</system>'), text('c')] },
    ]);
  });

  test('a system turn between a call and its result follows the result', () => {
    expect(
      messagesOf(['user', 'a'], ['assistant', call('1')], ['system', 's'], ['user', result('1', textPart('r'))]),
    ).toEqual([
      { role: 'user', content: [text('a')] },
      { role: 'assistant', content: [use('1')] },
      { role: 'user', content: [used('1', 'r'), text('<system>s</system>')] },
    ]);
  });
});

describe('turns', () => {
  test.each<[string, TurnSpec[], string[]]>([
    [
      'a first word of the assistant',
      [
        ['assistant', 'a'],
        ['user', 'b'],
      ],
      ['user', 'assistant', 'user'],
    ],
    ['nothing but instructions', [['system', 'a']], ['user']],
  ])('%s gets a user turn before it', (_name, turnSpecs, roles) => {
    const { messages } = renderTurns(turnSpecs).body;
    expect(messages.map(({ role }: { role: string }) => role)).toEqual(roles);
    expect(messages[0].content).toEqual([text('(continued)')]);
  });

  test('those of one role in a row are one', () => {
    expect(messagesOf(['user', 'a'], ['user', 'b'], ['assistant', 'c'], ['assistant', 'd'])).toEqual([
      { role: 'user', content: [text('a'), text('b')] },
      { role: 'assistant', content: [text('c'), text('d')] },
    ]);
  });

  test('blank texts carry nothing, and a refusal is a text', () => {
    expect(
      messagesOf(['user', 'a', ''], ['assistant', '\n\n', { kind: 'refusal', text: 'no' }], ['user', 'b']),
    ).toEqual([
      { role: 'user', content: [text('a')] },
      { role: 'assistant', content: [text('no')] },
      { role: 'user', content: [text('b')] },
    ]);
  });

  test('an empty last user turn is refused, because the assistant’s turn would be continued without it', () => {
    expect(refusal(() => messagesOf(['user', 'a'], ['assistant', 'b'], ['user', ' ']))?.param).toBe(
      'messages.2.content',
    );
    expect(refusal(() => messagesOf(['user', '']))?.param).toBe('messages.0.content');
  });

  test('the names of speakers are dropped and named', () => {
    const turns = turnsOf([['user', 'a']]).map((turn) => ({ ...turn, name: 'bob' }));
    expect(render(requestWith({ turns })).dropped).toEqual(['messages.name']);
  });

  test('returns blocks of Anthropic unchanged, and renders those of others as text or omits them', () => {
    const opaque = (origin: string, words: string | null): Part => ({
      kind: 'opaque',
      type: 'x',
      native: { origin, json: '{"type":"x", "n":12345678901234567890}' },
      words,
    });
    const { json } = renderTurns([
      ['user', 'a'],
      ['assistant', opaque('messages', 'w'), opaque('gemini', 'told'), opaque('gemini', null)],
    ]);
    expect(json).toContain('"content":[{"type":"x", "n":12345678901234567890},{"type":"text","text":"told"}]');
  });
});

describe('calls and results', () => {
  test('vector 36: three results and a word of the user are one turn, results first', () => {
    const turnSpecs: TurnSpec[] = [
      ['user', 'go'],
      ['assistant', 'ok', call('a'), call('b'), call('c')],
      ['user', result('c', textPart('3'))],
      ['user', result('a', textPart('1'))],
      ['user', result('b', textPart('2'))],
      ['user', 'and now'],
    ];
    expect(messagesOf(...turnSpecs).slice(1)).toEqual([
      { role: 'assistant', content: [text('ok'), use('a'), use('b'), use('c')] },
      { role: 'user', content: [used('a', '1'), used('b', '2'), used('c', '3'), text('and now')] },
    ]);
  });

  test('vector 38: a text before a result comes after it', () => {
    const turnSpecs: TurnSpec[] = [
      ['user', 'go'],
      ['assistant', call('a'), call('b')],
      ['user', 'x', result('b'), 'y', result('a', textPart('1'))],
    ];
    expect(messagesOf(...turnSpecs).at(-1)).toEqual({
      role: 'user',
      content: [used('a', '1'), used('b'), text('x'), text('y')],
    });
  });

  test('vector 37: an image in a result reaches the model', () => {
    const base64 = Buffer.from('89504e470d0a1a0a0000000d', 'hex').toString('base64');
    const image: Part = {
      kind: 'image',
      source: { kind: 'base64', media_type: 'image/png', base64 },
      detail: null,
      cache_mark: null,
    };
    const last = messagesOf(['user', 'go'], ['assistant', call('a')], ['user', result('a', textPart('see'), image)]).at(
      -1,
    );
    expect(last.content).toEqual([
      {
        type: 'tool_result',
        tool_use_id: 'a',
        content: [text('see'), { type: 'image', source: { type: 'base64', media_type: 'image/png', data: base64 } }],
      },
    ]);
  });

  test('bug: Envoy AI Gateway, marks a result that is an error', () => {
    const failed = { ...result('a', textPart('no')), is_error: true };
    expect(messagesOf(['user', 'go'], ['assistant', call('a')], ['user', failed]).at(-1).content).toEqual([
      { ...used('a', 'no'), is_error: true },
    ]);
  });

  test.each<[string, TurnSpec[], string]>([
    [
      'a result without a call',
      [
        ['user', 'go'],
        ['user', result('x')],
      ],
      'messages.1',
    ],
    [
      'a result of an older call',
      [
        ['user', 'go'],
        ['assistant', call('a')],
        ['user', result('a')],
        ['assistant', 'k'],
        ['user', result('a')],
      ],
      'messages.4',
    ],
    [
      'a second result',
      [
        ['user', 'go'],
        ['assistant', call('a')],
        ['user', result('a'), result('a')],
      ],
      'messages.2',
    ],
    [
      'a call without a result',
      [
        ['user', 'go'],
        ['assistant', call('a'), call('b')],
        ['user', result('a')],
      ],
      'messages.1.tool_calls.1',
    ],
    [
      'a call at the end',
      [
        ['user', 'go'],
        ['assistant', call('a')],
      ],
      'messages.1.tool_calls.0',
    ],
    [
      'two calls of one id',
      [
        ['user', 'go'],
        ['assistant', call('a'), call('a')],
        ['user', result('a')],
      ],
      'messages.1.tool_calls.1',
    ],
  ])('%s is refused', (_name, turnSpecs, param) => {
    expect(refusal(() => renderTurns(turnSpecs))?.param).toBe(param);
  });

  test('vector 1: no arguments are the empty object', () => {
    const content = (written: string) =>
      messagesOf(['user', 'go'], ['assistant', call('a', written)], ['user', result('a')])[1].content;
    expect(content('')).toEqual([use('a')]);
    expect(content(' \n')).toEqual([use('a')]);
  });

  test('vectors 48 and 49: arguments stay as they were written: digits, order, doubled keys, halves of characters', () => {
    const written = (value: string) =>
      renderTurns([
        ['user', 'go'],
        ['assistant', call('a', value)],
        ['user', result('a')],
      ]).json;
    for (const value of ['{"b":9007199254740993,"a":1.0}', '{"a":1,"a":2}', '{ "s" : "\\ud83d" }']) {
      expect(written(value)).toContain(`"input":${value}`);
    }
    expect(written('{"s":"\ud83d"}')).toContain('"input":{"s":"\\ud83d"}');
    expect(written('{"s":"\ud83d\ude00"}')).toContain('"input":{"s":"\ud83d\ude00"}');
  });

  test.each(['[1]', '"x"', 'null', '{"a":', '{} {}', '{"a":1,"a":'])(
    'arguments %j are refused with their place',
    (value) => {
      const found = refusal(() =>
        renderTurns([
          ['user', 'go'],
          ['assistant', call('a'), call('b', value)],
          ['user', result('a')],
        ]),
      );
      expect(found?.param).toBe('messages.1.tool_calls.1.function.arguments');
      expect(found?.message).toContain('expected JSON of an object');
    },
  );

  test('a call of a free-text tool is a call with one argument', () => {
    const custom = { ...call('a', 'print(1)'), tool: 'custom' as const };
    expect(messagesOf(['user', 'go'], ['assistant', custom], ['user', result('a')])[1].content).toEqual([
      { ...use('a'), input: { input: 'print(1)' } },
    ]);
  });

  test('vector 47: ids that Anthropic refuses get the same alias at the call and at the result', () => {
    const id = 'call_abc:1|fc_def';
    const [, assistant, user] = messagesOf(['user', 'go'], ['assistant', call(id)], ['user', result(id)]);
    expect(assistant.content[0].id).toMatch(/^call_abc_1_fc_def_[0-9a-f]{8}$/);
    expect(user.content[0].tool_use_id).toBe(assistant.content[0].id);
  });
});

describe('thinking in the history', () => {
  const thought = (changes: Partial<ReasoningPart>): ReasoningPart => ({
    kind: 'reasoning',
    text: 'hm',
    signature: 'sig==',
    redacted: false,
    issuer: 'messages',
    ...changes,
  });

  test('vector 22: what Anthropic signed goes back, shown or not', () => {
    const redacted = thought({ text: '', signature: 'blob', redacted: true });
    expect(
      messagesOf(['user', 'a'], ['assistant', thought({ text: '' }), redacted, 'b'], ['user', 'c'])[1].content,
    ).toEqual([
      { type: 'thinking', thinking: '', signature: 'sig==' },
      { type: 'redacted_thinking', data: 'blob' },
      text('b'),
    ]);
  });

  test.each([
    ['another issuer', thought({ issuer: 'gemini' })],
    ['no issuer', thought({ issuer: null })],
    ['no signature', thought({ signature: null })],
    ['an empty signature', thought({ signature: '' })],
    ['a mark of the gateway', thought({ signature: 'gw1.abc' })],
  ])('vector 23: that of %s is left out', (_name, part) => {
    expect(messagesOf(['user', 'a'], ['assistant', part, 'b'], ['user', 'c'])[1].content).toEqual([text('b')]);
  });

  test('calls without their thinking turn a budget off; calls with it do not', () => {
    const reasoning = { mode: 'budget', budgetTokens: 2000, effort: null, display: null } as const;
    const thinkingOf = (...parts: Part[]) => {
      const turns = turnsOf([
        ['user', 'a'],
        ['assistant', ...parts, call('1')],
        ['user', result('1')],
      ]);
      const { body, dropped } = render(
        requestWith({ turns, reasoning, named: { reasoning: 'thinking' } }),
        withMessagesTraits({ thinking: ['enabled'] }),
      );
      return [body.thinking, dropped];
    };
    expect(thinkingOf(thought({ issuer: 'gemini' }))).toEqual([undefined, ['thinking']]);
    expect(thinkingOf()).toEqual([undefined, ['thinking']]);
    expect(thinkingOf(thought({}))).toEqual([{ type: 'enabled', budget_tokens: 2000 }, []]);
  });
});

test('a call id that an earlier turn had becomes another one, with its result', () => {
  const turns = (id: string, next: string): TurnSpec[] => [
    ['user', 'go'],
    ['assistant', call(id)],
    ['user', result(id, textPart('one'))],
    ['assistant', call(next), call('b')],
    ['user', result('b', textPart('b')), result(next, textPart('two'))],
    ['assistant', call(next)],
    ['user', result(next, textPart('three'))],
  ];
  const { body } = renderTurns(turns('call_0', 'call_0'));
  const messages: ReadonlyArray<{ content: Array<{ id?: string; tool_use_id?: string }> }> = body.messages;
  const blocks = messages.flatMap(({ content }) => content);
  expect(blocks.flatMap(({ id }) => id ?? [])).toEqual(['call_0', 'call_0_2', 'b', 'call_0_3']);
  expect(blocks.flatMap(({ tool_use_id }) => tool_use_id ?? [])).toEqual(['call_0', 'call_0_2', 'b', 'call_0_3']);
});

test('20,000 calls with the same id take time linear in their number', () => {
  const turns = Array.from({ length: 20_000 }, (): TurnSpec[] => [
    ['assistant', call('a')],
    ['user', result('a')],
  ]).flat();
  const elapsed = startCpuClock();
  const { content } = messagesOf(['user', 'go'], ...turns).at(-1);
  expect(content[0].tool_use_id).toBe('a_20000');
  expect(elapsed()).toBeLessThan(8_000);
}, 60_000);
