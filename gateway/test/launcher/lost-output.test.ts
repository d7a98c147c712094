/** Tests the end of a command whose output is not taken: a reader that left, and a full disk. */
import { expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

const MAIN = resolve(import.meta.dir, '../../src/main.ts');

function runInShell(line: string): { status: number; stdout: string; stderr: string } {
  const { exitCode, stdout, stderr } = Bun.spawnSync(['sh', '-c', line, process.execPath, MAIN]);
  return { status: exitCode, stdout: stdout.toString(), stderr: stderr.toString() };
}

test('a reader that has enough ends a command without a word', () => {
  // The schema is longer than what a pipe holds.
  const { stdout, stderr } = runInShell('{ "$0" "$1" check --schema; echo "status $?" >&2; } | head -n 1');
  expect([stdout, stderr]).toEqual(['{\n', 'status 0\n']);
});

test.skipIf(!existsSync('/dev/full'))('a full disk fails a command with a sentence (needs /dev/full)', () => {
  const { status, stderr } = runInShell('"$0" "$1" check --schema > /dev/full');
  expect(status).toBe(1);
  expect(stderr).toMatch(/^The output cannot be written: ENOSPC.*\n$/);
});
