/** Runs `npm run docs-site -- FOLDER`: writes the documentation as files for any static host. Default: `dist/docs`. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { writeFonts } from '../subset-fonts.ts';
import { buildSite } from './build-site.ts';

const root = resolve(import.meta.dirname, '../..');
const own = join(root, 'dist/docs');
const folder = resolve(process.argv[2] ?? own);
// A folder of the caller's may have other files.
if (folder === own) rmSync(own, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const { files, problems } = buildSite({ form: 'files', fonts: await writeFonts() });
for (const [path, content] of files) {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), content);
}
process.stdout.write(`${files.size} files in ${folder}; open ${join(folder, 'index.html')}\n`);
if (problems.length > 0) {
  process.stderr.write(`${problems.join('\n')}\n`);
  process.exitCode = 1;
}
