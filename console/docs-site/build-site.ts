/**
 * Builds the documentation site from docs/: one document per page, and the files they need. The same bytes for the same
 * sources. `npm run docs-site` writes it for any static host, the console's build adds it for the gateway.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, join, posix, resolve } from 'node:path';
import { allPages, type DocPage, linkedFile, readPages } from './read-pages.ts';
import { type Picture, renderMarkdown } from './render-markdown.ts';
import { type Layout, renderNotFound, renderPage } from './render-page.ts';

const ROOT = resolve(import.meta.dirname, '../..');

export interface Site {
  /** By their paths below the site's address. */
  readonly files: ReadonlyMap<string, string | Uint8Array>;
  /** Broken links, HTML, and pages that docs/README.md lists and that do not exist. */
  readonly problems: readonly string[];
}

export interface SitePlan {
  /**
   * `gateway`: addresses below `/docs`, without `.html`, and a link to the console. `files`: relative addresses of
   * files, for any static host and for none.
   */
  readonly form: 'gateway' | 'files';
  /** The folder of the console's subset fonts. */
  readonly fonts: string;
  /** The folder of the repository. Default: this one. */
  readonly root?: string;
}

/** Files that developers read in the repository. Links to them remain as text. */
const IN_REPOSITORY = /^(docs\/decisions(\/|$)|bench\/|ARCHITECTURE\.md$|CONTRIBUTING\.md$|LICENSE$)/;
/** Files beside the pages that readers need, which the site carries. */
const CARRIED = /^(docs|deploy)\/.*\.(yml|json|service)$|^deploy\/Containerfile$/;
const FONTS = ['inter.woff2', 'jetbrains-mono.woff2'];

export function buildSite({ form, fonts, root = ROOT }: SitePlan): Site {
  const docs = readPages(root);
  const pages = allPages(docs);
  const files = new Map<string, string | Uint8Array>();
  const problems = [...docs.problems];

  function addHashed(name: string, content: string | Uint8Array): string {
    const hash = createHash('sha256').update(content).digest('base64url').slice(0, 8);
    const [stem = '', extension = ''] = name.split(/\.(?=\w+$)/);
    const path = `assets/${stem}-${hash}.${extension}`;
    files.set(path, content);
    return path;
  }
  const addressFrom = (from: string, to: string): string =>
    form === 'gateway' ? `/docs/${to}` : relativeAddress(from, to);
  const pageAddress = (from: string, to: string): string => {
    if (form === 'files') return relativeAddress(from, `${to}.html`);
    return to === 'index' ? '/docs' : `/docs/${to}`;
  };

  function problem(page: DocPage, text: string): void {
    problems.push(`${page.source}: ${text}`);
  }
  function resolveLink(page: DocPage, href: string): string | null {
    const [name = '', anchor] = href.split('#');
    const file = linkedFile(page, name);
    if (IN_REPOSITORY.test(file)) return null;
    const linked = pages.filter(({ source }) => source === file);
    // A page whose sections are pages is found by its anchor.
    const part = linked.find(({ path }) => anchor !== undefined && path.endsWith(`/${anchor}`));
    const target = part ?? (name === '' ? page : linked[0]);
    if (target !== undefined) {
      const isThere = part !== undefined || anchor === undefined || target.headings.some(({ id }) => id === anchor);
      if (!isThere) problem(page, `there is no heading #${anchor} in ${target.source}`);
      const suffix = part !== undefined || anchor === undefined ? '' : `#${anchor}`;
      return target === page && suffix !== '' ? suffix : `${pageAddress(page.path, target.path)}${suffix}`;
    }
    if (CARRIED.test(file) && existsSync(join(root, file)) && statSync(join(root, file)).isFile()) {
      const path = `files/${basename(file)}`;
      files.set(path, readFileSync(join(root, file)));
      return addressFrom(page.path, path);
    }
    problem(page, `${href} leads to no page and no file of the site`);
    return null;
  }
  function picture(page: DocPage, href: string): Picture {
    const content = readFileSync(join(root, linkedFile(page, href)));
    const address = addressFrom(page.path, addHashed(basename(href), content));
    // The header of a PNG has its size at fixed places: https://www.w3.org/TR/png-3/#11IHDR
    return { address, width: content.readUInt32BE(16), height: content.readUInt32BE(20) };
  }

  const style = addHashed('site.css', renderStyle(fonts, addHashed));
  const script = addHashed('site.js', read('site.js'));
  const icon = addHashed('icon.svg', read('../src/icon.svg'));
  const font = [...files.keys()].find((path) => path.startsWith('assets/inter-')) ?? '';
  const index = pages.map(({ path, title, headings }) => [title, path, headings.map(({ text, id }) => [text, id])]);
  // Relative addresses differ by the depth of the page that searches.
  const searches = new Map<string, string>();
  function layoutOf(path: string): Layout {
    const depth = posix.dirname(path);
    const search =
      searches.get(depth) ??
      addHashed(
        'search.js',
        `globalThis.tollgateDocs=${JSON.stringify(index.map(([title, to, headings]) => [title, pageAddress(path, to as string), headings]))};\n`,
      );
    searches.set(depth, search);
    const at = (file: string) => addressFrom(path, file);
    return {
      docs,
      assets: { style: at(style), script: at(script), search: at(search), icon: at(icon) },
      font: at(font),
      console: form === 'gateway' ? '/app' : null,
      addressOf: (to) => pageAddress(path, to),
    };
  }
  for (const page of pages) {
    const content = renderMarkdown(page, { problem, link: resolveLink, picture });
    files.set(`${page.path}.html`, renderPage(page, content, layoutOf(page.path)));
  }
  files.set('404.html', renderNotFound(layoutOf('404')));
  return { files, problems };
}

function relativeAddress(from: string, to: string): string {
  return posix.relative(posix.dirname(from), to) || posix.basename(to);
}

/** The console's tokens, and the styles of the site. Without its script the site follows the system's theme. */
function renderStyle(fonts: string, addHashed: (name: string, content: Uint8Array) => string): string {
  const tokens = read('../src/styles/tokens.css');
  const dark = /:root\[data-theme="dark"\] \{(.*?)\}/s.exec(tokens)?.[1];
  if (dark === undefined) throw new Error('tokens.css has no dark theme');
  const faces = FONTS.reduce(
    (css, name) => {
      const address = basename(addHashed(name, readFileSync(join(fonts, name))));
      return css.replace(`./${name}`, `./${address}`);
    },
    readFileSync(join(fonts, 'fonts.css'), 'utf8'),
  );
  const system = `@media screen and (prefers-color-scheme: dark) {\n:root:not([data-theme]) {${dark}}\n}\n`;
  return [faces, tokens, system, read('site.css')].join('\n').replace(/\/\*.*?\*\//gs, '');
}

function read(name: string): string {
  return readFileSync(join(import.meta.dirname, name), 'utf8');
}
