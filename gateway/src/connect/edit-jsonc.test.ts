/** Tests that setting a member changes that member and no other character. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { setJsonMember } from './tools.ts';

const COMMENTED = `// what I like
{
  "theme": "dark", /* really */
  // for work
  "env": {
    "A": "1" // one
  },
  "list": [1, {"b": [2]}, "}"],
}
`;

test('comments, order and trailing commas are kept', () => {
  expect(setJsonMember(COMMENTED, ['env', 'B'], 'x')).toBe(
    COMMENTED.replace('"A": "1" // one', '"A": "1",\n    "B": "x" // one'),
  );
  expect(setJsonMember(COMMENTED, ['env', 'A'], '2')).toBe(COMMENTED.replace('"A": "1"', '"A": "2"'));
  expect(setJsonMember(COMMENTED, ['model'], 'm')).toBe(COMMENTED.replace('"}"],', '"}"],\n  "model": "m",'));
});

test('a comment or a trailing comma after the last member stays where it is', () => {
  expect(setJsonMember('{"a": 1 /* one */ ,}', ['b'], 2)).toBe('{"a": 1,\n  "b": 2 /* one */ ,}');
  expect(setJsonMember('{ // nothing yet\n}', ['a'], 1)).toBe('{\n  "a": 1\n // nothing yet\n}');
});

test('the last of duplicate members is set, as readers use it', () => {
  expect(setJsonMember('{"a": 1, "a": 2}', ['a'], 3)).toBe('{"a": 1, "a": 3}');
});

test('an empty file becomes an object, and missing objects are created', () => {
  expect(setJsonMember('', ['env', 'A'], 'x')).toBe('{\n  "env": {\n    "A": "x"\n  }\n}\n');
  expect(setJsonMember('{"env": {}}', ['env', 'A'], 'x')).toBe('{"env": {\n    "A": "x"\n  }}');
});

describe('an invalid file is refused with its line', () => {
  test.each([
    ['[]', 'line 1: found "[]", expected object'],
    ['{"a": 1', 'line 1: found the end of the file, expected close brace'],
    ['{\n"a": 1\n"b": 2}', 'line 3'],
    ['{"a" 1}', 'found "1}", expected colon'],
    ['{"a": }', 'expected value'],
    ['{} x', 'found "x", invalid symbol'],
    ['{} {}', 'expected end of file'],
    ['{"env": "text"}', 'env is not an object'],
  ])('%p', (text, message) => {
    expect(() => setJsonMember(text, ['env', 'A'], 'x')).toThrow(message);
  });
});

test('in any JSON, the one member is set and nothing else', () => {
  const name = fc.string({ maxLength: 5 }).filter((text) => text !== '__proto__');
  const object = fc.dictionary(name, fc.oneof(fc.jsonValue(), fc.dictionary(name, fc.jsonValue())));
  fc.assert(
    fc.property(
      object,
      fc.array(name, { minLength: 1, maxLength: 3 }),
      fc.constantFrom(0, 2),
      (given, path, indent) => {
        const expected = JSON.parse(JSON.stringify(given)) as Record<string, unknown>;
        let at = expected;
        for (const step of path.slice(0, -1)) {
          const inner = Object.hasOwn(at, step) ? at[step] : {};
          fc.pre(typeof inner === 'object' && inner !== null && !Array.isArray(inner));
          at[step] = inner;
          at = inner as Record<string, unknown>;
        }
        at[path.at(-1) ?? ''] = 'set';
        const edited = setJsonMember(JSON.stringify(given, null, indent), path, 'set');
        expect(JSON.parse(edited)).toEqual(expected);
        expect(setJsonMember(edited, path, 'set')).toBe(edited);
      },
    ),
  );
});
