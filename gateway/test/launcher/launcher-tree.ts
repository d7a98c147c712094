/** Creates a temporary copy of the launcher with a scripted server, laid out as npm would. */
import { chmodSync, cpSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { bunPackages, thisMachine } from '../../bin/find-bun.cjs';

const PROJECT = resolve(import.meta.dir, '../../..');
const SCRIPTED_SERVER = join(import.meta.dir, 'scripted-server.ts');

/**
 * Location of the binary: moved by the install script, left in its platform package (next to `bun` or inside it), or
 * missing.
 */
export type BinaryPlace = 'moved' | 'hoisted' | 'nested' | 'missing';
/**
 * `clone`: bin/tollgate and node_modules at the top; `npx`: node_modules/tollgate next to node_modules/bun, linked from
 * .bin.
 */
export type TreeLayout = 'clone' | 'npx';

/** Creates the tree below the system's temporary folder; returns the path of the command to run. */
export function makeLauncherTree(place: BinaryPlace, layout: TreeLayout = 'clone'): { root: string; command: string } {
  const root = mkdtempSync(join(tmpdir(), 'tollgate-launcher-'));
  const modules = join(root, 'node_modules');
  const gateway = layout === 'clone' ? join(root, 'gateway') : join(modules, 'tollgate');
  cpSync(join(PROJECT, 'gateway/bin'), join(gateway, 'bin'), { recursive: true });
  write(join(gateway, 'src/main.ts'), `import ${JSON.stringify(SCRIPTED_SERVER)};\n`);
  placeBinary(modules, place);
  const command = layout === 'clone' ? join(root, 'bin/tollgate') : join(modules, '.bin/tollgate');
  if (layout === 'clone') cpSync(join(PROJECT, 'bin'), join(root, 'bin'), { recursive: true });
  else link('../tollgate/bin/tollgate', command);
  return { root, command };
}

function placeBinary(modules: string, place: BinaryPlace): void {
  const moved = join(modules, 'bun/bin/bun.exe');
  if (place === 'moved') {
    link(process.execPath, moved);
    return;
  }
  write(moved, '#!/bin/sh\necho "the placeholder was run" >&2\nexit 1\n');
  chmodSync(moved, 0o755);
  if (place === 'missing') return;
  const [name] = bunPackages(thisMachine());
  if (name === undefined) throw new Error(`no package of Bun for ${process.platform} ${process.arch}`);
  link(process.execPath, join(modules, place === 'nested' ? 'bun/node_modules' : '', name, 'bin/bun'));
}

/** Writes a file, creating its folders. */
export function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function link(target: string, file: string): void {
  mkdirSync(dirname(file), { recursive: true });
  symlinkSync(target, file);
}
