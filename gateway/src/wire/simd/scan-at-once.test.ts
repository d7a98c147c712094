/** Tests that the scan at once accepts common texts, and that it agrees with the scan by steps on generated texts. */
import { describe, expect, test } from 'bun:test';
import { resolve } from 'node:path';
import { agentBody, chatBody } from '../../../../bench/wire/bodies.ts';
import { buildScanner, SCANNER_MODULE } from '../../../scripts/build-scanner.ts';
import { SEED } from '../../../test/harness/exhaustive.ts';
import { DEFAULT_JSON_SCAN_LIMITS } from '../json-limits.ts';
import { scanAtOnce } from '../json-scan.ts';
import { compareScans } from '../testing/compare-scans.ts';
import { JsonTexts } from '../testing/json-texts.ts';
import { recordedBodies } from '../testing/recorded-bodies.ts';

const TEXTS = process.env.TOLLGATE_EXHAUSTIVE === '1' ? 150_000 : 4_000;
const MIB = 1024 * 1024;

function comparisonOf(text: string | Uint8Array, limits = DEFAULT_JSON_SCAN_LIMITS): string {
  return compareScans({ bytes: Buffer.from(text), limits });
}

/** Objects of the same keys, `count` in each. */
function objects(count: number): string {
  const members = Array.from({ length: count }, (_, index) => `"a longer key ${index}":{"a longer key ${index}":1}`);
  return `[{${members}},{${members}}]`;
}

test('the committed module is what the compiler makes: run `npm run scanner`', async () => {
  expect(await Bun.file(SCANNER_MODULE).text()).toBe(buildScanner());
}, 60_000);

describe('texts that are scanned at once', () => {
  test('requests and answers of the recorded interactions', () => {
    const bodies = recordedBodies();
    const left = bodies.filter((body) => comparisonOf(body) !== 'accepted');
    expect(bodies.length).toBeGreaterThan(50);
    expect(left.length).toBeLessThan(bodies.length / 20);
  });

  test.each([
    ['a small request', chatBody()],
    ['a coding agent’s request', agentBody()],
    ['the same with line ends', JSON.stringify(JSON.parse(Buffer.from(agentBody()).toString()), null, 2)],
    ['one value', '-12.5e-3'],
    ['objects of one key', objects(1)],
    ['objects of three keys', objects(3)],
    ['objects of five keys', objects(5)],
    ['keys that an inner object had before', '{"a":{"b":1,"c":[{"d":1}]},"b":2,"d":{},"c":3}'],
    ['an object of the most keys', objects(128)],
    ['a key of the most bytes', `{"${'k'.repeat(128)}":1}`],
    ['characters of several bytes', JSON.stringify({ é: ['人工智能', '😀'] })],
    ['escapes', JSON.stringify({ a: ['\n"\\'.repeat(500), '\u0001\ud800'] })],
    [
      'numbers and words across borders',
      JSON.stringify(Array.from({ length: 90 }, (_, i) => [10 ** i, i % 3 > 1, null])),
    ],
    ['the most nesting', `${'['.repeat(64)}${']'.repeat(64)}`],
    ['more values than a chunk of the tape', `[${'1,'.repeat(40_000)}1]`],
    ['a MiB', `"${'x'.repeat(MIB - 2)}"`],
  ])('%s', (_, text) => {
    expect(comparisonOf(text)).toBe('accepted');
  });
});

test.each([
  ['a byte more than a MiB', `"${'x'.repeat(MIB - 1)}"`],
  ['a key with an escape', '{"\\u0061":1}'],
  ['a key of more bytes', `{"${'k'.repeat(129)}":1}`],
  ['an object of more keys', objects(129)],
  ['more values than the memory holds', `[${'1,'.repeat(70_000)}1]`],
  ['more structure than is good to scan in one go', `[[[[[[[${'1,'.repeat(70_000)}1]]]]]]]`],
])('a text that is left to the scan by steps: %s', (_, text) => {
  expect(comparisonOf(text)).toBe('left');
});

test('a text is not read into the one before it', () => {
  const words = ['"', '1', 'e1', '.5', ',2]', ']', '}', 'ue', 'l', '\\"]', '041"]', ' '];
  const unfinished = [
    '["a',
    '["a\\',
    '["\\u0',
    '[1',
    '[1.',
    '[1e',
    '[-',
    '[tr',
    '[nul',
    '[',
    '{"a":',
    '{"a":1',
    '[1,',
    '',
  ];
  for (const start of unfinished) {
    for (const word of words) {
      comparisonOf(word.repeat(300));
      for (let blanks = 0; blanks < 66; blanks += 5) expect(comparisonOf(' '.repeat(blanks) + start)).toBe('invalid');
    }
  }
});

test('limits below those of the scanner hold', () => {
  const limits = { depthMax: 2, keysPerObjectMax: 2, keyBytesMax: 2, outlineDepth: 1, outlineNodesMax: 3 };
  expect(comparisonOf('{"aa":[1,2],"b":{}}', limits)).toBe('accepted');
  for (const text of ['[[[]]]', '{"a":1,"b":1,"c":1}', '{"aaa":1}', '[1,2,3]'])
    expect(comparisonOf(text, limits)).toBe('invalid');
});

test(`${TEXTS} generated texts get the same verdict, tape and problem by both ways`, () => {
  const texts = new JsonTexts(SEED, recordedBodies());
  const counts = { accepted: 0, left: 0, invalid: 0 };
  for (let count = 0; count < TEXTS; count++) counts[compareScans(texts.next())]++;
  expect(counts.accepted).toBeGreaterThan(TEXTS / 4);
  expect(counts.invalid).toBeGreaterThan(TEXTS / 4);
}, 60_000);

test('without SIMD the scan by steps does all', async () => {
  const scan = `
    import { scanAtOnce } from '../json-scan.ts';
    import { scanJson } from '../json-scan.ts';
    import { DEFAULT_JSON_SCAN_LIMITS } from '../json-limits.ts';
    const bytes = Buffer.from('{"a":1}');
    console.log(scanAtOnce(bytes, DEFAULT_JSON_SCAN_LIMITS), scanJson(bytes).ok);`;
  expect(scanAtOnce(Buffer.from('{"a":1}'), DEFAULT_JSON_SCAN_LIMITS)).not.toBeNull();
  const running = Bun.spawn([process.execPath, '-e', scan], {
    cwd: resolve(import.meta.dir),
    env: { ...process.env, BUN_JSC_useWasmSIMD: '0' },
    stdout: 'pipe',
  });
  expect(await new Response(running.stdout).text()).toBe('null true\n');
});
