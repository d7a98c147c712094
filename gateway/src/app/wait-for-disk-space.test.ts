/** Tests that a start waits for disk space, and for nothing else. */
import { expect, test } from 'bun:test';
import { Unavailable } from '../store/ports/store-errors.ts';
import { nameSqliteFault } from '../store/sqlite/sqlite-fault.ts';
import { waitForDiskSpace } from './wait-for-disk-space.ts';

const coded = (code: string) => Object.assign(new Error(`it failed: ${code}`), { code });

test.each([
  new Unavailable('full', 'no room'),
  coded('ENOSPC'),
  coded('EDQUOT'),
  coded('SQLITE_FULL'),
  nameSqliteFault(coded('SQLITE_IOERR_SHMSIZE')),
])('a start that meets %p is retried, and reports it once', async (fault) => {
  const reports: unknown[] = [];
  let tries = 0;
  const start = async () => {
    tries += 1;
    if (tries < 4) throw fault;
    return 'started';
  };
  expect(await waitForDiskSpace(start, { warn: (...words: unknown[]) => void reports.push(words.at(-1)) }, 1)).toBe(
    'started',
  );
  expect(reports).toEqual([
    expect.stringContaining('the disk is full: the server cannot start'),
    'the disk has free space again; continuing to start',
  ]);
});

test.each([
  new Unavailable('incompatible', 'another program'),
  coded('EACCES'),
  coded('SQLITE_IOERR_READ'),
  new Error('x'),
])('%p ends the start', async (fault) => {
  let tries = 0;
  const started = waitForDiskSpace(
    async () => {
      tries += 1;
      throw fault;
    },
    { warn: () => undefined },
    1,
  );
  await expect(started).rejects.toBe(fault);
  expect(tries).toBe(1);
});
