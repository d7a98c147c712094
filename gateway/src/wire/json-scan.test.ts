/**
 * Tests which texts the JSON scanner accepts and refuses, with JSON.parse as the oracle, and that the step size makes
 * no difference.
 */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { runsOf } from '../../test/harness/exhaustive.ts';
import { DEFAULT_JSON_SCAN_LIMITS, type JsonScanLimits } from './json-limits.ts';
import { children, type JsonNode, type JsonOutline, jsonText, memberName } from './json-node.ts';
import type { JsonProblem } from './json-problem.ts';
import { scanJson, startJsonScan } from './json-scan.ts';
import { compareScans } from './testing/compare-scans.ts';

const encoder = new TextEncoder();
const runs = { numRuns: 400 };

/** JSON text with white space, escapes and odd numbers in places where JSON.stringify puts none; keys may repeat. */
const jsonSource: fc.Arbitrary<string> = fc.letrec<{ value: string }>((tie) => {
  const space = fc.constantFrom('', '', '', ' ', '\n', '\t\r\n ');
  const key = fc.oneof(
    fc.string({ maxLength: 4 }).map((key) => JSON.stringify(key)),
    fc.constantFrom('"__proto__"', '"constructor"', '"\\u0061"', '"a"', '"\\ud800"', '"\\ud83d\\ude00"', '"😀"'),
  );
  const join = (open: string, close: string) => (items: readonly string[]) => open + items.join(',') + close;
  const scalar = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 12 }).map((text) => JSON.stringify(text)),
    fc.constantFrom(
      '0',
      '-0',
      '1e2',
      '-1.50E-03',
      '9007199254740993',
      'true',
      'false',
      'null',
      '"\\u00e9\\/\\b"',
      '""',
    ),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => JSON.stringify(number)),
  );
  const spaced = fc.tuple(space, tie('value'), space).map((parts) => parts.join(''));
  const memberText = fc
    .tuple(space, key, space, spaced)
    .map(([before, name, after, value]) => `${before}${name}${after}:${value}`);
  return {
    value: fc.oneof(
      { maxDepth: 5 },
      scalar,
      fc.array(spaced, { maxLength: 4 }).map(join('[', ']')),
      fc.array(memberText, { maxLength: 4 }).map(join('{', '}')),
    ),
  };
}).value;

function outcome(bytes: Uint8Array, budgetBytes: number, limits?: Partial<JsonScanLimits>): JsonOutline | JsonProblem {
  const scan = startJsonScan(bytes, limits);
  for (;;) {
    const result = scan.step(budgetBytes);
    if (result !== 'more') return result;
  }
}

function describeNode(node: JsonNode, depth: number): unknown {
  const inner = depth > 0 ? children(node).map((child) => describeNode(child, depth - 1)) : [];
  return [node.kind, node.start, node.end, node.keyStart, node.keyEnd, inner];
}

function comparable(result: JsonOutline | JsonProblem): unknown {
  return result.ok ? describeNode(result.root, 4) : result;
}

/** Scans the text by both ways, which must agree. */
function codeOf(text: string, limits?: Partial<JsonScanLimits>): string {
  const bytes = encoder.encode(text);
  compareScans({ bytes, limits: { ...DEFAULT_JSON_SCAN_LIMITS, ...limits } });
  const result = scanJson(bytes, limits);
  return result.ok ? 'ok' : result.code;
}

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The members and elements of a parsed value in the same shape as `ownValue` returns for a node. */
function ownValue(node: JsonNode): unknown {
  if (node.kind === 'object') return children(node).map((child) => [memberName(child), ownValue(child)]);
  return node.kind === 'array' ? children(node).map(ownValue) : JSON.parse(jsonText(node));
}

function parsedValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(parsedValue);
  if (value === null || typeof value !== 'object') return value;
  return Object.entries(value).map(([key, item]) => [key, parsedValue(item)]);
}

describe('acceptance', () => {
  test('a generated text is valid, or refused only for a repeated key', () => {
    fc.assert(
      fc.property(jsonSource, (text) => {
        expect(['ok', 'duplicate-key']).toContain(codeOf(text));
      }),
      runs,
    );
  });

  test('a text with one byte changed, removed or added is taken exactly when JSON.parse takes it', () => {
    const change = fc.record({
      at: fc.nat(200),
      cut: fc.nat(2),
      add: fc.constantFrom('', ...'{}[],:"\\0-.eEt+ \n\u0001x'),
    });
    let refused = 0;
    fc.assert(
      fc.property(jsonSource, change, (source, { at, cut, add }) => {
        const from = at % (source.length + 1);
        const text = (source.slice(0, from) + add + source.slice(from + cut)).toWellFormed();
        const code = codeOf(text);
        if (code === 'duplicate-key') return;
        if (code !== 'ok') refused++;
        expect(code === 'ok').toBe(parses(text) && !text.startsWith('\uFEFF'));
      }),
      { numRuns: runsOf(3_000) },
    );
    expect(refused).toBeGreaterThan(300);
  });

  test('the outline has the keys and values that JSON.parse finds, in their order', () => {
    const value = fc.jsonValue({ maxDepth: 4 });
    fc.assert(
      fc.property(value, (value) => {
        const result = scanJson(encoder.encode(JSON.stringify(value)), { outlineDepth: 64 });
        if (!result.ok) throw new Error(result.message);
        const parsed = parsedValue(JSON.parse(JSON.stringify(value)));
        // Integer-like keys come first in a JavaScript object, regardless of their place in the text.
        expect(sorted(ownValue(result.root))).toEqual(sorted(parsed));
      }),
      runs,
    );
  });

  test('any size of the steps gives the same outline or the same problem', () => {
    fc.assert(
      fc.property(
        jsonSource,
        fc.nat(300),
        fc.integer({ min: 1, max: 40 }),
        fc.boolean(),
        (source, at, budget, damage) => {
          const bytes = encoder.encode(source);
          if (damage) bytes[at % bytes.length] = (at * 37) & 255;
          const limits = { keyBytesMax: 3, keysPerObjectMax: 3, depthMax: 4 };
          expect(comparable(outcome(bytes, budget, limits))).toEqual(comparable(scanJson(bytes, limits)));
        },
      ),
      { numRuns: runsOf(2_000) },
    );
  });

  test('a text is read alike at any alignment of its memory', () => {
    const text = encoder.encode('{"a":"x\\n\\"yz","bcdef":["0123456789","",""],"g":"\\u0041 é\\\\"}');
    const expected = comparable(scanJson(text));
    for (let shift = 0; shift < 8; shift++) {
      const larger = new Uint8Array(text.length + 16).fill(0x22);
      larger.set(text, shift);
      expect(comparable(scanJson(larger.subarray(shift, shift + text.length)))).toEqual(expected);
    }
  });
});

describe('texts that JSON.parse accepts and the scan refuses', () => {
  test.each([
    ['a repeated key', '{"a":1,"a":2}'],
    ['a repeated key written with an escape', '{"a":1,"\\u0061":2}'],
    ['a repeated key of two surrogates', '{"😀":1,"\\ud83d\\ude00":2}'],
    ['a repeated lone surrogate', '{"\\ud800":1,"\\uD800":2}'],
    ['a repeated empty key', '{"":1,"":2}'],
    ['a repeated __proto__', '{"__proto__":{"a":1},"__proto__":{"b":2}}'],
    ['a repeated key far down', `{"x":[{"y":{"k":1,"l":2,"k":3}}]}`],
    ['the twentieth key again', `{${keys(20)},"k7":0}`],
  ])('%s', (_, text) => {
    expect(codeOf(text)).toBe('duplicate-key');
  });

  test('different lone surrogates and keys of other objects do not repeat', () => {
    expect(codeOf('{"\\ud800":1,"\\ud801":2,"\\ufffd":3,"a":{"a":[{"a":1},{"a":2}]}}')).toBe('ok');
    expect(codeOf(`[{${keys(20)}},{${keys(20)}}]`)).toBe('ok');
  });

  test('invalid UTF-8 in any form, at the first bad byte', () => {
    const forms = [[0xff], [0xc3], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82], [0x80]];
    for (const form of forms) {
      const bytes = Uint8Array.from([0x5b, 0x22, 0x61, ...form, 0x22, 0x5d]);
      const result = outcome(bytes, 1);
      expect(result).toMatchObject({ ok: false, code: 'utf8', offset: 3, line: 1, column: 4, path: '[0]' });
    }
  });

  test('a byte order mark, and a text of nothing', () => {
    expect(codeOf('\uFEFF{}')).toBe('bom');
    expect(codeOf('')).toBe('empty');
    expect(codeOf(' \n ')).toBe('empty');
  });
});

describe('limits, at the limit and one beyond', () => {
  test('depth', () => {
    expect(codeOf('['.repeat(64) + ']'.repeat(64))).toBe('ok');
    expect(codeOf('['.repeat(65) + ']'.repeat(65))).toBe('depth');
    expect(codeOf('{"a":{"a":1}}', { depthMax: 1 })).toBe('depth');
  });

  test('keys per object', () => {
    expect(codeOf(`{${keys(10_000)}}`)).toBe('ok');
    expect(codeOf(`{${keys(10_001)}}`)).toBe('keys');
  });

  test('bytes of a key', () => {
    expect(codeOf(`{"${'k'.repeat(65_536)}":1}`)).toBe('ok');
    expect(codeOf(`{"${'k'.repeat(65_537)}":1}`)).toBe('key-length');
  });

  test('values in the outline', () => {
    expect(codeOf('[1,2,3]', { outlineNodesMax: 4 })).toBe('ok');
    expect(codeOf('[1,2,3,4]', { outlineNodesMax: 4 })).toBe('outline-size');
    expect(codeOf('[[1,2,3,4]]', { outlineNodesMax: 4, outlineDepth: 1 })).toBe('ok');
  });
});

describe('hostile texts', () => {
  test('two million opening brackets are refused at the sixty-fifth', () => {
    expect(scanJson(encoder.encode('['.repeat(2_000_000)))).toMatchObject({ code: 'depth', offset: 64 });
    expect(scanJson(encoder.encode('{"a":'.repeat(400_000)))).toMatchObject({ code: 'depth', offset: 64 * 5 });
  });

  test('a hundred thousand keys are refused at the ten thousand and first', () => {
    expect(codeOf(`{${keys(100_000)}}`)).toBe('keys');
    expect(codeOf(`{${keys(100_000)}}`, { keysPerObjectMax: 200_000 })).toBe('ok');
  });

  test('distinguishes keys that differ only in the middle', () => {
    const pad = 'p'.repeat(300);
    const many = Array.from({ length: 3_000 }, (_, i) => `"${pad}${String(i).padStart(6, '0')}${pad}":0`);
    expect(codeOf(`{${many.join(',')}}`)).toBe('ok');
    expect(codeOf(`{${many.join(',')},${many[1_234]}}`)).toBe('duplicate-key');
  });

  test('a scan changes no prototype', () => {
    expect(codeOf('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}')).toBe('ok');
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  });

  test('a text of 32 MiB is read in steps of 256 KiB that take at most 2 ms each', () => {
    const content = encoder.encode(JSON.stringify('line of code\n\t"quoted" '.repeat(1_000))).length;
    const count = Math.floor((32 * 1024 * 1024 - 2) / (content + 1));
    const piece = JSON.stringify('line of code\n\t"quoted" '.repeat(1_000));
    const scan = startJsonScan(encoder.encode(`[${Array.from({ length: count }, () => piece).join(',')}]`));
    const stepsMs: number[] = [];
    for (let result: unknown = 'more'; result === 'more'; ) {
      const startedMs = performance.now();
      result = scan.step(256 * 1024);
      stepsMs.push(performance.now() - startedMs);
      if (result !== 'more') expect(result).toMatchObject({ ok: true });
    }
    stepsMs.sort((a, b) => a - b);
    expect(stepsMs.length).toBeGreaterThan(120);
    // The machine may be busy with other work: the median shows the time of a step.
    expect(stepsMs[Math.floor(stepsMs.length / 2)]).toBeLessThan(2);
  });
});

describe('messages', () => {
  test.each([
    ['[1,\n  2,,]', "invalid JSON at [2] (line 2, column 5): found ','; expected a value"],
    [
      '{"messages":[{"content":"a\tb"}]}',
      'messages[0].content (line 1, column 27): found a raw control character (byte 0x09)',
    ],
    ['{"a":1,}', "line 1, column 8: found '}'; expected a key in double quotes"],
    ['{"a":.5}', "a (line 1, column 6): found '.'; expected a value"],
    ['{"odd key":[1.e]}', `["odd key"][0] (line 1, column 15): found 'e'; expected a digit after the decimal point`],
    ['{"a":"\\u12g4"}', "a (line 1, column 11): found 'g' in an escape"],
    ['{"a":nul}', "a (line 1, column 6): found a word that begins as 'null'; expected 'null' in full"],
    ['{"a":1', "a (line 1, column 7): found the end of the text; expected ',' or the bracket that closes this value"],
  ])('%s', (text, message) => {
    const result = scanJson(encoder.encode(text));
    expect(result.ok ? '' : result.message).toContain(message);
  });

  test('a scan after a refused one starts afresh', () => {
    const expected = comparable(scanJson(encoder.encode('{"a":[1,"b"]}')));
    scanJson(encoder.encode('{"a":[1,[2,{"b":3,"b":4}]]}'));
    expect(comparable(scanJson(encoder.encode('{"a":[1,"b"]}')))).toEqual(expected);
  });

  test('a scan that ended cannot be asked again', () => {
    const scan = startJsonScan(encoder.encode('1'));
    expect(scan.step(10)).toMatchObject({ ok: true });
    expect(() => scan.step(10)).toThrow('has ended');
  });
});

function keys(count: number): string {
  return Array.from({ length: count }, (_, i) => `"k${i}":0`).join(',');
}

function sorted(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  const items = value.map(sorted);
  return items.every((item) => Array.isArray(item) && item.length === 2 && typeof item[0] === 'string')
    ? items.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
    : items;
}
