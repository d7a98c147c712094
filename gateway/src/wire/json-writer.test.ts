/** Tests that the output equals that of JSON.stringify, and that given text is unchanged. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { RawJson, type WritableJson, writeJson } from './json-writer.ts';

test('any JSON value is written as JSON.stringify writes it', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      // The prototype of an object is not a member of it.
      fc.pre(!JSON.stringify(value).includes('__proto__'));
      expect(writeJson(value as WritableJson)).toBe(JSON.stringify(value));
    }),
  );
});

test('given text keeps its digits, order, duplicates and white space', () => {
  const text = '{ "b": 12345678901234567890, "a": 1.0, "a": 2 }';
  expect(writeJson({ input: new RawJson(text), list: [new RawJson('1e400')] })).toBe(
    `{"input":${text},"list":[1e400]}`,
  );
});

test('members that are undefined are left out, lone surrogates are escaped', () => {
  expect(writeJson({ a: undefined, b: null, c: '\ud83d', 'd"': true })).toBe('{"b":null,"c":"\\ud83d","d\\"":true}');
});

test('a number that no double holds is the nearest one', () => {
  expect(JSON.parse(writeJson(JSON.parse('[1e400,-1e400]')))).toEqual([Number.MAX_VALUE, -Number.MAX_VALUE]);
});

test('a number that JSON does not have is a fault', () => {
  expect(() => writeJson([Number.NaN])).toThrow('JSON has no number NaN');
});
