/**
 * Compiles the JSON scanner from AssemblyScript to WebAssembly and writes it as a module that bundles can hold. Run as
 * `npm run scanner` after a change of its source; a test compares the module with its source.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dir, '../..');
const COMPILER = 'node_modules/assemblyscript/bin/asc.js';
const SOURCE = 'gateway/src/wire/simd/assembly/json-scanner.ts';
export const SCANNER_MODULE: string = join(ROOT, 'gateway/src/wire/simd/json-scanner.generated.ts');

/** Pages of 64 KiB: 2.6 MiB for the areas in the source. The size is fixed, so that requests cannot make it grow. */
const MEMORY_PAGES = '42';

/** The text of the generated module; the same for the same source and the same compiler. */
export function buildScanner(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-scanner-'));
  const wasm = join(folder, 'json-scanner.wasm');
  try {
    const { success, stderr } = Bun.spawnSync(
      [
        ...[process.execPath, COMPILER, SOURCE, '--outFile', wasm, '--runtime', 'stub', '-O3', '--noAssert'],
        ...['--enable', 'simd', '--initialMemory', MEMORY_PAGES, '--maximumMemory', MEMORY_PAGES],
      ],
      { cwd: ROOT },
    );
    if (!success) throw new Error(`the scanner could not be compiled:\n${stderr.toString()}`);
    return (
      '/** Holds the compiled assembly/json-scanner.ts in base64. Written by `npm run scanner`. */\n' +
      `export const JSON_SCANNER =\n  '${readFileSync(wasm).toString('base64')}';\n`
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

if (import.meta.main) await Bun.write(SCANNER_MODULE, buildScanner());
