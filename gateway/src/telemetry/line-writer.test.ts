/** Tests that lines are written whole and in order, and that a reader who takes nothing costs lines, not time or memory. */
import { expect, test } from 'bun:test';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LineWriter } from './line-writer.ts';

test('lines arrive whole and in order', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-lines-'));
  const path = join(folder, 'log');
  const file = openSync(path, 'w');
  const lines = new LineWriter(file);
  const given = Array.from({ length: 3_000 }, (_, at) => `line ${at} ${'x'.repeat(at % 90)}\n`);
  for (const line of given) lines.write(line);
  await lines.close();
  expect(readFileSync(path, 'utf8')).toBe(given.join(''));
  expect(lines.dropped).toBe(0);
  closeSync(file);
  rmSync(folder, { recursive: true });
});

test('beyond the bound lines are dropped and counted', async () => {
  const file = openSync('/dev/null', 'w');
  const lines = new LineWriter(file, 1_000);
  for (let at = 0; at < 100; at++) lines.write(`${'y'.repeat(99)}\n`);
  expect(lines.dropped).toBe(90);
  await lines.close();
  closeSync(file);
});
