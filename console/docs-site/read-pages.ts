/**
 * Reads the pages of the documentation site from the repository: docs/README.md lists and groups them. A page of error
 * codes becomes a page for each code. Renders nothing.
 */
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { lexer, type Token, type Tokens, type TokensList } from 'marked';

export interface Heading {
  readonly depth: number;
  readonly text: string;
  readonly id: string;
}

export interface DocPage {
  /** Its address on the site, without `.html`: `install`, `errors/rate_limited`; `index` is the first page. */
  readonly path: string;
  /** Its file, relative to the repository. */
  readonly source: string;
  readonly title: string;
  /** In the navigation. */
  readonly name: string;
  readonly description: string;
  /** Everything but the title. */
  readonly tokens: readonly Token[];
  readonly headings: readonly Heading[];
}

export interface Group {
  readonly title: string;
  readonly pages: readonly DocPage[];
}

export interface Documentation {
  readonly index: DocPage;
  readonly groups: readonly Group[];
  /** The pages of codes, by the path of the page that lists them. */
  readonly parts: ReadonlyMap<string, readonly DocPage[]>;
  /** Pages that docs/README.md does not list or that do not exist. */
  readonly problems: readonly string[];
}

const INDEX = 'docs/README.md';
/** Files outside docs/ that are pages too, and their paths on the site. */
const OUTSIDE: Readonly<Record<string, string>> = { 'README.md': 'overview', 'CHANGELOG.md': 'changelog' };
/** Each of its sections about a code is a page of its own. */
const CODES = 'docs/errors.md';

/** `root`: the folder of the repository. */
export function readPages(root: string): Documentation {
  const problems: string[] = [];
  const parts = new Map<string, readonly DocPage[]>();
  const tokens = lexer(readFileSync(join(root, INDEX), 'utf8'));
  const groups: { title: string; pages: DocPage[] }[] = [];
  for (const token of tokens) {
    if (token.type === 'heading' && token.depth === 2) groups.push({ title: plainText(token), pages: [] });
    if (token.type !== 'list') continue;
    for (const { href, name, description } of (token as Tokens.List).items.flatMap(linkOf)) {
      const source = normalize(join('docs', href));
      if (!existsSync(join(root, source))) {
        problems.push(`${INDEX} lists ${href}, which does not exist`);
        continue;
      }
      const page = { ...readPage(root, source), name, description };
      const [whole, codes] = source === CODES ? splitCodes(page) : [page, []];
      groups.at(-1)?.pages.push(whole);
      if (codes.length > 0) parts.set(whole.path, codes);
    }
  }
  return { index: pageOf('index', INDEX, tokens), groups, parts, problems };
}

/** All pages, in the order of the navigation. */
export function allPages({ index, groups, parts }: Documentation): readonly DocPage[] {
  return [index, ...groups.flatMap(({ pages }) => pages.flatMap((page) => [page, ...(parts.get(page.path) ?? [])]))];
}

function linkOf(item: Tokens.ListItem): { href: string; name: string; description: string }[] {
  const link = item.tokens
    .flatMap((token) => inlineOf(token))
    .find((token): token is Tokens.Link => token.type === 'link');
  if (link === undefined) return [];
  return [{ href: link.href, name: plainText(link), description: plainText(item).replace(/^.*?: /, '') }];
}

function inlineOf(token: Token): readonly Token[] {
  return 'tokens' in token ? (token.tokens ?? []) : [];
}

function readPage(root: string, source: string): DocPage {
  const path = OUTSIDE[source] ?? basename(source, '.md');
  return pageOf(path, source, lexer(readFileSync(join(root, source), 'utf8')));
}

function pageOf(path: string, source: string, all: TokensList | readonly Token[]): DocPage {
  const at = all.findIndex((token) => token.type === 'heading' && token.depth === 1);
  const title = at === -1 ? path : plainText(all[at] as Token);
  const tokens = all.filter((_, nth) => nth !== at);
  return { path, source, title, name: title, description: firstSentence(tokens), tokens, headings: headingsOf(tokens) };
}

/** A section whose heading is a code alone is a page; the rest stays. */
function splitCodes(page: DocPage): readonly [whole: DocPage, codes: readonly DocPage[]] {
  const kept: Token[] = [];
  const codes: { code: string; tokens: Token[] }[] = [];
  let into = kept;
  for (const token of page.tokens) {
    if (token.type === 'heading' && token.depth === 2) {
      const code = /^`([a-z_]+)`$/.exec(token.text)?.[1];
      into = kept;
      if (code !== undefined) {
        into = [];
        codes.push({ code, tokens: into });
        continue;
      }
    }
    into.push(token);
  }
  return [
    { ...page, tokens: kept, headings: headingsOf(kept) },
    codes.map(({ code, tokens }) => ({
      path: `${page.path}/${code}`,
      source: page.source,
      title: code,
      name: code,
      description: firstSentence(tokens),
      tokens,
      headings: headingsOf(tokens),
    })),
  ];
}

function firstSentence(tokens: readonly Token[]): string {
  const paragraph = tokens.find((token) => token.type === 'paragraph');
  return paragraph === undefined ? '' : (/^.*?[.:](?= |$)/s.exec(plainText(paragraph))?.[0] ?? plainText(paragraph));
}

/** The headings as GitHub names them, so that links work in the repository and on the site. */
function headingsOf(tokens: readonly Token[]): readonly Heading[] {
  const seen = new Map<string, number>();
  return tokens
    .filter((token): token is Tokens.Heading => token.type === 'heading')
    .map((token) => {
      const text = plainText(token);
      const base = text
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\p{M}_\- ]/gu, '')
        .replaceAll(' ', '-');
      const before = seen.get(base) ?? 0;
      seen.set(base, before + 1);
      return { depth: token.depth, text, id: before === 0 ? base : `${base}-${before}` };
    });
}

/** The text of a token without its marks. */
function plainText(token: Token): string {
  if (token.type === 'codespan' || token.type === 'escape') return token.text;
  const inner = inlineOf(token);
  if (inner.length > 0) return inner.map(plainText).join('');
  return 'text' in token ? unescapeHtml(token.text) : '';
}

function unescapeHtml(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&');
}

/** The file that a link of a page names, relative to the repository. */
export function linkedFile(page: DocPage, href: string): string {
  return href === '' ? page.source : normalize(join(dirname(page.source), href));
}
