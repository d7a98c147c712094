/** Tests what is said of files of LiteLLM that cannot be read. */
import { expect, test } from 'bun:test';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolders } from '../../store/testing/temporary-folder.ts';
import { readLiteLlmConfig } from './read-config.ts';
import { ExportError, readExport } from './read-export.ts';

const newFolder = temporaryFolders();

const folder = newFolder();
symlinkSync('loop', join(folder, 'loop'));
writeFileSync(join(folder, 'file'), 'model_list: {\n');
for (const name of ['csv/LiteLLM_TeamTable.csv', 'json/LiteLLM_TeamTable.json']) {
  mkdirSync(join(folder, name), { recursive: true });
}
mkdirSync(join(folder, 'history'));
symlinkSync('nowhere', join(folder, 'history/LiteLLM_SpendLogs.csv'));

test.each([
  ['missing', 'missing: there is no such file or folder'],
  ['file/inside', 'file/inside: there is no such file'],
  ['loop', 'loop: the file cannot be read (ELOOP)'],
  ['csv', 'csv/LiteLLM_TeamTable.csv: found a folder, expected a file'],
  ['json', 'json/LiteLLM_TeamTable.json: found a folder, expected a file'],
  ['history', 'history/LiteLLM_SpendLogs.csv: there is no such file'],
])('an export that cannot be read is named with the reason: %s', async (name, message) => {
  const fault = await readExport(join(folder, name)).catch((found: unknown) => found);
  expect(fault).toBeInstanceOf(ExportError);
  expect(String(fault)).toEndWith(join(folder, message));
});

test.each([
  ['missing', 'missing: there is no such file'],
  ['file/inside', 'file/inside: there is no such file'],
  ['csv', 'csv: found a folder or a device, expected a file'],
  ['loop', 'loop: the file cannot be read (ELOOP)'],
  ['file', 'file: Flow map in block collection must be sufficiently indented and end with a } at line 2, column 1'],
])('a configuration that cannot be read is named with the reason, in one line: %s', (name, message) => {
  const read = () => readLiteLlmConfig(join(folder, name));
  expect(read).toThrow(ExportError);
  expect(read).toThrow(new RegExp(`${RegExp.escape(join(folder, message))}$`));
});
