/**
 * Tests the reading of plain answers: an answer, a disguised error, malformed bodies; and the bytes that stand for
 * uncounted tokens.
 */
import { describe, expect, test } from 'bun:test';
import { generatedBytes, messageOf, readAnswer, statusOf } from '../shared/usage.ts';

/** For a body as long as its JSON. */
const read = (answer: unknown) => readAnswer(answer, JSON.stringify(answer).length);

const choices = [{ index: 0, message: { role: 'assistant', content: 'héllo' }, finish_reason: 'stop' }];

describe('readAnswer', () => {
  test('reads usage, reason and model', () => {
    const usage = { prompt_tokens: 5, completion_tokens: 2 };
    expect(read({ model: 'm', choices, usage })).toMatchObject({
      kind: 'answer',
      facts: { usage: { input: 5, output: 2 }, finish_reason: 'stop', model: 'm', outputBytes: 0 },
    });
  });

  test('reads the usage that Groq puts elsewhere', () => {
    const x_groq = { usage: { prompt_tokens: 5, completion_tokens: 2 } };
    expect(read({ choices, x_groq })).toMatchObject({ facts: { usage: { input: 5, output: 2 } } });
  });

  test('counts the bytes of all choices where there is no usage', () => {
    const second = { index: 1, message: { tool_calls: [{ function: { name: 'get', arguments: '{"a":1}' } }] } };
    expect(read({ choices: [...choices, second] })).toMatchObject({
      facts: { usage: null, outputBytes: Buffer.byteLength('hélloget{"a":1}') },
    });
  });

  test('counts the bytes where so little was counted that the body would be far more', () => {
    const longMessage = { content: 'x'.repeat(5_000), reasoning: 'y'.repeat(40) };
    const answer = (completion_tokens: number) => ({
      choices: [{ message: longMessage, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1, completion_tokens },
    });
    expect(read(answer(0))).toMatchObject({ facts: { outputBytes: 5_040, reasoningBytes: 40 } });
    const whole = answer(1_000);
    expect(read(whole)).toMatchObject({ facts: { outputBytes: 0, outputBytesMax: JSON.stringify(whole).length } });
  });

  test('knows the reasoning in pieces of content', () => {
    const content = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
      { type: 'text', text: 'ok' },
    ];
    expect(read({ choices: [{ message: { content } }] })).toMatchObject({
      facts: { outputBytes: 'thinkingtexthmtextok'.length, reasoningBytes: 'thinkingtexthm'.length },
    });
  });

  test('takes an error without choices for an error, with the status it names', () => {
    const error = { message: 'filtered', code: 'content_filter', status: 400 };
    expect(read({ error })).toEqual({ kind: 'error', type: 'content_filter', status: 400, message: 'filtered' });
    expect(read({ error: 'busy' })).toEqual({ kind: 'error', type: 'error', status: null, message: 'busy' });
  });

  test('takes an answer with choices and a null error for an answer', () => {
    expect(read({ error: null, choices }).kind).toBe('answer');
  });

  test.each([[null], ['text'], [7], [[]], [{}], [{ choices: {} }], [{ object: 'list' }]])(
    'reads %j as malformed',
    (answer) => {
      expect(read(answer).kind).toBe('malformed');
    },
  );

  test('survives choices of any shape', () => {
    expect(read({ choices: [null, 1, { message: 'x' }, []] })).toMatchObject({
      facts: { finish_reason: null, outputBytes: 0 },
    });
  });
});

describe('generatedBytes', () => {
  test('counts words, reasoning once, refusals, calls of both kinds and their names', () => {
    const part = {
      content: [{ type: 'text', text: 'ab' }],
      reasoning_content: 'cdé',
      reasoning: 'cdé',
      refusal: 'no',
      function_call: { name: 'f', arguments: '{}' },
      tool_calls: [{ id: 'not-counted', custom: { name: 'g', input: 'xyz' } }],
    };
    expect(generatedBytes(part)).toBe('text'.length + 2 + 4 + 2 + 3 + 4);
  });

  test('is 0 for nothing', () => {
    expect([generatedBytes(null), generatedBytes({})]).toEqual([0, 0]);
  });
});

describe('an error object', () => {
  test.each([
    [{ status: 429 }, 429],
    [{ status_code: 400, code: 'x' }, 400],
    [{ code: 503 }, 503],
    [{ code: 'rate_limit' }, null],
    [{ code: 200 }, null],
    [{ code: 600 }, null],
    ['text', null],
  ])('%j names the status %p', (error, status) => {
    expect(statusOf(error)).toBe(status);
  });

  test('always has words', () => {
    expect([messageOf({ message: 'a' }), messageOf('b'), messageOf({})]).toEqual(['a', 'b', 'upstream gave no reason']);
  });
});
