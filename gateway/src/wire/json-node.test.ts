/** Tests reading single values of a scanned text. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  children,
  elements,
  isInteger,
  isOpen,
  type JsonNode,
  jsonText,
  member,
  memberName,
  numberValue,
  OutlineFull,
  stringValue,
} from './json-node.ts';
import { scanJson } from './json-scan.ts';

function rootOf(text: string, outlineDepth = 4): JsonNode {
  const result = scanJson(new TextEncoder().encode(text), { outlineDepth });
  if (!result.ok) throw new Error(result.message);
  return result.root;
}

describe('member', () => {
  test.each(['model', '__proto__', 'toString', 'é', '😀', 'a"b', ''])('finds %p by its unescaped name only', (name) => {
    const escaped = Array.from(name, (char) =>
      char
        .split('')
        .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
        .join(''),
    ).join('');
    for (const key of [JSON.stringify(name), `"${escaped}"`]) {
      expect(jsonText(member(rootOf(`{"x":{${key}:0},${key}:1,"models":2}`), name) as JsonNode)).toBe('1');
    }
    expect(member(rootOf('{"mode":1,"modelx":2}'), name)).toBeUndefined();
  });

  test('returns undefined for a value that is not an object', () => {
    expect(member(rootOf('["model"]'), 'model')).toBeUndefined();
  });
});

test('short texts that are read one after the other stay what JSON.parse makes of them', () => {
  // The characters of the second text are the bytes of the first.
  const texts = Array.from({ length: 0x780 }, (_, i) => String.fromCharCode(0x80 + i)).flatMap((char) => [
    Buffer.from(char).toString('latin1'),
    char,
    char.charCodeAt(0).toString(36),
  ]);
  const read = () => texts.map((text) => stringValue(rootOf(JSON.stringify(text))));
  expect(read()).toEqual(texts);
  expect(read()).toEqual(texts);
});

test('a string is what JSON.parse makes of it', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('\ud800', '\udfff', '\\', '"', '\u0000'))),
      (parts) => {
        const text = JSON.stringify(parts.join(''));
        expect(stringValue(rootOf(text))).toBe(JSON.parse(text));
      },
    ),
  );
});

test('scalars of another kind have no such value', () => {
  expect([stringValue(rootOf('1')), numberValue(rootOf('"1"')), isInteger(rootOf('"1"'))]).toEqual([
    undefined,
    undefined,
    false,
  ]);
});

describe('isInteger', () => {
  const integers = [
    '0',
    '-0',
    '0.0',
    '0e-9',
    '1',
    '1.0',
    '1e2',
    '1.50e1',
    '100e-2',
    '9007199254740993',
    '1e400',
    '-12.00',
    '0.00e-99999999999999999999',
  ];
  const fractions = [
    '1.5',
    '1e-1',
    '1.05e1',
    '10e-2',
    '9007199254740993.5',
    '1e-400',
    '0.1',
    '0.00000000000000000000001',
    '1e-99999999999999999999',
  ];
  test.each(integers)('%s is one', (text) => expect(isInteger(rootOf(text))).toBe(true));
  test.each(fractions)('%s is not an integer', (text) => expect(isInteger(rootOf(text))).toBe(false));

  test('agrees with exact arithmetic', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n }),
        fc.nat(12),
        fc.integer({ min: -15, max: 15 }),
        (digits, point, power) => {
          const text = digits
            .toString()
            .replace('-', '')
            .padStart(point + 1, '0');
          const written = `${text.slice(0, text.length - point)}${point > 0 ? `.${text.slice(-point)}` : ''}e${power}`;
          const exponent = power - point;
          const exact = exponent >= 0 || digits % 10n ** BigInt(-exponent) === 0n;
          expect(isInteger(rootOf(written))).toBe(exact);
        },
      ),
    );
  });
});

/** All values below a node: names, kinds and texts. */
function tour(node: JsonNode): unknown {
  const { kind, keyStart } = node;
  const name = keyStart < 0 ? null : memberName(node);
  return [name, kind, jsonText(node), stringValue(node), numberValue(node), children(node).map(tour)];
}

describe('the end of the outline', () => {
  test('a container there is known by its text and opens when its members are read', () => {
    const inner = member(rootOf('{"a":{"b":[1,{"c":2}]}}', 1), 'a') as JsonNode;
    expect([inner.kind, jsonText(inner), isOpen(inner)]).toEqual(['object', '{"b":[1,{"c":2}]}', false]);
    const [, last] = elements(member(inner, 'b') as JsonNode);
    expect(numberValue(member(last as JsonNode, 'c') as JsonNode)).toBe(2);
  });

  test('a shallow outline reads as a deep one', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), fc.integer({ min: 1, max: 4 }), (text, depth) => {
        expect(tour(rootOf(text, depth))).toEqual(tour(rootOf(text, 64)));
      }),
    );
  });

  test('a container with more values than the limit does not open', () => {
    const text = '{"a":{"few":[1,2],"many":[1,2,3,4,5]}}';
    const outline = scanJson(Buffer.from(text), { outlineDepth: 2, outlineNodesMax: 5 });
    if (!outline.ok) throw new Error(outline.message);
    const inner = member(outline.root, 'a') as JsonNode;
    expect(elements(member(inner, 'few') as JsonNode).map(numberValue)).toEqual([1, 2]);
    expect(() => elements(member(inner, 'many') as JsonNode)).toThrow(OutlineFull);
  });

  test('an outline of many values keeps them all', () => {
    const root = rootOf(JSON.stringify(Array.from({ length: 30_000 }, (_, i) => [i])));
    const inner = elements(root).map((node) => numberValue(elements(node)[0] as JsonNode));
    expect(inner.every((value, index) => value === index) && inner.length === 30_000).toBe(true);
  });

  test('an outline stays as it is when another text is scanned', () => {
    const first = rootOf('{"a":{"b":1}}');
    rootOf('[[[[1],2],3],4,5,6,7]');
    expect(memberName(member(member(first, 'a') as JsonNode, 'b') as JsonNode)).toBe('b');
  });
});
