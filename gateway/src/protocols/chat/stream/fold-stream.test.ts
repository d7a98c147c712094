/** Tests fold-stream.ts: the non-streamed answer for chunks of any provider, and for truncated streams. */
import { describe, expect, test } from 'bun:test';
import { startCpuClock } from '../../../../test/harness/cpu-clock.ts';
import { ZERO_USAGE } from '../../../generation/usage.ts';
import { recordsOf } from '../../testing/outline-of.ts';
import { calls, chunk, DONE, delta, finish } from '../testing/chat-stream.ts';
import { startFold } from './fold-stream.ts';

const CUT = { ...ZERO_USAGE, input: 10, output: 4 };

function fold(records: readonly string[], cut: typeof CUT | null = null) {
  const folded = startFold('chatcmpl-ours');
  for (const record of recordsOf(records.join(''))) folded.push(record);
  return JSON.parse(folded.finish(cut));
}

const messageOf = (...records: readonly string[]) => fold(records).choices[0].message;

describe('an answer', () => {
  test('carries all members of its chunks, including unknown ones', () => {
    const usage = { prompt_tokens: 10, completion_tokens: 4, total_tokens: 14, cost: 0.5 };
    const first = {
      id: 'c1',
      created: 1,
      model: 'm',
      object: 'chat.completion.chunk',
      system_fingerprint: 'fp',
      lab: { a: 1 },
    };
    const records = [
      chunk({
        ...first,
        obfuscation: 'x',
        choices: [{ index: 0, delta: { role: 'assistant', content: '' }, logprobs: null }],
      }),
      delta({ content: 'Hé', mood: 'cal' }),
      delta({ content: 'y', mood: 'm', refusal: null }),
      finish('stop', { stop_reason: 'END' }),
      chunk({ choices: [], usage }),
      DONE,
    ];
    expect(fold(records)).toEqual({
      id: 'c1',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Héy', mood: 'calm', refusal: null },
          logprobs: null,
          stop_reason: 'END',
          finish_reason: 'stop',
        },
      ],
      usage,
      system_fingerprint: 'fp',
      lab: { a: 1 },
    });
  });

  test('has all choices in the order of their indices, however they were mixed, with their probabilities', () => {
    const of = (index: number, content: string, finish_reason: string | null = null) =>
      chunk({
        choices: [
          { index, delta: { content }, logprobs: { content: [{ token: content }], refusal: null }, finish_reason },
        ],
      });
    const { choices } = fold([of(1, 'b'), of(0, 'a'), of(1, 'B', 'length'), of(0, 'A', 'stop'), DONE]);
    expect(choices).toEqual(
      [
        { index: 0, said: ['a', 'A'], finish_reason: 'stop' },
        { index: 1, said: ['b', 'B'], finish_reason: 'length' },
      ].map(({ index, said, finish_reason }) => ({
        index,
        message: { role: 'assistant', content: said.join('') },
        logprobs: { content: said.map((token) => ({ token })), refusal: null },
        finish_reason,
      })),
    );
  });

  test('without an id of its own gets ours', () => {
    expect(fold([chunk({ id: undefined, choices: [{ index: 0, delta: { content: 'a' } }] })]).id).toBe('chatcmpl-ours');
  });

  test('a stream without choices is no answer', () => {
    expect(() => fold([chunk({ choices: [] }), DONE])).toThrow('it has no choices');
  });

  test('takes no harm from names that mean something to JavaScript', () => {
    const message = messageOf(
      'data: {"choices":[{"delta":{"content":"a","__proto__":{"role":"x"},"constructor":"c"}}]}\n\n',
    );
    expect([message.role, message.constructor, Object.hasOwn(message, '__proto__')]).toEqual(['assistant', 'c', true]);
  });
});

describe('a message', () => {
  test('has its refusal and its reasoning, under both names', () => {
    const message = messageOf(
      delta({ reasoning: 'I ' }),
      delta({ reasoning: 'think', reasoning_content: 't' }),
      delta({ refusal: 'No' }),
    );
    expect(message).toEqual({
      role: 'assistant',
      content: null,
      reasoning: 'I think',
      reasoning_content: 't',
      refusal: 'No',
    });
  });

  test('lists continue where their index says', () => {
    const detail = (index: number, text: string) =>
      delta({ reasoning_details: [{ index, type: 'reasoning.text', text }] });
    expect(messageOf(detail(0, 'a'), detail(1, 'x'), detail(0, 'b')).reasoning_details).toEqual([
      { index: 0, type: 'reasoning.text', text: 'ab' },
      { index: 1, type: 'reasoning.text', text: 'x' },
    ]);
  });

  test('has content in pieces, and joins adjacent ones of one type', () => {
    const thought = (text: string) => delta({ content: [{ type: 'thinking', thinking: [{ type: 'text', text }] }] });
    expect(
      messageOf(delta({ content: '' }), thought('a'), thought('b'), delta({ content: 'so' }), delta({ content: '!' }))
        .content,
    ).toEqual([
      { type: 'thinking', thinking: [{ type: 'text', text: 'ab' }] },
      { type: 'text', text: 'so!' },
    ]);
  });

  test('has its calls, whose names and ids come once or repeatedly', () => {
    const again = (text: string) => ({ index: 1, id: 'b', type: 'function', function: { name: 'g', arguments: text } });
    const message = messageOf(
      calls({ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } }),
      calls({ index: 0, function: { arguments: '{"x"' } }, again('{')),
      calls({ index: 0, function: { arguments: ':1}' } }, again('}')),
    );
    expect(message.tool_calls).toEqual([
      { id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
      { id: 'b', type: 'function', function: { name: 'g', arguments: '{}' } },
    ]);
  });

  test('calls that share an index, or have none, are distinguished by their ids', () => {
    const whole = (id: string, index?: number) =>
      calls({ index, id, type: 'function', function: { name: 'f', arguments: id } });
    for (const index of [0, undefined]) {
      const found = messageOf(whole('a', index), whole('b', index)).tool_calls;
      expect(found.map((call: { id: string }) => call.id)).toEqual(['a', 'b']);
    }
  });
});

test('when cut, each unfinished choice ends by length, with the charged counters', () => {
  const of = (index: number, finish_reason: string | null) =>
    chunk({ choices: [{ index, delta: { content: 'a' }, finish_reason }] });
  const { choices, usage } = fold([of(0, null), of(1, 'stop')], CUT);
  expect(choices.map((choice: { finish_reason: string }) => choice.finish_reason)).toEqual(['length', 'stop']);
  expect(usage).toMatchObject({ prompt_tokens: 10, completion_tokens: 4, total_tokens: 14 });
});

test.each([
  [
    'calls without an index',
    (at: number) => ({ tool_calls: [{ id: `c${at}`, function: { name: 'f', arguments: '{}' } }] }),
  ],
  ['numbered details', (at: number) => ({ reasoning_details: [{ index: at, text: 'a' }] })],
])(
  '100,000 %s take time linear in their number',
  (_, deltaOf) => {
    const records = recordsOf(Array.from({ length: 100_000 }, (_one, at) => delta(deltaOf(at))).join(''));
    const elapsed = startCpuClock();
    const folded = startFold('chatcmpl-ours');
    for (const record of records) folded.push(record);
    const { message } = JSON.parse(folded.finish(null)).choices[0];
    expect((message.tool_calls ?? message.reasoning_details).length).toBe(100_000);
    expect(elapsed()).toBeLessThan(6_000);
  },
  60_000,
);
