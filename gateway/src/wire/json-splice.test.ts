/** Tests that a splice changes the given bytes and no other byte. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { JsonOutline } from './json-node.ts';
import { scanJson } from './json-scan.ts';
import { type JsonEdit, spliceJson } from './json-splice.ts';

function outlineOf(text: string): JsonOutline {
  const result = scanJson(new TextEncoder().encode(text));
  if (!result.ok) throw new Error(result.message);
  return result;
}

function splice(text: string, ...edits: JsonEdit[]): string {
  return Buffer.from(spliceJson(outlineOf(text), edits)).toString();
}

test.each<[string, string, JsonEdit[], string]>([
  ['replaces a value', '{ "model" : "a" , "n":1.0}', [{ set: ['model'], json: '"b"' }], '{ "model" : "b" , "n":1.0}'],
  ['replaces a value by its unescaped key', '{"mod\\u0065l":1}', [{ set: ['model'], json: '2' }], '{"mod\\u0065l":2}'],
  ['adds behind the last member', '{"a":1 }', [{ set: ['b'], json: '2' }], '{"a":1,"b":2 }'],
  ['adds to an empty object', '{ }', [{ set: ['b'], json: '2' }], '{"b":2 }'],
  [
    'adds several',
    '{}',
    [
      { set: ['b'], json: '2' },
      { set: ['c'], json: '3' },
    ],
    '{"b":2,"c":3}',
  ],
  ['makes an absent parent', '{"a":1}', [{ set: ['o', 'u'], json: 'true' }], '{"a":1,"o":{"u":true}}'],
  [
    'makes one parent for two',
    '{}',
    [
      { set: ['o', 'u'], json: '1' },
      { set: ['o', 'v'], json: '2' },
    ],
    '{"o":{"u":1,"v":2}}',
  ],
  ['replaces a null parent', '{"o":null,"a":1}', [{ set: ['o', 'u'], json: 'true' }], '{"o":{"u":true},"a":1}'],
  ['adds to a parent', '{"o":{"x":1},"a":1}', [{ set: ['o', 'u'], json: 'true' }], '{"o":{"x":1,"u":true},"a":1}'],
  ['removes the first', '{"a":1, "b":2}', [{ remove: ['a'] }], '{"b":2}'],
  ['removes the middle', '{"a":1, "b":2 ,"c":3}', [{ remove: ['b'] }], '{"a":1 ,"c":3}'],
  ['removes the last', '{"a":1, "b":2 }', [{ remove: ['b'] }], '{"a":1 }'],
  ['removes the only one', '{ "a":1 }', [{ remove: ['a'] }], '{  }'],
  ['removes two side by side', '{"a":1,"b":2,"c":3}', [{ remove: ['b'] }, { remove: ['c'] }], '{"a":1}'],
  [
    'removes all and adds',
    '{"a":1,"b":2}',
    [{ remove: ['a'] }, { remove: ['b'] }, { set: ['c'], json: '3' }],
    '{"c":3}',
  ],
  ['removes the last and adds', '{"a":1,"b":2}', [{ remove: ['b'] }, { set: ['c'], json: '3' }], '{"a":1,"c":3}'],
  ['treats __proto__ as a name', '{"a":1}', [{ set: ['__proto__', 'x'], json: '1' }], '{"a":1,"__proto__":{"x":1}}'],
  ['writes text outside ASCII', '{"é":"ü"}', [{ set: ['é'], json: '"😀"' }], '{"é":"😀"}'],
])('%s', (_, text, edits, expected) => {
  expect(splice(text, ...edits)).toBe(expected);
});

describe('the same bytes are returned', () => {
  test.each<[string, JsonEdit[]]>([
    ['without edits', []],
    ['when the value is there already', [{ set: ['o', 'u'], json: 'true' }]],
    ['when there is nothing to remove', [{ remove: ['zz'] }, { remove: ['n', 'x'] }, { remove: ['m', 'x'] }]],
  ])('%s', (_, edits) => {
    const outline = outlineOf('{"o":{"u":true},"n":null,"m":1}');
    expect(spliceJson(outline, edits)).toBe(outline.bytes);
  });
});

describe('refuses', () => {
  test.each<[string, string, JsonEdit[], string]>([
    [
      'a parent that is no object',
      '{"o":[1]}',
      [{ set: ['o', 'u'], json: '1' }],
      'cannot set a member of "o": found array',
    ],
    ['a root that is no object', '[]', [{ set: ['o'], json: '1' }], 'cannot set a member of the root: found array'],
    ['two edits of one member', '{}', [{ set: ['a'], json: '1' }, { remove: ['a'] }], 'two edits of JSON touch "a"'],
    [
      'an edit inside another',
      '{}',
      [
        { set: ['a'], json: '1' },
        { set: ['a', 'b'], json: '1' },
      ],
      'two edits of JSON touch "a.b"',
    ],
    ['an empty path', '{}', [{ set: [], json: '1' }], 'empty path'],
  ])('%s', (_, text, edits, message) => {
    expect(() => splice(text, ...edits)).toThrow(message);
  });
});

test('the members of any object are the same but for the edits, byte for byte', () => {
  const name = fc.constantFrom('a', 'b', 'c', 'd', 'e', '__proto__');
  const value = fc.constantFrom('1', '9007199254740993', '1.0', '"\\u0041\\/"', '{"x" : [1 , 2]}', 'null', '[ ]');
  const members = fc.uniqueArray(fc.tuple(name, value), { selector: ([key]) => key });
  const changes = fc.uniqueArray(fc.tuple(name, fc.option(value)), { selector: ([key]) => key });
  fc.assert(
    fc.property(members, changes, fc.constantFrom('', ' ', '\n  '), (members, changes, space) => {
      const render = (list: readonly (readonly [string, string])[]) =>
        list.map(([key, text]) => `${space}"${key}"${space}:${space}${text}`).join(',');
      const edits = changes.map(([key, json]): JsonEdit => (json === null ? { remove: [key] } : { set: [key], json }));
      const spliced = splice(`{${render(members)}${space}}`, ...edits);
      const wanted = new Map(members);
      for (const [key, json] of changes) {
        if (json === null) wanted.delete(key);
        else wanted.set(key, json);
      }
      const result = outlineOf(spliced);
      const compact = (text: string) => text.replaceAll(/[ \n]/g, '');
      expect(compact(spliced)).toBe(compact(`{${[...wanted].map(([key, text]) => `"${key}":${text}`).join(',')}}`));
      expect(result.ok).toBe(true);
      for (const [key, text] of members) {
        if (changes.every(([changed]) => changed !== key))
          expect(spliced).toContain(`"${key}"${space}:${space}${text}`);
      }
    }),
    { numRuns: 1_000 },
  );
});
