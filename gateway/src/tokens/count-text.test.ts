/** Tests the counting of a text's features. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { countText, emptyTextCounts } from './count-text.ts';
import { TEXT_FEATURES, type TextFeature } from './text-alphabet.ts';

type Counted = { [feature in TextFeature]?: number };

function countsOf(text: string): Counted {
  const counts = emptyTextCounts();
  countText(text, counts);
  const found: Counted = {};
  for (const [index, feature] of TEXT_FEATURES.entries()) {
    const count = counts[index] ?? 0;
    if (count > 0) found[feature] = count;
  }
  return found;
}

describe('counted content', () => {
  const CASES: ReadonlyArray<readonly [string, Counted]> = [
    ['', {}],
    ['a cat', { word: 2, second: 1 }],
    ['house', { word: 1, second: 1, fifth: 1 }],
    ['internationally', { word: 1, second: 1, fifth: 1, eighth: 1, eleventh: 5 }],
    ['Berlin', { capital: 1, second: 1, fifth: 1 }],
    ['getWeather', { word: 1, second: 2, innerCapital: 1, fifth: 1 }],
    ['get_country', { word: 1, second: 1, mark: 1, innerWord: 1, innerSecond: 1, innerFifth: 1 }],
    ['_internationally', { mark: 1, innerWord: 1, innerSecond: 1, innerFifth: 1, innerNinth: 7 }],
    ['USA', { capital: 1, moreCapitals: 2 }],
    ['v12345', { word: 1, digits: 2, digit: 3 }],
    ['of 42', { word: 1, second: 1, spacedDigits: 1, digit: 1 }],
    ['{"":', { mark: 1, moreMarks: 3 }],
    ['-----', { mark: 1, rule: 4 }],
    ['a\n\n\nb', { word: 2, newline: 1 }],
    ['a      b', { word: 2, indent: 1 }],
    ['é', { accent: 1 }],
    ['привет', { cyrillic: 6 }],
    ['שלום', { semitic: 4 }],
    ['नमस्ते', { indic: 6 }],
    ['こんにちは', { kana: 5 }],
    ['안녕', { hangul: 2 }],
    ['你好', { han: 2 }],
    ['…', { wideMark: 1 }],
    ['🐌🐌', { astral: 2 }],
    ['\u0000', { other: 1 }],
  ];
  test.each(CASES)('%j', (text, counted) => {
    expect(countsOf(text)).toEqual(counted);
  });
});

test('each character adds to exactly one place, whatever the text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const counts = emptyTextCounts();
      countText(text, counts);
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(text.length);
    }),
  );
});

test('lone surrogates and every unit of UTF-16 are counted without a throw', () => {
  const units = Array.from({ length: 0x1_0000 }, (_, unit) => String.fromCharCode(unit)).join('');
  const counts = emptyTextCounts();
  countText(units, counts);
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(0x1_0000);
});

test('texts parted by line ends count as much together as one by one', () => {
  fc.assert(
    fc.property(fc.array(fc.stringMatching(/^[a-zA-Z0-9 .,:é你]{1,20}$/), { minLength: 1 }), (lines) => {
      const extras = emptyTextCounts();
      for (const line of lines) countText(`${line}\n`, extras);
      const together = emptyTextCounts();
      countText(lines.map((line) => `${line}\n`).join(''), together);
      const digits = TEXT_FEATURES.indexOf('digits');
      expect(together[digits]).toBe(extras[digits] ?? 0);
      expect(together).toEqual(extras);
    }),
  );
});
