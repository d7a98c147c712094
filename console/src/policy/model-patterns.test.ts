/** Tests how name patterns are split, sent and displayed. */
import { expect, test } from 'bun:test';
import { draftModels, modelsText, readModels, readPatterns } from './model-patterns.ts';

test('splits patterns at commas, spaces and lines, without duplicates', () => {
  expect(readPatterns(' gpt-5*, claude-*\n\nopenai/gpt-5 gpt-5*,')).toEqual(['gpt-5*', 'claude-*', 'openai/gpt-5']);
});

test('all models are null, some are a list, none is an error', () => {
  expect(readModels(draftModels(null))).toEqual({ models: null, fault: null });
  expect(readModels(draftModels(['a', 'b*']))).toEqual({ models: ['a', 'b*'], fault: null });
  expect(readModels({ restricted: true, text: ' , ' }).fault).toContain('at least one');
});

test('a table shows the first two patterns', () => {
  expect(modelsText(null)).toBe('All');
  expect(modelsText(['a', 'b'])).toBe('a, b');
  expect(modelsText(['a', 'b', 'c', 'd'])).toBe('a, b +2');
});
