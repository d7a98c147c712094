/** Tests that the table of presets is consistent. */
import { expect, test } from 'bun:test';
import { findPreset, PRESETS } from './presets.ts';

test('preset names are unique, plain, and found', () => {
  expect(new Set(PRESETS.map((preset) => preset.name)).size).toBe(PRESETS.length);
  for (const preset of PRESETS) {
    expect(preset.name).toMatch(/^[a-z]+(?:-[a-z]+)*$/);
    expect(findPreset(preset.name)).toBe(preset);
  }
  expect(findPreset('constructor')).toBeUndefined();
});

test('a variable is found as the first preset that reads it; a second is for the file', () => {
  const seen = new Set<string>();
  const others = PRESETS.filter(({ credentialVariables }) => {
    const isSecond = credentialVariables.some((variable) => seen.has(variable));
    for (const variable of credentialVariables) seen.add(variable);
    return isSecond;
  });
  expect(others.map(({ name }) => name)).toEqual(['gemini-openai']);
});

test('every address is https without a trailing slash, except the local one', () => {
  for (const preset of PRESETS) {
    const url = new URL(preset.baseUrl);
    expect(url.protocol).toBe(preset.name === 'ollama' ? 'http:' : 'https:');
    expect(preset.baseUrl.endsWith('/')).toBe(false);
    expect(url.search + url.hash + url.username).toBe('');
  }
});

test('only a local provider needs no credential', () => {
  expect(PRESETS.filter((preset) => preset.credentialVariables.length === 0).map((preset) => preset.name)).toEqual([
    'ollama',
  ]);
});
