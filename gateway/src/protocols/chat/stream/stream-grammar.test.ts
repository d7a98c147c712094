/**
 * Tests stream-grammar.ts and observe-stream.ts: which orders of chunks pass, and which violations are found in the
 * others.
 */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { runsOf } from '../../../../test/harness/exhaustive.ts';
import type { JsonObject } from '../../json.ts';
import { readSteps } from './observe-stream.ts';
import { ChatGrammar, type ChatStep } from './stream-grammar.ts';

type Word = 'role' | 'content' | 'finish' | 'usage' | 'done' | `start ${number}` | `more ${number}`;

function stepOf(word: Word): ChatStep {
  const [kind, index] = word.split(' ');
  if (kind === 'start') return { kind: 'tool_start', index: Number(index) };
  if (kind === 'more') return { kind: 'tool_fragment', index: Number(index) };
  return { kind: word as 'role' };
}

/** The violation in the last of several steps; the ones before it must pass. */
function verdict(...words: Word[]): string | null {
  const grammar = new ChatGrammar();
  const verdicts = words.map((word) => grammar.check(stepOf(word)));
  expect(verdicts.slice(0, -1)).toEqual(words.slice(1).map(() => null));
  return verdicts.at(-1) ?? null;
}

describe('the grammar', () => {
  test.each([
    [['role', 'content', 'finish', 'usage', 'done']],
    [['role', 'finish', 'done']],
    [['role', 'start 0', 'start 1', 'more 0', 'more 1', 'content', 'more 0', 'finish', 'done']],
  ] as Word[][][])('takes %j', (words) => {
    expect(verdict(...words)).toBeNull();
  });

  test.each([
    [['content'], 'a delta came before the role'],
    [['start 0'], 'a tool call came before the role'],
    [['finish'], 'the finish reason came before the role'],
    [['done'], '[DONE] came before the role'],
    [['role', 'role'], 'the role came twice'],
    [['role', 'more 0'], 'arguments of tool call 0, which has not begun'],
    [['role', 'start 1'], 'tool call 1 begins where tool call 0 was expected'],
    [['role', 'start 0', 'start 0'], 'tool call 0 begins where tool call 1 was expected'],
    [['role', 'usage'], 'the usage chunk came before the finish reason'],
    [['role', 'finish', 'content'], 'a delta came after the finish reason'],
    [['role', 'start 0', 'finish', 'more 0'], 'a tool call came after the finish reason'],
    [['role', 'finish', 'usage', 'usage'], 'the usage chunk came after the usage chunk'],
    [['role', 'finish', 'done', 'usage'], 'the usage chunk came after [DONE]'],
  ] as Array<[Word[], string]>)('refuses the last of %j', (words, wrong) => {
    expect(verdict(...words)).toBe(wrong);
  });

  test('takes exactly the sentences of its regular language', () => {
    const letter = fc.constantFrom<Word>(
      'role',
      'content',
      'finish',
      'usage',
      'done',
      'start 0',
      'start 1',
      'more 0',
      'more 1',
    );
    const sentence = /^role( content| more 0)*( finish( usage)?( done)?)?$/;
    const called =
      /^role( content)*( start 0( content| more 0)*( start 1( content| more 0| more 1)*)?)?( finish( usage)?( done)?)?$/;
    fc.assert(
      fc.property(fc.array(letter, { maxLength: 7 }), (words) => {
        const grammar = new ChatGrammar();
        const passes = words.every((word) => grammar.check(stepOf(word)) === null);
        const text = words.join(' ');
        expect(passes).toBe(text === '' || called.test(text) || (sentence.test(text) && !text.includes('more')));
      }),
      { numRuns: runsOf(3000) },
    );
  });
});

describe('steps in chunks of others', () => {
  const choice = (delta: object, finish_reason: string | null = null): JsonObject => ({
    choices: [{ index: 0, delta, finish_reason }],
  });
  const observe = (...chunks: readonly JsonObject[]) => {
    const grammar = new ChatGrammar();
    return chunks.flatMap((chunk) => readSteps(chunk, grammar).map((step) => grammar.check(step) ?? step.kind));
  };
  const USAGE = { choices: [], usage: { prompt_tokens: 1 } };
  const tool = (index: unknown, name?: string) => ({ index, function: { name, arguments: '' } });

  test('are the role, the texts, the calls, the finish and the usage', () => {
    const chunks = [
      choice({ role: 'assistant', content: '' }),
      choice({ content: 'a' }),
      choice({ tool_calls: [tool(0, 'f'), tool(1, 'g')] }),
    ];
    const rest = [choice({ tool_calls: [tool(1), tool(0)] }), choice({}, 'stop'), USAGE];
    const kinds = ['role', 'content', 'tool_start', 'tool_start', 'tool_fragment', 'tool_fragment', 'finish', 'usage'];
    expect(observe(...chunks, ...rest)).toEqual(kinds);
  });

  test('are not the repetitions that clients take', () => {
    const again = choice({ role: 'assistant', tool_calls: [tool(0, 'f')] });
    expect(
      observe(again, again, choice({ role: 'assistant', content: null, reasoning: 'r', annotations: [] })),
    ).toEqual(['role', 'tool_start', 'tool_fragment', 'content']);
  });

  test('empty chunks, other choices and members of a wrong type have no steps', () => {
    expect(
      observe(
        {},
        { choices: [] },
        { choices: [null, 3, { index: 1, delta: { content: 'a' } }] },
        choice({ tool_calls: [null, tool('x')] }),
      ),
    ).toEqual([]);
  });

  test('report violations of the order', () => {
    expect(observe(choice({ content: 'a' }))).toEqual(['a delta came before the role']);
    expect(observe(choice({ role: 'assistant' }), choice({ tool_calls: [tool(2, 'f')] }))).toEqual([
      'role',
      'tool call 2 begins where tool call 0 was expected',
    ]);
    expect(observe(choice({ role: 'assistant' }, 'stop'), USAGE, choice({ content: 'late' }))).toEqual([
      'role',
      'finish',
      'usage',
      'a delta came after the usage chunk',
    ]);
  });
});
