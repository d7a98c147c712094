/** Tests mask-keys.ts: keys are masked anywhere in a text, and nothing else is. */
import { describe, expect, test } from 'bun:test';
import { maskKeys } from './secret.ts';

const KEY = `tg_${'aB3'.repeat(16)}z`;

describe('maskKeys', () => {
  test('hides every key, at any place of the text', () => {
    expect(maskKeys(`${KEY} and x${KEY}"`)).toBe('[key] and x[key]"');
  });

  test('leaves text that only looks like a key as it is', () => {
    for (const text of ['', 'tg_', KEY.slice(0, -1), KEY.replace('tg_', 'tg-')]) expect(maskKeys(text)).toBe(text);
  });
});
