/** Tests exact-json.ts, json-end.ts and call-arguments.ts: where values begin and end, against JSON.parse. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { JsonEnd } from '../generation/json-end.ts';
import { keepWholeMembers } from './answer/call-arguments.ts';
import { elementTexts, memberText, renameKeys } from './exact-json.ts';

const layouts = fc.tuple(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom(undefined, 1, '\t', '\r\n '));

test('members and elements are returned as written', () => {
  const json = ' { "a" : [1.0 , "]", {"b":"\\"}"} ] , "\\u0061b":12345678901234567890 , "a":null } ';
  expect(memberText(json, 'a')).toBe('null');
  expect(memberText(json, 'ab')).toBe('12345678901234567890');
  expect(memberText(json, 'b')).toBeNull();
  expect(elementTexts(' [1.0 , "]", {"b":"\\"}"} ] ')).toEqual(['1.0', '"]"', '{"b":"\\"}"}']);
  expect([elementTexts('{}'), elementTexts('[ ]'), memberText('[]', 'a'), memberText('', 'a')]).toEqual([
    [],
    [],
    null,
    null,
  ]);
});

test('every value that JSON.parse sees is found, in any layout', () => {
  fc.assert(
    fc.property(layouts, ([value, space]) => {
      const json = JSON.stringify(value, null, space);
      if (Array.isArray(value)) expect(elementTexts(json).map((text) => JSON.parse(text))).toEqual(JSON.parse(json));
      else if (typeof value === 'object' && value !== null) {
        for (const [name, found] of Object.entries(JSON.parse(json)))
          expect(JSON.parse(memberText(json, name) ?? '')).toEqual(found);
      }
    }),
  );
});

test('the end of an object is found at its last byte, however it is split', () => {
  const cuts = fc.array(fc.nat(80), { maxLength: 6 });
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 })), cuts, (value, places) => {
      const json = JSON.stringify(value);
      const end = new JsonEnd();
      let before = 0;
      for (const place of [...places.map((cut) => Math.min(cut, json.length - 1)).sort((one, other) => one - other)]) {
        expect(end.push(json.slice(before, place))).toBe(-1);
        before = place;
      }
      expect(end.push(`${json.slice(before)} tail`)).toBe(json.length - before);
    }),
  );
});

describe('arguments that were cut', () => {
  test.each([
    ['', '{}'],
    ['{', '{}'],
    ['{"a"', '{}'],
    ['{"a":', '{}'],
    ['{"a":"x', '{}'],
    ['{"a":"x"', '{"a":"x"}'],
    ['{"a":"\\"x\\\\"', '{"a":"\\"x\\\\"}'],
    ['{"a":12', '{}'],
    ['{"a":12,', '{"a":12}'],
    ['{"a":true,"b', '{"a":true}'],
    ['{"a":[1,2', '{"a":[1]}'],
    ['{"a":[{"b":{"c":"d"', '{"a":[{"b":{"c":"d"}}]}'],
    ['{"a":1}', '{"a":1}'],
    ['[1,', '{}'],
    ['nonsense', '{}'],
    ['{]', '{}'],
    ['{"a":tru,', '{}'],
  ])('%s keeps %s', (text, kept) => {
    expect(keepWholeMembers(text)).toBe(kept);
  });

  test('parses every prefix of a JSON object without inventing values', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 }),
        fc.nat(200),
        (value, length) => {
          const whole = JSON.stringify(value);
          const kept = keepWholeMembers(whole.slice(0, length));
          expect(isPart(JSON.parse(kept), JSON.parse(whole))).toBe(true);
          expect(keepWholeMembers(whole)).toBe(whole);
        },
      ),
    );
  });

  test('a bomb of brackets is not followed down', () => {
    expect(keepWholeMembers('{"a":'.repeat(1_000_000))).toStartWith('{"a":{"a":');
  });
});

/** Whether the second value contains everything in the first. */
function isPart(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || one === null) return Object.is(one, other);
  if (typeof other !== 'object' || other === null || Array.isArray(one) !== Array.isArray(other)) return false;
  const entries = new Map(Object.entries(other));
  return Object.entries(one).every(([name, value]) => entries.has(name) && isPart(value, entries.get(name)));
}

test.each([
  ['{"a" : 1.50, "b":{"a":1}}', '{"x" : 1.50, "b":{"a":1}}'],
  ['{"\\u0061":[{"a":1}],"a":2}', '{"x":[{"a":1}],"x":2}'],
  ['{"a":"cut', '{"x":"cut'],
  ['{"a":1,"a', '{"x":1,"a'],
  ['{"a', '{"a'],
  ['["a"]', '["a"]'],
  ['', ''],
])('the keys of %s are renamed on its first level only', (json, renamed) => {
  expect(renameKeys(json, new Map([['a', 'x']]))).toBe(renamed);
});
