/** Tests how name patterns are split, sent and displayed. */
import { expect, test } from 'bun:test';
import { draftModels, modelsWords, readModels, readPatterns } from './model-patterns.ts';

test('patterns are parted by commas, spaces and lines, each once', () => {
  expect(readPatterns(' gpt-5*, claude-*\n\nopenai/gpt-5 gpt-5*,')).toEqual(['gpt-5*', 'claude-*', 'openai/gpt-5']);
});

test('every model is null, some are a list, none is a fault', () => {
  expect(readModels(draftModels(null))).toEqual({ models: null, fault: null });
  expect(readModels(draftModels(['a', 'b*']))).toEqual({ models: ['a', 'b*'], fault: null });
  expect(readModels({ restricted: true, text: ' , ' }).fault).toContain('at least one');
});

test('a table shows the first two', () => {
  expect(modelsWords(null)).toBe('all');
  expect(modelsWords(['a', 'b'])).toBe('a, b');
  expect(modelsWords(['a', 'b', 'c', 'd'])).toBe('a, b +2');
});
