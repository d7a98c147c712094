/** Tests that images inside tool results are counted separately from text. */
import { expect, test } from 'bun:test';
import { scanJson } from '../../wire/json-scan.ts';
import { type MediaTally, tallyNested } from './request-facts.ts';

function tallied(value: unknown, indent = 0): MediaTally {
  const outline = scanJson(Buffer.from(JSON.stringify(value, null, indent)), { outlineDepth: 1 });
  if (!outline.ok) throw new Error(outline.message);
  const tally = { bytes: 0, parts: 0 };
  tallyNested(tally, outline.root);
  return tally;
}

const image = (bytes: number) => ({
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data: 'A'.repeat(bytes) },
});

test.each([0, 2])('an image in a result counts as one part and its bytes (indented by %i)', (indent) => {
  const result = { type: 'tool_result', content: [{ type: 'text', text: 'see' }, image(50_000), image(3_000)] };
  expect(tallied(result, indent)).toEqual({ bytes: 53_002, parts: 2 });
});

test('text that only speaks of data, and short values, are text', () => {
  const words = 'x'.repeat(5_000);
  expect(tallied({ text: words, data: words })).toEqual({ bytes: 0, parts: 0 });
  expect(tallied({ note: 'base64', data: 'A'.repeat(100), text: words })).toEqual({ bytes: 0, parts: 0 });
  expect(tallied({ a: `"base64" "data" : ${words}`, b: words })).toEqual({ bytes: 0, parts: 0 });
});
