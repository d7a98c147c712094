/** Tests how the lines of a provider's models are read. */
import { describe, expect, test } from 'bun:test';
import { freeName, kindOfSecret, parseModelLines, renderModelLines } from './provider-form.ts';

describe('parseModelLines', () => {
  test('a single name is also the provider’s name', () => {
    expect(parseModelLines('gpt-5\n\n fast = gpt-5-mini \n')).toEqual({
      models: [
        { name: 'gpt-5', upstream: 'gpt-5' },
        { name: 'fast', upstream: 'gpt-5-mini' },
      ],
      fault: null,
    });
  });
  test('the lines of models are those that they were read from', () => {
    const lines = 'gpt-5\nfast = gpt-5-mini';
    expect(renderModelLines(parseModelLines(lines).models)).toBe(lines);
  });
  test.each([
    ['a\n= b', 2],
    ['a =', 1],
    ['a = b = c', 1],
    ['a\na = b', 2],
  ])('%j is refused with its line', (text, line) => {
    expect(parseModelLines(text).fault?.line).toBe(line);
  });
});

test('proposes the kind, or the kind with a number', () => {
  expect(freeName('openai', [])).toBe('openai');
  expect(freeName('openai', ['openai', 'openai-2'])).toBe('openai-3');
  expect(freeName('Open AI!', [])).toBe('open-ai');
});

test('the beginning of an API key names its vendor; other keys name none', () => {
  expect(['sk-ant-api03-x', ' sk-proj-x', 'AIzaSyX', 'sk-x', 'sk-or-v1-x', ''].map(kindOfSecret)).toEqual([
    'anthropic',
    'openai',
    'gemini',
    null,
    null,
    null,
  ]);
});
