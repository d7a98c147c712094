/** Tests the kind for hosts that imitate Anthropic's messages: its credential, its paths and what it is not. */
import { expect, test } from 'bun:test';
import { Secret } from '../../lib/secret.ts';
import { findPreset } from '../presets/presets.ts';
import { anthropicCompatible } from './anthropic.ts';

test('a bearer token goes to /v1/messages, and no other credential', () => {
  expect(anthropicCompatible.headers({ api_key: new Secret('canary') }, {})).toEqual([
    ['authorization', 'Bearer canary'],
  ]);
  expect(anthropicCompatible.headers({}, {})).toEqual([]);
  expect(anthropicCompatible.completeBaseUrl('https://h/anthropic')).toBe('https://h/anthropic/v1');
  expect(anthropicCompatible.endpoint('messages', 'stream', 'm', {})).toBe('/messages');
  expect(anthropicCompatible.endpoint('messages', 'count_tokens', 'm', {})).toBeNull();
});

test('a preset with a credential needs one, a host of your own does not', () => {
  const given = { members: new Set<string>(), secrets: {}, source: null, settings: {} };
  const preset = findPreset('zai-messages') ?? null;
  expect(anthropicCompatible.checkConfig({ ...given, preset })).toHaveLength(1);
  expect(anthropicCompatible.checkConfig({ ...given, preset: null })).toEqual([]);
});
