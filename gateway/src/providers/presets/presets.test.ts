/** Tests that the table of presets is consistent. */
import { expect, test } from 'bun:test';
import { LOCAL_SERVERS } from './local.ts';
import { addressOf, findPreset, PRESETS } from './presets.ts';

test('preset names are unique, plain, and found', () => {
  expect(new Set(PRESETS.map((preset) => preset.name)).size).toBe(PRESETS.length);
  for (const preset of PRESETS) {
    expect(preset.name).toMatch(/^[a-z]+(?:-[a-z]+)*$/);
    expect(findPreset(preset.name)).toBe(preset);
  }
  expect(findPreset('constructor')).toBeUndefined();
});

test('a variable is found as the first preset that reads it; the others are for the file', () => {
  const seen = new Set<string>();
  const others = PRESETS.filter(({ credentialVariables }) => {
    const isSecond = credentialVariables.some((variable) => seen.has(variable));
    for (const variable of credentialVariables) seen.add(variable);
    return isSecond;
  });
  expect(others.filter(({ name }) => !name.endsWith('-messages')).map(({ name }) => name)).toEqual(['gemini-openai']);
});

test('a messages door comes after the chat host with its variable, and is not Anthropic’s own', () => {
  const doors = PRESETS.filter(({ name }) => name.endsWith('-messages'));
  expect(doors.length).toBeGreaterThan(7);
  for (const { name, kind, credentialVariables } of doors) {
    const host = findPreset(name.slice(0, -'-messages'.length));
    expect([kind.name, host?.credentialVariables]).toEqual(['anthropic-compatible', credentialVariables]);
    expect(PRESETS.findIndex((one) => one.name === host?.name)).toBeLessThan(
      PRESETS.findIndex((one) => one.name === name),
    );
  }
});

test('every address is https without a trailing slash, except the local ones; every row names its source and date', () => {
  for (const preset of PRESETS) {
    const url = new URL(preset.baseUrl.replace(/[{}]/g, ''));
    expect(url.protocol).toBe(LOCAL_SERVERS.includes(preset) ? 'http:' : 'https:');
    expect(preset.baseUrl.endsWith('/')).toBe(false);
    expect(url.search + url.hash + url.username).toBe('');
    expect(preset.source).toMatch(/^https:\/\/\S+ \(2026-\d\d-\d\d\)$/);
  }
});

test('has no address of its own where a name in braces is part of it', () => {
  const unbound = PRESETS.filter((preset) => addressOf(preset) === null).map(({ name }) => name);
  expect(unbound).toEqual(['databricks', 'snowflake', 'snowflake-messages', 'cloudflare']);
});

test('only a local server needs no credential', () => {
  expect(PRESETS.filter((preset) => preset.credentialVariables.length === 0)).toEqual([...LOCAL_SERVERS]);
});
