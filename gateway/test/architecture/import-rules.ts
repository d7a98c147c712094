/** Checks import lines: direction, places of packages, barrels, cycles. Uses the table in import-table.ts. */
import { FORMAT_FOLDER, MAY_IMPORT, PACKAGE_HOMES, partOf, REGISTRIES } from './import-table.ts';
import { type Import, inGateway, type Source, type Tree, type Violation } from './source-tree.ts';

/**
 * Every import goes downwards by the table; no protocol's folder imports another's; the gateway imports nothing from
 * outside of itself.
 */
export function direction({ sources }: Tree): Violation[] {
  return gatewaySources(sources).flatMap(({ source, file }) => {
    const part = partOf(file);
    if (part === null)
      return [`${source.path}: no row of import-table.ts holds this file; add its folder with what it may import`];
    if (source.test) return [];
    return source.imports.flatMap((line) => directionProblem(source, file, part, line));
  });
}

function directionProblem(source: Source, file: string, part: string, line: Import): Violation[] {
  if (line.target === null) return [];
  const where = `${source.path}:${line.line} imports ${line.specifier}`;
  const target = inGateway(line.target);
  const allowed = MAY_IMPORT[part] ?? [];
  if (target === null) {
    // The version of the package is read from its manifest.
    if (line.target === 'gateway/package.json') return [];
    const outside = line.target.split('/')[0] ?? '';
    if (allowed.includes('*') || allowed.includes(outside)) return [];
    return [`${where}: ${part} must not import from outside of gateway/src`];
  }
  const targetPart = partOf(target);
  if (targetPart === part)
    return siblingProtocols(file, target) ? [`${where}: a protocol must not know another one`] : [];
  const within = (row: string): boolean => target === row || target === `${row}.ts` || target.startsWith(`${row}/`);
  if (allowed.includes('*') || allowed.some(within)) return [];
  return [`${where}: ${part} may import ${allowed.join(', ') || 'nothing'}; ${targetPart ?? target} is not among them`];
}

function siblingProtocols(file: string, target: string): boolean {
  const [from, to] = [FORMAT_FOLDER.exec(file)?.[1], FORMAT_FOLDER.exec(target)?.[1]];
  return from !== undefined && to !== undefined && from !== to;
}

/** Each third-party package is imported only where the table says; an unknown one needs a row. */
export function packageHomes({ sources }: Tree): Violation[] {
  return gatewaySources(sources).flatMap(({ source, file }) =>
    source.imports.flatMap((line) => {
      if (source.test || line.target !== null || line.specifier.startsWith('node:')) return [];
      const name = packageName(line.specifier);
      const homes = PACKAGE_HOMES[name];
      const where = `${source.path}:${line.line} imports ${name}`;
      if (homes === undefined) return [`${where}: it has no home in import-table.ts; add a row, or do without it`];
      if (homes === 'tests') return [`${where}: it is for tests only`];
      return homes.some((home) => partOf(file) === home || file.startsWith(`${home}/`))
        ? []
        : [`${where}: its home is ${homes.join(', ')}`];
    }),
  );
}

function packageName(specifier: string): string {
  const parts = specifier.split('/');
  return specifier.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] ?? specifier);
}

/** Nothing re-exports another file's exports, and no file is an index, except the registries in the table. */
export function barrels({ sources }: Tree): Violation[] {
  return gatewaySources(sources).flatMap(({ source, file }) => {
    if (REGISTRIES.test(file)) return [];
    if (/(^|\/)index\.ts$/.test(file))
      return [`${source.path}: name the file by what it exports; an index is a barrel`];
    const handsOn = /^\s*export\b[^'";=]*?\bfrom\s*['"]/m.test(source.text);
    return handsOn ? [`${source.path}: hands on another file's exports; import them where they are made`] : [];
  });
}

/**
 * No file reaches itself through its imports, including type imports. Reports each cycle once, from its first file by
 * name.
 */
export function cycles({ sources }: Tree): Violation[] {
  const files = new Map(sources.filter(({ test }) => !test).map((source) => [source.path, source]));
  const found = new Set<string>();
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start >= 0) {
      found.add(named(trail.slice(start)));
      return;
    }
    if (done.has(path)) return;
    for (const { target } of files.get(path)?.imports ?? []) {
      if (target !== null && files.has(target)) visit(target, [...trail, path]);
    }
    done.add(path);
  };
  for (const path of files.keys()) visit(path, []);
  return [...found].map((cycle) => `${cycle}: imports go in a circle`);
}

function named(cycle: readonly string[]): string {
  const first = cycle.indexOf([...cycle].sort()[0] ?? '');
  const turned = [...cycle.slice(first), ...cycle.slice(0, first)];
  return [...turned, turned[0]].join(' → ');
}

function gatewaySources(sources: readonly Source[]): { source: Source; file: string }[] {
  return sources.flatMap((source) => {
    const file = inGateway(source.path);
    return file === null ? [] : [{ source, file }];
  });
}
