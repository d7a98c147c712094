/** Checks that the console is built once, whole, and aside of what others serve. Builds it: a few seconds. */
import { expect, onTestFinished, test } from 'bun:test';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildConsole } from './build-console.ts';

test('two starts at once build one console, and take away only what nobody builds or serves', async () => {
  const builds = mkdtempSync(join(tmpdir(), 'tollgate-builds-'));
  onTestFinished(() => rmSync(builds, { recursive: true }));
  for (const name of ['former', 'building-now', 'building-killed']) mkdirSync(join(builds, name));
  utimesSync(join(builds, 'building-killed'), 0, 0);
  const [one, other] = await Promise.all([buildConsole(builds), buildConsole(builds)]);
  expect(one).toBe(other);
  expect(existsSync(join(one, 'index.html'))).toBe(true);
  expect(
    readdirSync(builds)
      .map((name) => join(builds, name))
      .sort(),
  ).toEqual([join(builds, 'building-now'), one].sort());
}, 60_000);
