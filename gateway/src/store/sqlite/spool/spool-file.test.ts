/** Tests the spool's file: it contains exactly what was added, and its space is allocated on disk. */
import { expect, test } from 'bun:test';
import { readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { outcomeOf } from '../../contracts/store-rig.ts';
import { temporaryFolders } from '../../testing/temporary-folder.ts';
import { openSpoolFile, readFrames } from './spool-file.ts';

const newFolder = temporaryFolders();
const newPath = () => join(newFolder(), 'spool');
const ROOM_BYTES = 100_000;
const nothing = () => undefined;

function entriesOf(path: string): readonly string[] {
  const { entries, problem } = readFrames(readFileSync(path));
  expect(problem).toBeNull();
  return entries;
}

test('entries lie in the order in which they were added, at once or one after another, within the room', async () => {
  const path = newPath();
  const file = await openSpoolFile(path, nothing);
  await file.reserve(ROOM_BYTES);
  await Promise.all(['a', 'b'].map((entry) => file.append(entry, nothing)));
  await file.append('c', nothing);
  expect(entriesOf(path)).toEqual(['a', 'b', 'c']);
  await file.close();
  expect(statSync(path).size).toBe(ROOM_BYTES);
});

test('more than the room is taken where the disk has it, and more room leaves what is there', async () => {
  const path = newPath();
  const file = await openSpoolFile(path, nothing);
  await file.reserve(10);
  await file.append('x'.repeat(1_000), nothing);
  expect(file.roomBytes).toBeGreaterThan(1_000);
  await file.reserve(ROOM_BYTES);
  await file.append('y', nothing);
  expect(entriesOf(path).map((entry) => entry[0])).toEqual(['x', 'y']);
  await file.close();
});

test('what was drained is gone, what was not stays', async () => {
  const path = newPath();
  const file = await openSpoolFile(path, nothing);
  await file.append('a', nothing);
  await file.drainBy(async () => false);
  expect(entriesOf(path)).toEqual(['a']);
  const begun: string[] = [];
  const drained = file.drainBy(async () => begun.push('drain') > 0);
  await file.append('b', () => begun.push('append'));
  await drained;
  expect([entriesOf(path), begun]).toEqual([['b'], ['drain', 'append']]);
  await file.close();
});

test('an entry that could not be kept is told of, and the next one takes its place', async () => {
  const path = newPath();
  let failing = true;
  const file = await openSpoolFile(path, (point) => {
    if (failing && point === 'before-spool-append') throw new Error('no disk');
  });
  expect(await outcomeOf(file.append('lost', nothing))).toContain('no disk');
  failing = false;
  await file.append('kept', nothing);
  expect(entriesOf(path)).toEqual(['kept']);
  await file.close();
});

test('it opens with nothing in it, whatever was there, and as large', async () => {
  const path = newPath();
  writeFileSync(path, Buffer.alloc(ROOM_BYTES, 'old'));
  const file = await openSpoolFile(path, nothing);
  expect([entriesOf(path), file.roomBytes]).toEqual([[], ROOM_BYTES]);
  expect(readFileSync(path).equals(Buffer.alloc(ROOM_BYTES))).toBe(true);
  await file.close();
});

test('the holes of a copy are filled, for they are no room', async () => {
  const path = newPath();
  writeFileSync(path, '');
  truncateSync(path, ROOM_BYTES);
  expect(statSync(path).blocks).toBe(0);
  const file = await openSpoolFile(path, nothing);
  await file.append('a', nothing);
  await file.reserve(ROOM_BYTES);
  expect([entriesOf(path), file.roomBytes]).toEqual([['a'], ROOM_BYTES]);
  await file.close();
  expect(statSync(path).blocks * 512).toBeGreaterThanOrEqual(ROOM_BYTES);
});
