/** Tests the parsing of CSV: quotes, NULL, pieces cut anywhere, and limits. */
import { describe, expect, test } from 'bun:test';
import { CsvError, parseCsv } from './csv-records.ts';

async function* pieces(text: string, size: number) {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size);
}

async function parse(text: string, size = text.length + 1) {
  return Array.fromAsync(parseCsv(pieces(text, size)), ({ fields }) => [...fields]);
}

describe('parseCsv', () => {
  test('reads the same wherever the text is cut, inside quotes and characters too', async () => {
    const text = 'a,"b ""q"", ü",\r\n\r\n,"",x\n"line\nbreak",2,3';
    const expected = [
      ['a', 'b "q", ü', null],
      [null, '', 'x'],
      ['line\nbreak', '2', '3'],
    ];
    for (let size = 1; size <= text.length + 2; size++) expect(await parse(text, size)).toEqual(expected);
  });

  test('names the line of a record, after line breaks in quotes', async () => {
    const records = await Array.fromAsync(parseCsv(pieces('"a\nb"\nc\n', 3)));
    expect(records.map(({ line }) => line)).toEqual([1, 3]);
  });

  test('an empty file has no record', async () => expect(await parse('')).toEqual([]));

  for (const [name, text, message] of [
    ['an open quote', 'a\n"b', 'line 2: a quote is not closed'],
    ['text after a quote', 'a\n"b"c', 'line 2: found text after a closing quote'],
    ['a huge field', `a\n${'x'.repeat(1_048_577)}`, 'more than 1048576 characters'],
    ['too many fields', ','.repeat(1_001), 'more than 1000 fields'],
  ] as const) {
    test(`refuses ${name}`, async () => {
      const failure = await parse(text, 1_000).catch((fault: unknown) => fault);
      expect(failure).toBeInstanceOf(CsvError);
      expect(String(failure)).toContain(message);
    });
  }

  test('refuses bytes that are no UTF-8', async () => {
    const bytes = (async function* () {
      yield new Uint8Array([97, 10, 0xff, 0xfe]);
    })();
    expect(await Array.fromAsync(parseCsv(bytes)).catch(String)).toContain('no UTF-8');
  });
});
