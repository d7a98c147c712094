/**
 * Runs `npm run package`: builds what people install into `dist/`. Without arguments everything; `-- npm linux-x64` only
 * these. Beside them are their bill of materials, the notices of licenses, and SHA256SUMS of all.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { buildConsole } from '../../src/app/build-console.ts';
import { bundleProgram, compileBinary, ROOT } from './bundle-program.ts';
import { describeParts, packForNpm } from './npm-package.ts';
import { MACHINES, type Machine, runtimeFor } from './runtimes.ts';

const OUT = join(ROOT, 'dist');
const NPM = 'npm';
const KINDS = [NPM, ...Object.keys(MACHINES)];

const wanted = process.argv.slice(2);
const unknown = wanted.find((kind) => !KINDS.includes(kind));
if (unknown !== undefined) {
  process.stderr.write(`package: found "${unknown}", expected any of ${KINDS.join(', ')}\n`);
  process.exit(2);
}

rmSync(OUT, { recursive: true, force: true });
mkdirSync(OUT);
const console = await buildConsole();
const built: string[] = [];
for (const kind of wanted.length === 0 ? KINDS : wanted) {
  const startMs = performance.now();
  const file = kind === NPM ? await packForNpm(OUT, console) : await buildBinary(kind as Machine);
  built.push(file);
  const seconds = ((performance.now() - startMs) / 1_000).toFixed(1);
  process.stdout.write(
    `${basename(file).padEnd(32)} ${(Bun.file(file).size / 1e6).toFixed(1).padStart(6)} MB ${seconds} s\n`,
  );
}
built.push(...(await describeBundle()));
const sums = built.map(
  (file) => `${new Bun.CryptoHasher('sha256').update(readFileSync(file)).digest('hex')}  ${basename(file)}\n`,
);
writeFileSync(join(OUT, 'SHA256SUMS'), sums.join(''));

async function buildBinary(machine: Machine): Promise<string> {
  const file = join(OUT, `tollgate-${manifest.version}-${machine}`);
  await compileBinary(file, { command: 'tollgate', console, runtime: await runtimeFor(machine) });
  return file;
}

/** Every package and binary carries the same parts. */
async function describeBundle(): Promise<readonly string[]> {
  const aside = mkdtempSync(join(tmpdir(), 'tollgate-parts-'));
  try {
    return await describeParts(OUT, await bundleProgram(aside, { command: 'tollgate', console }));
  } finally {
    rmSync(aside, { recursive: true });
  }
}
