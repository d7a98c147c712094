/** Tests the format of API keys, and which typing errors are detected. */
import { describe, expect, test } from 'bun:test';
import { assert, constantFrom, integer, property, string } from 'fast-check';
import { generateId, generateKeyText, hasKeyForm } from './key-format.ts';

const BASE62 = [...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'];

function replaceAt(text: string, at: number, character: string): string {
  return text.slice(0, at) + character + text.slice(at + 1);
}

describe('generateKeyText', () => {
  test('draws keys of the published form', () => {
    for (let drawn = 0; drawn < 200; drawn++) expect(generateKeyText()).toMatch(/^tg_[0-9A-Za-z]{49}$/);
  });

  test('draws no key twice, and uses every character in every place but the first', () => {
    const keys = Array.from({ length: 4_000 }, generateKeyText);
    expect(new Set(keys).size).toBe(keys.length);
    for (let place = 4; place < 46; place++) expect(new Set(keys.map((key) => key[place])).size).toBe(62);
  });
});

describe('hasKeyForm', () => {
  test('knows every key that was drawn', () => {
    for (let drawn = 0; drawn < 200; drawn++) expect(hasKeyForm(generateKeyText())).toBe(true);
  });

  test('agrees with a checksum that was worked out elsewhere', () => {
    // Body + base62(zlib.crc32(body)), by Python 3.11.
    const keys = [
      'tg_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA0DofJ8',
      'tg_00000000000000000000000000000000000000000002CZclj',
      'tg_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopq0RsLou',
    ];
    for (const key of keys) expect(hasKeyForm(key)).toBe(true);
  });

  test('catches each change of a single character, wherever it is', () => {
    const key = generateKeyText();
    for (let at = 0; at < key.length; at++) {
      for (const character of BASE62) {
        if (character !== key[at]) expect(hasKeyForm(replaceAt(key, at, character))).toBe(false);
      }
    }
  });

  test('catches two neighbours changed round', () => {
    for (let drawn = 0; drawn < 100; drawn++) {
      const key = generateKeyText();
      for (let at = 3; at < key.length - 1; at++) {
        const [first = '', second = ''] = [key[at], key[at + 1]];
        if (first !== second) expect(hasKeyForm(key.slice(0, at) + second + first + key.slice(at + 2))).toBe(false);
      }
    }
  });

  test('catches two changed characters', () => {
    const place = integer({ min: 3, max: 51 });
    const key = generateKeyText();
    assert(
      property(place, place, constantFrom(...BASE62), constantFrom(...BASE62), (one, other, first, second) => {
        const changed = replaceAt(replaceAt(key, one, first), other, second);
        return changed === key || !hasKeyForm(changed);
      }),
    );
  });

  test('refuses texts of other lengths, alphabets and prefixes', () => {
    const key = generateKeyText();
    for (const text of [
      '',
      key.slice(1),
      `${key} `,
      ` ${key}`,
      `${key}\n`,
      key.replace('tg_', 'TG_'),
      `${key}${key}`,
    ]) {
      expect(hasKeyForm(text)).toBe(false);
    }
    expect(hasKeyForm(replaceAt(key, 10, 'é'))).toBe(false);
    expect(hasKeyForm('x'.repeat(10_000_000))).toBe(false);
    assert(property(string(), (text) => !hasKeyForm(text)));
  });
});

test('ids carry their word and no character that needs quoting', () => {
  expect(generateId('key')).toMatch(/^key_[0-9A-Za-z]{20}$/);
  expect(generateId('key')).not.toBe(generateId('key'));
});
