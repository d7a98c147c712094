/**
 * Lists the chunks of each page in `preloads.json` of the build, so that the gateway can tell a browser to fetch them
 * together with the page. `gateway/src/server/console-files.ts` serves them.
 */
import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Plugin, Rolldown } from 'vite';

const ROUTER = join(import.meta.dirname, 'src/router.tsx');
/** Matches a line of the router's table. */
const PAGE = /^ {2}'(\/[^']*)': \(\) => import\('([^']+)'\),$/gm;

/** Parts that an address shows as soon as its page does, by the pattern of the address. */
const SHOWN_AT_ONCE: Readonly<Record<string, string>> = {
  '/app/logs': 'src/pages/logs/log-histogram.tsx',
  '/app/logs/$request': 'src/pages/logs/call-sheet.tsx',
};

type Bundle = Readonly<Record<string, Rolldown.OutputAsset | Rolldown.OutputChunk>>;

export function pagePreloads(): Plugin {
  return {
    name: 'page-preloads',
    generateBundle(_, bundle) {
      const pages = readPages();
      const known = this.getModuleInfo(ROUTER)?.dynamicallyImportedIds ?? [];
      const missed = known.filter((id) => !pages.some(({ module }) => module === id));
      if (known.length === 0 || missed.length > 0) this.error(`page-preloads reads ${ROUTER} no more: ${missed}`);
      const first = filesOf(bundle, entryOf(bundle));
      const preloads = pages.flatMap(({ pattern, module }) =>
        addressesOf(pattern).map((address) => {
          const files = new Set(filesOf(bundle, chunkOf(bundle, module)));
          const part = SHOWN_AT_ONCE[address];
          if (part !== undefined) filesOf(bundle, chunkOf(bundle, join(import.meta.dirname, part)), files);
          return { path: pathExpression(address), files: [...files].filter((file) => !first.has(file)) };
        }),
      );
      this.emitFile({ type: 'asset', fileName: 'preloads.json', source: JSON.stringify(preloads) });
    },
  };
}

function readPages(): readonly { readonly pattern: string; readonly module: string }[] {
  return [...readFileSync(ROUTER, 'utf8').matchAll(PAGE)].map(([, pattern = '', path = '']) => ({
    pattern,
    module: resolve(dirname(ROUTER), path),
  }));
}

/** Returns the patterns without an optional last name that a router pattern stands for. */
function addressesOf(pattern: string): readonly string[] {
  const [, before, name] = /^(.*)\/\{-(\$\w+)\}$/.exec(pattern) ?? [];
  return before === undefined ? [pattern] : [before, `${before}/${name}`];
}

/** Returns a regular expression for the paths that a pattern of an address matches. */
function pathExpression(pattern: string): string {
  const segments = pattern.split('/').filter((segment) => segment !== '');
  const expressions = segments.map((segment) => (segment.startsWith('$') ? '/[^/]+' : `/${segment}`));
  return `^${expressions.join('')}/?$`;
}

function entryOf(bundle: Bundle): string {
  const entry = Object.values(bundle).find((one) => one.type === 'chunk' && one.isEntry);
  if (entry === undefined) throw new Error('the build has no entry');
  return entry.fileName;
}

function chunkOf(bundle: Bundle, module: string): string {
  const chunk = Object.values(bundle).find((one) => one.type === 'chunk' && one.facadeModuleId === module);
  if (chunk === undefined) throw new Error(`the build has no chunk of ${module}`);
  return chunk.fileName;
}

/** Returns the chunk and its static imports. */
function filesOf(bundle: Bundle, file: string, found = new Set<string>()): ReadonlySet<string> {
  const chunk = bundle[file];
  if (chunk?.type !== 'chunk' || found.has(file)) return found;
  found.add(file);
  for (const imported of chunk.imports) filesOf(bundle, imported, found);
  return found;
}
