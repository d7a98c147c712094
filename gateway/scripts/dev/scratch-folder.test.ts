/** Tests scratch-folder.ts: one lasting key per checkout, and no folder of another user. */
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { forgetScratch, openScratch, scratchFolder } from './scratch-folder.ts';

let home = '';

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'tollgate-test-'));
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

test('the key stays the same until the folder is forgotten', async () => {
  const folder = join(home, 'dev');
  const { key } = await openScratch(folder);
  expect(key).toMatch(/^tg_[0-9A-Za-z]{49}$/);
  expect((await openScratch(folder)).key).toBe(key);
  expect(statSync(join(folder, 'key')).mode & 0o777).toBe(0o600);
  forgetScratch(folder);
  expect((await openScratch(folder)).key).not.toBe(key);
});

test('each checkout has a folder of its own, the same every time', () => {
  expect(scratchFolder('/one')).toBe(scratchFolder('/one'));
  expect(scratchFolder('/one')).not.toBe(scratchFolder('/two'));
});

test('a folder that others can look into is refused', async () => {
  const folder = join(home, 'open');
  mkdirSync(folder);
  chmodSync(folder, 0o755);
  await expect(openScratch(folder)).rejects.toThrow(/not owned by you alone/);
});

test('a link to another folder is refused', async () => {
  const target = join(home, 'target');
  mkdirSync(target, { mode: 0o700 });
  symlinkSync(target, join(home, 'link'));
  await expect(openScratch(join(home, 'link'))).rejects.toThrow(/not owned by you alone/);
});
