/** Shows that SSE bodies fall into records without losing a byte, and that the usage in them is found. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { concatBytes, splitRecords, textOf, utf8 } from './body-part.ts';

const line = fc.oneof(
  fc.constantFrom('data: {"a":1}', 'event: ping', ': comment', 'data: [DONE]', 'data:é🌊', ''),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
);
const body = fc
  .array(fc.tuple(line, fc.constantFrom('\n', '\r\n', '\r', '\n\n', '\r\n\r\n', '\r\r', '')), { maxLength: 30 })
  .map((lines) => lines.flat().join(''));

describe('splitting an SSE body', () => {
  test('keeps every byte in its place', () => {
    fc.assert(
      fc.property(body, (text) => {
        const bytes = utf8(text);
        expect(concatBytes(splitRecords(bytes).map((part) => part.bytes))).toEqual(bytes);
      }),
    );
  });

  test('ends a record at its blank line, whichever line end it uses', () => {
    for (const end of ['\n', '\r\n', '\r']) {
      const text = `event: a${end}data: 1${end}${end}data: 2${end}${end}data: 3${end}`;
      const records = splitRecords(utf8(text)).map((part) => textOf(part.bytes));
      expect(records).toEqual([`event: a${end}data: 1${end}${end}`, `data: 2${end}${end}`, `data: 3${end}`]);
    }
  });

  test('gives a part the usage that its data reports, of either protocol', () => {
    const chat = 'data: {"choices":[],"usage":{"prompt_tokens":3}}\n\n';
    const start = 'event: message_start\ndata: {"message":{"usage":{"input_tokens":4}}}\n\n';
    const none = 'data: {"choices":[],"usage":null}\n\ndata: {"usage":\n\n';
    const found = splitRecords(utf8(chat + start + none)).map((part) => part.usage);
    expect(found).toEqual([{ prompt_tokens: 3 }, { input_tokens: 4 }, null, null]);
  });
});
