/** Tests that JSON is parsed with the digits that were written. */
import { expect, test } from 'bun:test';
import { parseExactJson } from './exact-json.ts';

test('numbers stay texts, and texts stay themselves', () => {
  expect(parseExactJson('{"a": 0.1234567890123456789, "b": [-1e-7, true, null], "c": "1 \\" 2, 3"}')).toEqual({
    a: '0.1234567890123456789',
    b: ['-1e-7', true, null],
    c: '1 " 2, 3',
  });
});

test('other texts are refused', () => {
  for (const text of ['', '{', '[1,]', '{"a" 1}', '"open'])
    expect(() => parseExactJson(text)).toThrow('not valid JSON');
});

test('a long text takes linear time', () => {
  const long = 'x\\"1'.repeat(500_000);
  expect(parseExactJson(`["${long}"]`)).toEqual([JSON.parse(`"${long}"`)]);
});
