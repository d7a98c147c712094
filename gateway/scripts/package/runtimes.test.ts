/** Tests that Bun for another machine is only used if it is the file of the lock file. */
import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolders } from '../../src/store/testing/temporary-folder.ts';
import { checkIntegrity } from './runtimes.ts';

const newFolder = temporaryFolders();

test('a file with another checksum is refused', () => {
  const file = join(newFolder(), 'bun.tgz');
  writeFileSync(file, 'bun');
  const integrity = `sha512-${new Bun.CryptoHasher('sha512').update('bun').digest('base64')}`;
  expect(() => checkIntegrity(file, integrity)).not.toThrow();
  writeFileSync(file, 'not bun');
  expect(() => checkIntegrity(file, integrity)).toThrow('is not the file of package-lock.json');
});
