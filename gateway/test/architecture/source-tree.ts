/** Reads a project's sources for the architecture rules: paths, text, lines and import lines. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

export interface Import {
  /** As written. */
  readonly specifier: string;
  /** For a relative specifier the path from the root; else null. */
  readonly target: string | null;
  readonly line: number;
}

export interface Source {
  /** Path from the root, with `/`. */
  readonly path: string;
  readonly text: string;
  readonly lines: readonly string[];
  readonly imports: readonly Import[];
  readonly test: boolean;
}

export interface Tree {
  readonly root: string;
  readonly sources: readonly Source[];
}

/** A broken rule: the place, and what to do about it. */
export type Violation = string;
export type Rule = (tree: Tree) => Violation[];

const FOLDERS = [
  'gateway/src',
  'gateway/test',
  'gateway/scripts',
  'gateway/bin',
  'console/src',
  'console/docs-site',
  'bench',
];
/**
 * `import … from 'x'`, `export … from 'x'`, `import 'x'`, `import('x')` and a worker's `new URL('x', import.meta.url)`.
 */
const IMPORT_LINES = [
  /^\s*(?:import|export)\b[^'";]*?\bfrom\s*['"]([^'"]+)['"]/gm,
  /^\s*import\s*['"]([^'"]+)['"]/gm,
  /^(?!\s*(?:\*|\/\/)).*\bimport\(\s*['"]([^'"]+)['"]/gm,
  /\bnew URL\(\s*['"](\.[^'"]+\.ts)['"]\s*,\s*import\.meta\.url\s*\)/g,
];

/** Reads every TypeScript and CommonJS file of the workspaces below `root`, sorted by path. */
export function readTree(root: string): Tree {
  const paths = FOLDERS.filter((folder) => existsSync(join(root, folder))).flatMap((folder) => [
    ...new Bun.Glob(`${folder}/**/*.{ts,tsx,cts,cjs}`).scanSync({ cwd: root }),
  ]);
  const own = paths.map((path) => path.replaceAll('\\', '/')).filter((path) => !path.includes('node_modules/'));
  return { root, sources: own.sort().map((path) => readSource(root, path)) };
}

/** A path of gateway/src without that prefix; null for a file elsewhere. */
export function inGateway(path: string): string | null {
  return path.startsWith('gateway/src/') ? path.slice('gateway/src/'.length) : null;
}

function readSource(root: string, path: string): Source {
  const text = readFileSync(join(root, path), 'utf8');
  const imports = IMPORT_LINES.flatMap((pattern) =>
    [...text.matchAll(pattern)].map(([, specifier = ''], index, matches) => ({
      specifier,
      target: specifier.startsWith('.') ? normalize(join(dirname(path), specifier)) : null,
      line: text.slice(0, (matches[index]?.index ?? 0) + (matches[index]?.[0].length ?? 0)).split('\n').length,
    })),
  );
  return { path, text, lines: text.split('\n'), imports, test: isTest(path) };
}

/**
 * Test files, `testing` folders next to the code, contract suites of ports, and everything below gateway/test and
 * bench.
 */
function isTest(path: string): boolean {
  return /\.test\.ts$|\/testing\/|\/contracts\/|^gateway\/test\/|^bench\//.test(path);
}
