/** Tests CSV replies: a file that could not be completed does not look complete. */
import { expect, test } from 'bun:test';
import { csvLine } from '../../lib/tables/csv-line.ts';
import { csvResponse } from './handlers.ts';

test('a file that fails midway fails for its reader, and is logged', async () => {
  async function* lines(): AsyncGenerator<string> {
    yield csvLine(['id']);
    throw new Error('the disk is gone');
  }
  const faults: unknown[] = [];
  const response = csvResponse({ name: 'a.csv', lines: lines() }, new Headers(), (cause) => faults.push(cause));
  await expect(response.text()).rejects.toThrow('the disk is gone');
  expect(faults.map(String)).toEqual(['Error: the disk is gone']);
});

test('a cell that a spreadsheet would run starts with a quote mark, with any sign and any white space before it', () => {
  for (const sign of ['=', '+', '-', '@', '|', '＝', '＋', '－', '＠', '｜', '−', '﹦']) {
    for (const before of ['', ' ', '   ', '\u00a0', '\u3000', '\u200b', '\ufeff', ' \u200b\t', '\u0000']) {
      const cell = `${before}${sign}cmd`;
      expect([cell, csvLine([cell])]).toEqual([cell, `"'${cell}"\r\n`]);
    }
  }
  for (const cell of ['\tx', '\rx', '\nx']) expect(csvLine([cell])).toBe(`"'${cell}"\r\n`);
  for (const cell of [' plain', 'a=b', '-5', '-0.25', '\u200bname', '｟x']) expect(csvLine([cell])).toBe(`${cell}\r\n`);
});
