/**
 * Tests that new content is noticed however it arrives, and that nothing else is. Waits for callbacks, never for time.
 */
import { afterEach, beforeEach, expect, test } from 'bun:test';
import {
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runWithFewDescriptors } from '../../../test/harness/few-descriptors.ts';
import { type ConfigWatch, watchConfig } from './watch-config.ts';

const LOOK_EVERY_MS = 10;
let folder = '';
let file = '';
let watching: ConfigWatch | null = null;
let changes = 0;
let wake: (() => void) | null = null;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-watch-'));
  file = join(folder, 'tollgate.yaml');
  writeFileSync(file, 'a: 1\n');
  changes = 0;
});
afterEach(() => {
  watching?.stop();
  rmSync(folder, { recursive: true });
});

function start(path = file): void {
  const onChange = () => {
    changes += 1;
    wake?.();
  };
  watching = watchConfig(path, onChange, LOOK_EVERY_MS);
}

/** Resolves when the number of changes is reached; otherwise the test's own time limit ends the wait. */
async function reach(count: number): Promise<void> {
  while (changes < count) {
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }
  expect(changes).toBe(count);
}

test('detects a file that is written in place', async () => {
  start();
  writeFileSync(file, 'a: 2\n');
  await reach(1);
});

test('detects each of several changes', async () => {
  start();
  for (let count = 1; count <= 4; count++) {
    writeFileSync(file, `a: ${count + 1}\n`);
    await reach(count);
  }
});

test('detects a file that an editor replaces by rename, repeatedly', async () => {
  start();
  for (let count = 1; count <= 3; count++) {
    writeFileSync(`${file}.swp`, `a: new ${count}\n`);
    renameSync(`${file}.swp`, file);
    await reach(count);
  }
});

test('detects a folder swapped behind symbolic links', async () => {
  for (const [version, text] of [
    ['v1', 'a: 1\n'],
    ['v2', 'a: 2\n'],
  ] as const) {
    mkdirSync(join(folder, version));
    writeFileSync(join(folder, version, 'x.yaml'), text);
  }
  symlinkSync('v1', join(folder, '..data'));
  symlinkSync('..data/x.yaml', join(folder, 'x.yaml'));
  start(join(folder, 'x.yaml'));
  symlinkSync('v2', join(folder, '..new'));
  renameSync(join(folder, '..new'), join(folder, '..data'));
  await reach(1);
});

test('a file deleted and recreated with new content is one change', async () => {
  start();
  unlinkSync(file);
  writeFileSync(file, 'a: back\n');
  await reach(1);
});

test('touching the file or rewriting the same content is no change', async () => {
  start();
  utimesSync(file, new Date(), new Date(2_000_000_000_000));
  writeFileSync(file, 'a: 1\n');
  // The callback of a second watch on the same file proves that the file was checked after the touch.
  const marker = join(folder, 'marker');
  writeFileSync(marker, '1');
  for (let round = 0; round < 5; round++) {
    const seen = Promise.withResolvers<void>();
    const other = watchConfig(marker, seen.resolve, LOOK_EVERY_MS);
    writeFileSync(marker, `round ${round}`);
    await seen.promise;
    other.stop();
  }
  expect(changes).toBe(0);
  writeFileSync(file, 'a: 2\n');
  await reach(1);
});

test('nothing is called after stop', async () => {
  start();
  watching?.stop();
  writeFileSync(file, 'a: 2\n');
  const seen = Promise.withResolvers<void>();
  const marker = join(folder, 'marker');
  writeFileSync(marker, '1');
  const other = watchConfig(marker, seen.resolve, LOOK_EVERY_MS);
  writeFileSync(marker, '2');
  await seen.promise;
  other.stop();
  expect(changes).toBe(0);
});

test('content that cannot be read at first, for want of a file descriptor, is detected later', () => {
  const script = `
    import { openSync, writeSync } from 'node:fs';
    import { watchConfig } from '${import.meta.dirname}/watch-config.ts';
    const changed = new Promise((resolve) => watchConfig('${file}', resolve, ${LOOK_EVERY_MS}));
    const written = openSync('${file}', 'r+');
    fill();
    writeSync(written, 'a: 2\\n', 0);
    // Long enough for many checks.
    await Bun.sleep(300);
    free();
    setTimeout(() => process.exit(1), 3_000);
    await changed;
    process.exit(0);
  `;
  expect(runWithFewDescriptors(script, 64)).toEqual({ output: '', exitCode: 0 });
});
