/** Lists the third-party packages whose code a package of Tollgate carries, with their versions and licenses. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './bundle-program.ts';

export interface Part {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  /** The texts that its license wants passed on; empty where it has none. */
  readonly notices: readonly string[];
}

/** Dependencies of the console that build it, and leave nothing of theirs in it. */
const BUILD_TOOLS = new Set(['@tailwindcss/vite', '@vitejs/plugin-react', 'marked', 'subset-font', 'vite']);

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** `inputs`: the source files of the gateway's bundle. The console's parts are its dependencies, and theirs. */
export function listParts(inputs: readonly string[]): readonly Part[] {
  const folders = new Set(inputs.flatMap((input) => packageFolder(join(ROOT, input)) ?? []));
  const console = join(ROOT, 'console');
  for (const name of Object.keys(manifestOf(console).dependencies ?? {})) {
    if (!BUILD_TOOLS.has(name)) addWithDependencies(name, console, folders);
  }
  const parts = [...folders].map(readPart);
  const byName = new Map(parts.map((part) => [`${part.name}@${part.version}`, part]));
  return [...byName].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, part]) => part);
}

/** The notices of all parts in one text. */
export function renderNotices(parts: readonly Part[]): string {
  const chapters = parts.map(
    ({ name, version, license, notices }) =>
      `${'='.repeat(80)}\n${name} ${version} (${license})\n${'='.repeat(80)}\n\n${notices.join('\n\n').trim() || 'The package has no file with its license.'}\n`,
  );
  return `Tollgate contains code of the packages below, under their licenses.\n\n${chapters.join('\n')}`;
}

/** The folder of the package that holds a file; null: one of ours. */
function packageFolder(file: string): string | null {
  return /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? null;
}

function addWithDependencies(name: string, from: string, folders: Set<string>): void {
  const folder = [from, ROOT].map((base) => join(base, 'node_modules', name)).find((one) => existsSync(one));
  if (folder === undefined || folders.has(folder)) return;
  folders.add(folder);
  for (const next of Object.keys(manifestOf(folder).dependencies ?? {})) addWithDependencies(next, folder, folders);
}

function readPart(folder: string): Part {
  const { name, version, license = 'no license named' } = manifestOf(folder);
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|copying|notice|ofl)/i.test(file));
  return { name, version, license, notices: files.sort().map((file) => readFileSync(join(folder, file), 'utf8')) };
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}
