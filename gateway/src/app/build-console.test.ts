/**
 * Tests that the console is built once, completely, and apart from the files that another process serves. Every test
 * run begins with the real build.
 */
import { expect, onTestFinished, test } from 'bun:test';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildConsole } from './build-console.ts';

function newFolder(): string {
  const builds = mkdtempSync(join(tmpdir(), 'tollgate-builds-'));
  onTestFinished(() => rmSync(builds, { recursive: true }));
  return builds;
}

function contentOf(builds: string): string[] {
  return readdirSync(builds)
    .map((name) => join(builds, name))
    .sort();
}

test('two concurrent starts build one console and delete only builds that are not in use', async () => {
  const builds = newFolder();
  for (const name of ['former', 'building-now', 'building-killed']) mkdirSync(join(builds, name));
  utimesSync(join(builds, 'building-killed'), 0, 0);
  const both = Promise.withResolvers<void>();
  let building = 0;
  const build = async (folder: string): Promise<void> => {
    building += 1;
    if (building === 2) both.resolve();
    await both.promise;
    writeFileSync(join(folder, 'index.html'), 'built');
  };
  const [one, other] = await Promise.all([buildConsole(builds, build), buildConsole(builds, build)]);
  expect(building).toBe(2);
  expect(one).toBe(other);
  expect(readFileSync(join(one, 'index.html'), 'utf8')).toBe('built');
  expect(contentOf(builds)).toEqual([join(builds, 'building-now'), one].sort());
});

test('an existing build is reused, and a failed build leaves nothing', async () => {
  const builds = newFolder();
  const fail = () => Promise.reject(new Error('no such icon'));
  await expect(buildConsole(builds, fail)).rejects.toThrow('no such icon');
  expect(contentOf(builds)).toEqual([]);
  const built = await buildConsole(builds, async (folder) => writeFileSync(join(folder, 'index.html'), 'built'));
  expect(await buildConsole(builds, fail)).toBe(built);
});

test('the console of this run was built whole', async () => {
  const built = await buildConsole(undefined, () => Promise.reject(new Error('it is not built')));
  expect(readFileSync(join(built, 'index.html'), 'utf8')).toContain('/app/assets/');
  expect(existsSync(join(built, 'assets'))).toBe(true);
});
