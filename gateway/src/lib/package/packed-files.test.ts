/** Tests that packed files come back byte for byte, and that the same files pack to the same bytes. */
import { expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packFiles, readFolder, unpackFiles } from './packed-files.ts';

test('a folder comes back byte for byte, whatever its bytes and names are', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-packed-'));
  try {
    mkdirSync(join(folder, 'assets/deep'), { recursive: true });
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index));
    writeFileSync(join(folder, 'assets/deep/all-bytes'), bytes);
    writeFileSync(join(folder, 'index.html'), 'ä€😀');
    writeFileSync(join(folder, 'empty'), '');
    const files = readFolder(folder);
    expect([...files.keys()].sort()).toEqual(['assets/deep/all-bytes', 'empty', 'index.html']);
    const back = unpackFiles(Buffer.from(packFiles(files)));
    expect(back.get('assets/deep/all-bytes')).toEqual(bytes);
    expect(back.get('index.html')?.toString()).toBe('ä€😀');
    expect(back.get('empty')).toEqual(Buffer.alloc(0));
    expect(back.size).toBe(3);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('the same files pack to the same bytes, in whatever order they were read', () => {
  const one = packFiles(
    new Map([
      ['a', Buffer.from('1')],
      ['b', Buffer.from('2')],
    ]),
  );
  const other = packFiles(
    new Map([
      ['b', Buffer.from('2')],
      ['a', Buffer.from('1')],
    ]),
  );
  expect(Buffer.from(one).equals(Buffer.from(other))).toBe(true);
});
