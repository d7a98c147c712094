/** Tests the order of messages: results after their calls, media after results, instructions in place. */
import { describe, expect, test } from 'bun:test';
import { startCpuClock } from '../../../../test/harness/cpu-clock.ts';
import { type Part, textPart } from '../../../generation/part.ts';
import { assistantTurn, requestOf, turn, userTurn } from '../../../generation/testing/request-of.ts';
import { packHostData } from '../../host-data.ts';
import { withChatTraits } from '../../testing/capable-upstream.ts';
import { callOf, messagesOf, refusalOf, render, resultOf } from '../testing/chat-request.ts';

const PNG: Extract<Part, { kind: 'image' | 'audio' }> = {
  kind: 'image',
  source: { kind: 'base64', media_type: 'image/png', base64: 'AA' },
  detail: null,
  cache_mark: null,
};
const PNG_PART = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } };
const SEPARATE = withChatTraits({ mediaInToolMessages: false });
const ask = userTurn(textPart('go'));

test('vector 2: a call without arguments is sent with the empty object', () => {
  const turns = [
    ask,
    assistantTurn(callOf('c1', 'f', ''), callOf('c2', 'g', '{}')),
    userTurn(resultOf('c1'), resultOf('c2')),
  ];
  expect(messagesOf(turns)[1].tool_calls.map((call: { function: unknown }) => call.function)).toEqual([
    { name: 'f', arguments: '{}' },
    { name: 'g', arguments: '{}' },
  ]);
});

test('vector 49: arguments keep every digit and their order', () => {
  const json = '{"b":1, "a":9007199254740993}';
  const turns = [ask, assistantTurn(callOf('c1', 'f', json)), userTurn(resultOf('c1'))];
  expect(messagesOf(turns)[1].tool_calls[0].function.arguments).toBe(json);
});

test('vector 38: renders results first, in order, then the other content', () => {
  const turns = [
    ask,
    assistantTurn(callOf('c1'), callOf('c2')),
    userTurn(resultOf('c2', textPart('two')), textPart('wait'), resultOf('c1', textPart('one')), textPart('now')),
  ];
  expect(messagesOf(turns).slice(2)).toEqual([
    { role: 'tool', tool_call_id: 'c2', content: 'two' },
    { role: 'tool', tool_call_id: 'c1', content: 'one' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'wait' },
        { type: 'text', text: 'now' },
      ],
    },
  ]);
});

test('bug: Envoy AI Gateway, text before a result of a later turn follows all results', () => {
  const turns = [
    ask,
    assistantTurn(callOf('c1'), callOf('c2')),
    userTurn(resultOf('c1', textPart('one')), textPart('first')),
    userTurn(resultOf('c2', textPart('two')), textPart('second')),
  ];
  expect(messagesOf(turns).slice(2)).toEqual([
    { role: 'tool', tool_call_id: 'c1', content: 'one' },
    { role: 'tool', tool_call_id: 'c2', content: 'two' },
    { role: 'user', content: 'first' },
    { role: 'user', content: 'second' },
  ]);
});

describe('vector 37: an image in a result reaches the model', () => {
  const turns = [
    ask,
    assistantTurn(callOf('c1'), callOf('c2')),
    userTurn(resultOf('c1', textPart('seen'), PNG), resultOf('c2', PNG), textPart('look')),
  ];

  test('is moved to a user message after all results, labeled', () => {
    expect(messagesOf(turns, SEPARATE).slice(2)).toEqual([
      { role: 'tool', tool_call_id: 'c1', content: 'seen' },
      { role: 'tool', tool_call_id: 'c2', content: '(this result is in the next message)' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'From the result of the tool call c1:' },
          PNG_PART,
          { type: 'text', text: 'From the result of the tool call c2:' },
          PNG_PART,
          { type: 'text', text: 'look' },
        ],
      },
    ]);
  });

  test('in the result itself where the host takes it', () => {
    expect(messagesOf(turns)[2]).toEqual({
      role: 'tool',
      tool_call_id: 'c1',
      content: [{ type: 'text', text: 'seen' }, PNG_PART],
    });
  });

  test('when results come in turns of their own and an assistant’s turn follows', () => {
    const extras = [
      ask,
      assistantTurn(callOf('c1'), callOf('c2')),
      userTurn(resultOf('c1', PNG)),
      userTurn(resultOf('c2', textPart('two'))),
      assistantTurn(textPart('done')),
    ];
    const roles = messagesOf(extras, SEPARATE).map(({ role }: { role: string }) => role);
    expect(roles).toEqual(['user', 'assistant', 'tool', 'tool', 'user', 'assistant']);
  });

  test('bug: Envoy AI Gateway and CLIProxyAPI #1670, at the end of the request too, error or not', () => {
    const failed = { ...resultOf('c1', PNG), is_error: true } as Part;
    const messages = messagesOf([ask, assistantTurn(callOf('c1')), userTurn(failed)], SEPARATE);
    expect(messages.slice(2)).toEqual([
      { role: 'tool', tool_call_id: 'c1', content: '[tool error] (this result is in the next message)' },
      { role: 'user', content: [{ type: 'text', text: 'From the result of the tool call c1:' }, PNG_PART] },
    ]);
  });
});

test('joins the texts of a result as lines, states an error in words, and keeps an empty result empty', () => {
  const error = { ...resultOf('c1', textPart('no'), textPart('way')), is_error: true } as Part;
  const silent = { ...resultOf('c2'), is_error: true } as Part;
  const turns = [ask, assistantTurn(callOf('c1'), callOf('c2'), callOf('c3')), userTurn(error, silent, resultOf('c3'))];
  expect(messagesOf(turns).slice(2)).toEqual([
    { role: 'tool', tool_call_id: 'c1', content: '[tool error] no\nway' },
    { role: 'tool', tool_call_id: 'c2', content: '[tool error]' },
    { role: 'tool', tool_call_id: 'c3', content: '' },
  ]);
});

describe('calls and results that do not fit together are refused by their path', () => {
  const call = turn('assistant', [callOf('c1')], 1);
  const result = turn('user', [resultOf('c1')], 2);
  const user = turn('user', [textPart('go')], 3);
  test.each([
    ['a call at the end', [ask, call], 'messages.1'],
    ['a call before a user’s text', [ask, call, user], 'messages.1'],
    ['a call before instructions', [ask, call, turn('system', [textPart('x')], 2), user], 'messages.1'],
    ['a result without a call', [ask, turn('user', [resultOf('c9')], 2)], 'messages.2'],
    ['a second result', [ask, call, result, turn('user', [resultOf('c1')], 3)], 'messages.3'],
    ['two calls with one id', [ask, turn('assistant', [callOf('c1'), callOf('c1')], 1), result], 'messages.1'],
  ] as const)('%s', (_case, turns, param) => {
    expect(refusalOf(() => messagesOf(turns)).param).toBe(param);
  });
});

test('an id may be used again in a later turn', () => {
  const round = [assistantTurn(callOf('c1')), userTurn(resultOf('c1'))];
  expect(messagesOf([ask, ...round, ...round])).toHaveLength(5);
});

test('consecutive assistant turns are merged only if the results must follow both', () => {
  const turns = [
    ask,
    assistantTurn(textPart('a'), callOf('c1')),
    assistantTurn(callOf('c2')),
    userTurn(resultOf('c1'), resultOf('c2')),
  ];
  expect(messagesOf(turns).map(({ role }: { role: string }) => role)).toEqual(['user', 'assistant', 'tool', 'tool']);
  expect(messagesOf([ask, assistantTurn(textPart('a')), assistantTurn(textPart('b'))])).toHaveLength(3);
});

describe('instructions', () => {
  test('vector 41: the attribution line of Claude Code is not sent', () => {
    const marked = { ...textPart('rules'), cache_mark: { ttlMinutes: null } };
    const system = turn('system', [
      textPart('x-anthropic-billing-header: cc_version=2.1; cch=1a2b3;'),
      textPart('You code.'),
      marked,
    ]);
    expect(messagesOf([system, ask], withChatTraits({ cacheMarks: false }))[0]).toEqual({
      role: 'system',
      content: 'You code.\n\nrules',
    });
    expect(messagesOf([system, ask])[0]).toEqual({
      role: 'system',
      content: [
        { type: 'text', text: 'You code.' },
        { type: 'text', text: 'rules', prompt_cache_breakpoint: { mode: 'explicit' } },
      ],
    });
  });

  test('omits instructions that are only the attribution line', () => {
    expect(messagesOf([turn('system', [textPart('x-anthropic-billing-header: a')]), ask])).toHaveLength(1);
  });

  test('vector 40: stay in the middle and take the host’s role', () => {
    const turns = [ask, turn('system', [textPart('now in French')]), turn('developer', [textPart('be brief')])];
    expect(messagesOf(turns, withChatTraits({ systemRole: 'developer' })).slice(1)).toEqual([
      { role: 'developer', content: 'now in French' },
      { role: 'developer', content: 'be brief' },
    ]);
  });
});

describe('an assistant’s turn at the end', () => {
  const turns = [ask, turn('assistant', [textPart('Sure')], 1)];
  const prefilled = (prefill: 'refused' | 'plain' | 'prefix' | 'partial' | 'continue_final_message') =>
    render(requestOf({ turns }), withChatTraits({ prefill })).body;

  test('is refused if the provider supports none', () => {
    expect(refusalOf(() => prefilled('refused')).message).toBe(
      'messages.1: is the assistant\'s and stands last, but the model "m" takes no beginning of its answer; end with a user\'s message',
    );
  });

  test('is rendered in the form that the provider accepts', () => {
    expect(prefilled('plain').messages[1]).toEqual({ role: 'assistant', content: 'Sure' });
    expect(prefilled('prefix').messages[1]).toEqual({ role: 'assistant', content: 'Sure', prefix: true });
    expect(prefilled('partial').messages[1]).toEqual({ role: 'assistant', content: 'Sure', partial: true });
    expect(prefilled('continue_final_message')).toMatchObject({
      continue_final_message: true,
      add_generation_prompt: false,
    });
  });
});

test('bug: SambaNova and NVIDIA, "Expected one of: [str], got list": texts of the user are one, but for OpenAI', () => {
  const turns = [userTurn(textPart('a'), textPart('b')), assistantTurn(textPart('c')), userTurn(textPart('d'), PNG)];
  const compatible = withChatTraits({ openaiMembers: false });
  const contents = (traits = withChatTraits({})) =>
    messagesOf(turns, traits).map(({ content }: { content: unknown }) => content);
  const media = [{ type: 'text', text: 'd' }, PNG_PART];
  expect(contents(compatible)).toEqual(['a\n\nb', 'c', media]);
  expect(contents()[0]).toEqual([
    { type: 'text', text: 'a' },
    { type: 'text', text: 'b' },
  ]);
});

test('instructions between a call and its result come after the results and their media', () => {
  const turns = [
    ask,
    assistantTurn(callOf('c1'), callOf('c2')),
    userTurn(resultOf('c1', textPart('one'))),
    turn('developer', [textPart('note')]),
    userTurn(resultOf('c2', textPart('two'), PNG)),
    userTurn(textPart('now')),
  ];
  const sent = messagesOf(turns, SEPARATE).slice(2);
  expect(sent.map(({ role }: { role: string }) => role)).toEqual(['tool', 'tool', 'user', 'system', 'user']);
  expect(sent[2].content[1]).toEqual(PNG_PART);
  expect([sent[3].content, sent[4].content]).toEqual(['note', 'now']);
});

test.each([false, true])(
  '100,000 turns between a call and its result take linear time (strict turns: %p)',
  (strict) => {
    const others = Array.from({ length: 100_000 }, () => userTurn(textPart('a'), PNG));
    const turns = [ask, assistantTurn(callOf('c1')), ...others, userTurn(resultOf('c1'))];
    const elapsed = startCpuClock();
    const messages = messagesOf(turns, withChatTraits({ strictTurns: strict }));
    expect(messages).toHaveLength(strict ? 4 : 100_003);
    expect(elapsed()).toBeLessThan(8_000);
  },
  60_000,
);

test('the details of 40,000 calls of one message are joined in linear time', () => {
  const call = (index: number) => {
    const message = { reasoning_details: [{ type: 'reasoning.encrypted', data: 'x', id: `c${index}` }] };
    return { ...callOf(`c${index}`), host_data: packHostData({ call: null, message }) };
  };
  const ids = Array.from({ length: 40_000 }, (_, index) => index);
  const turns = [ask, assistantTurn(...ids.map(call)), userTurn(...ids.map((id) => resultOf(`c${id}`)))];
  const elapsed = startCpuClock();
  const details = messagesOf(turns)[1].reasoning_details;
  expect(details.map(({ id }: { id: string }) => id)).toEqual(ids.map((id) => `c${id}`));
  expect(elapsed()).toBeLessThan(2_500);
}, 60_000);
