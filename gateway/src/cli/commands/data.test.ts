/** Tests what the commands on the data folder say where a file is in its place. */
import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { temporaryFolders } from '../../store/testing/temporary-folder.ts';
import { CliFailure } from '../environment.ts';
import { register } from './data.ts';

const newFolder = temporaryFolders();

for (const words of [['verify'], ['backup', 'copy'], ['replace-master-key', '--lost']]) {
  test(`${words[0]} names a file in the place of the data folder`, async () => {
    const dataDir = join(newFolder(), 'data');
    writeFileSync(dataDir, '');
    const program = new Command().exitOverride();
    const silent = () => undefined;
    register(program, { dataDir, stdout: silent, stderr: silent, nowMs: Date.now });
    const fault: unknown = await program.parseAsync(words, { from: 'user' }).catch((found: unknown) => found);
    expect(fault).toBeInstanceOf(CliFailure);
    expect(String(fault)).toContain(`${dataDir} is not a folder`);
  });
}
