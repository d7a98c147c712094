/** Tests that strings generated from a pattern match it, and that hostile patterns cost nothing. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { startCpuClock } from '../../test/harness/cpu-clock.ts';
import { writePattern } from './synthesize-json.ts';

test('the text matches every pattern made of supported parts', () => {
  const literal = fc.constantFrom(
    'a',
    'Z',
    '7',
    '-',
    ' ',
    '\\.',
    '\\d',
    '\\w',
    '\\s',
    '.',
    '[a-f0-9]',
    '[^a-z]',
    '[\\w.-]',
  );
  const many = fc.constantFrom('', '*', '+', '?', '{3}', '{0,2}', '{2,}', '+?', '{0}');
  // Groups repeat a fixed number of times only: nested stars would slow the matcher, not the generator.
  const few = fc.constantFrom('', '{2}', '{0}', '?');
  const join = (parts: fc.Arbitrary<string>, separator: string) =>
    fc.array(parts, { minLength: 1, maxLength: 3 }).map((made) => made.join(separator));
  const repeated = (atom: fc.Arbitrary<string>, times: fc.Arbitrary<string>) =>
    fc.tuple(atom, times).map((parts) => parts.join(''));
  const flat = join(join(repeated(literal, many), ''), '|');
  const opening = fc.constantFrom('(', '(?:', '(?<name>');
  const group = repeated(
    fc.tuple(opening, flat).map(([open, inner]) => `${open}${inner})`),
    few,
  );
  const pattern = fc.tuple(flat, group, flat).map((parts) => `^(?:${parts.join('')})$`);
  fc.assert(
    fc.property(pattern, (made) => {
      expect(writePattern(made)).toMatch(new RegExp(made));
    }),
    { numRuns: 500 },
  );
});

test.each([
  ['^[A-Z]{3}-\\d{4}$', 'AAA-1111'],
  ['^(?<year>\\d{4})/(a|b)$', '1111/a'],
  ['\\^x{0}y', '^y'],
  ['[^a1A_ -]', '.'],
])('%s gives %s', (pattern, text) => {
  expect(writePattern(pattern)).toBe(text);
});

test.each([
  '(?=a)b',
  '(a)\\1',
  '\\p{L}',
  '[a',
  '(a',
  'a)',
  '*',
  '\\bx',
  '(?<!a)b',
  'a{10001}',
  '((((a{30}){30}){30}){30}){30}',
])('%s is not supported', (pattern) => {
  expect(writePattern(pattern)).toBeNull();
});

test('a pattern that could backtrack endlessly is handled at once', () => {
  const cpuMs = startCpuClock();
  expect(writePattern('^(a+)+$')).toBe('a');
  expect(writePattern('('.repeat(100_000))).toBeNull();
  expect(cpuMs()).toBeLessThan(2_000);
});
