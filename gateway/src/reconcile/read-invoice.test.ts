/** Tests what is said of an export that cannot be read. The formats are tested against a gateway. */
import { expect, test } from 'bun:test';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolders } from '../store/testing/temporary-folder.ts';
import { InvoiceError } from './invoice-line.ts';
import { readInvoice } from './read-invoice.ts';

const newFolder = temporaryFolders();

const folder = newFolder();
mkdirSync(join(folder, 'folder.csv'));
symlinkSync('loop.csv', join(folder, 'loop.csv'));
writeFileSync(join(folder, 'empty.csv'), '');

const LONG = `${'a'.repeat(300)}.csv`;

test.each([
  ['missing.csv', 'there is no such file'],
  ['empty.csv/in-a-file.csv', 'there is no such file'],
  ['folder.csv', 'found a folder or a device, expected a file'],
  ['loop.csv', 'the file cannot be read (ELOOP)'],
  [LONG, 'the file cannot be read (ENAMETOOLONG)'],
  ['empty.csv', 'found no entries'],
])('an export that cannot be read is named with the reason: %s', async (name, why) => {
  const path = join(folder, name);
  const fault = await readInvoice(path).catch((found: unknown) => found);
  expect(fault).toBeInstanceOf(InvoiceError);
  expect(String(fault)).toEndWith(`${path}: ${why}`);
});
