/** Tests of csv.ts: a file that could not be made to its end does not look whole. */
import { expect, test } from 'bun:test';
import { csvLine, csvResponse } from './csv.ts';

test('a file whose lines end in a fault ends in one for its reader, and the operator is told', async () => {
  async function* lines(): AsyncGenerator<string> {
    yield csvLine(['id']);
    throw new Error('the disk is gone');
  }
  const faults: unknown[] = [];
  const response = csvResponse({ name: 'a.csv', lines: lines() }, new Headers(), (cause) => faults.push(cause));
  await expect(response.text()).rejects.toThrow('the disk is gone');
  expect(faults.map(String)).toEqual(['Error: the disk is gone']);
});
