/** Tests that an installation runs once, and that a failed one says why. */
import { expect, test } from 'bun:test';
import { readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installOnce } from './install.ts';

test('an installation runs once, and is found again', async () => {
  const installation = {
    name: `test-${process.pid}`,
    entry: 'bin/entry',
    commands: [
      ['mkdir', '-p', 'bin'],
      ['sh', '-c', 'echo run >> bin/entry'],
    ],
  };
  const dir = await installOnce(installation);
  expect(await installOnce(installation)).toBe(dir);
  expect(readFileSync(join(dir, 'bin/entry'), 'utf8')).toBe('run\n');
  rmSync(dir, { recursive: true });
});

test('a command that fails is reported with its last words, one that installs nothing too', async () => {
  const broken = {
    name: `test-broken-${process.pid}`,
    entry: 'entry',
    commands: [['sh', '-c', 'echo no network; exit 1']],
  };
  await expect(installOnce(broken)).rejects.toThrow('failed:\nno network');
  await expect(installOnce({ ...broken, commands: [['true']] })).rejects.toThrow('was installed without its entry');
  rmSync(join(tmpdir(), `tollgate-bench-${broken.name}`), { recursive: true });
});
