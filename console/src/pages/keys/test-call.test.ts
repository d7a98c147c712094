/** Tests what is read from the response to a test call, whatever the response is. */
import { expect, test } from 'bun:test';
import { readAnswer } from './try-key.tsx';

test('reads the text of a response', () => {
  expect(readAnswer('{"choices":[{"message":{"role":"assistant","content":"Hello."}}]}')).toEqual({
    answer: 'Hello.',
    message: null,
  });
});

test('an empty response is still a response', () => {
  expect(readAnswer('{"choices":[{"message":{"content":null}}]}').answer).toBe('');
});

test('reads the message of an error', () => {
  expect(readAnswer('{"error":{"message":"no such key","code":"unauthorized"}}')).toEqual({
    answer: null,
    message: 'no such key',
  });
});

test.each(['', '<html>', 'null', '[]', '{"choices":[]}', '{"choices":7}'])('%j is neither', (text) => {
  expect(readAnswer(text)).toEqual({ answer: null, message: null });
});
