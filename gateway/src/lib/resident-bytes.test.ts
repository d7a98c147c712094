/** Tests that the resident memory can be read also while no file descriptor is free. */
import { expect, test } from 'bun:test';

const SCRIPT = `
import { openSync } from 'node:fs';
import { residentBytes } from '${import.meta.dirname}/resident-bytes.ts';
const before = residentBytes();
try {
  for (;;) openSync('/dev/null', 'r');
} catch {}
console.log(before > 1_000_000, residentBytes() === before);
`;

test('without a free descriptor the last reading stands', () => {
  const { stdout, stderr } = Bun.spawnSync(['sh', '-c', 'ulimit -n 64; exec "$0" -e "$1"', process.execPath, SCRIPT]);
  expect([stdout.toString(), stderr.toString()]).toEqual(['true true\n', '']);
});
