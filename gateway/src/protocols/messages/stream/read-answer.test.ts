/** Tests the reading of plain answers: an answer, a disguised error, malformed bodies. */
import { describe, expect, test } from 'bun:test';
import { generatedBytes, readAnswer } from '../shared/usage.ts';

/** For a body as long as its JSON. */
const read = (answer: unknown) => readAnswer(answer, JSON.stringify(answer).length);

const content = [
  { type: 'text', text: 'hé' },
  { type: 'tool_use', id: 'no', name: 'get', input: { q: 'abc' } },
];

describe('readAnswer', () => {
  test('reads usage, reason and model', () => {
    const answer = {
      type: 'message',
      model: 'c',
      content,
      stop_reason: 'tool_use',
      usage: { input_tokens: 1, output_tokens: 2 },
    };
    expect(read(answer)).toMatchObject({
      kind: 'answer',
      facts: { usage: { input: 1, output: 2 }, finish_reason: 'tool_use', model: 'c', outputBytes: 0 },
    });
  });

  test('counts bytes where there is no usage', () => {
    expect(read({ content })).toMatchObject({ facts: { usage: null, outputBytes: 3 + 3 + 3 } });
  });

  test('counts bytes where so little was counted that the body would be far more', () => {
    const long = [
      { type: 'thinking', thinking: 'hm' },
      { type: 'text', text: 'x'.repeat(5_000) },
    ];
    const answer = (output_tokens: number) => ({ content: long, usage: { input_tokens: 1, output_tokens } });
    expect(read(answer(9))).toMatchObject({ facts: { outputBytes: 5_002, reasoningBytes: 2 } });
    expect(read(answer(900))).toMatchObject({ facts: { outputBytes: 0, reasoningBytes: 0 } });
  });

  test.each([
    ['overloaded_error', 529],
    ['rate_limit_error', 429],
    ['api_error', null],
    [7, null],
  ])('an error of type %p has the status %p', (type, status) => {
    expect(read({ type: 'error', error: { type, message: 'm' } })).toEqual({
      kind: 'error',
      type: typeof type === 'string' ? type : 'api_error',
      status,
      message: 'm',
    });
  });

  test.each([[null], ['x'], [[]], [{}], [{ content: 'text' }]])('reads %j as malformed', (answer) => {
    expect(read(answer).kind).toBe('malformed');
  });
});

test('generatedBytes counts text, thinking, tool names and their input, not signatures', () => {
  expect(generatedBytes({ thinking: 'abc', signature: 'x'.repeat(500) })).toBe(3);
  expect(generatedBytes(null)).toBe(0);
});
