/** Tests the documentation site: every page of docs/ is on it, no link or anchor is broken, and nothing needs another host. */
import { describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, posix, resolve } from 'node:path';
import { buildConsole } from '../../gateway/src/app/build-console.ts';
import { FAILURE_KINDS } from '../../gateway/src/errors/failure-kinds.ts';
import { buildSite, type Site } from './build-site.ts';

const ROOT = resolve(import.meta.dir, '../..');
// The build writes the fonts.
await buildConsole();
const fonts = join(ROOT, 'console/fonts');
const site = buildSite({ form: 'files', fonts });
const served = buildSite({ form: 'gateway', fonts });

const textOf = ({ files }: Site, path: string): string => String(files.get(path) ?? '');
const pagesOf = ({ files }: Site): string[] => [...files.keys()].filter((path) => path.endsWith('.html'));

/** Where each link of a page leads, as a file of the site and an anchor. */
function linksOf(one: Site, page: string, toFile: (address: string) => string) {
  return [...textOf(one, page).matchAll(/(?:href|src)="([^"]*)"/g)]
    .map(([, address = '']) => address)
    .filter((address) => !address.startsWith('http'))
    .map((address) => {
      const [name = '', anchor] = address.split('#');
      return { page, address, file: name === '' ? page : toFile(name), anchor };
    });
}

function brokenIn(one: Site, toFile: (page: string, address: string) => string): string[] {
  return pagesOf(one)
    .flatMap((page) => linksOf(one, page, (address) => toFile(page, address)))
    .filter(({ file, anchor }) => {
      if (!one.files.has(file)) return true;
      return anchor !== undefined && !textOf(one, file).includes(` id="${anchor}"`);
    })
    .map(({ page, address }) => `${page}: ${address}`);
}

describe('pages', () => {
  test('docs/README.md lists every page of docs/ once, and no link in them is broken', () => {
    expect([...site.problems, ...served.problems]).toEqual([]);
    const written = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md') && name !== 'README.md');
    const pages = pagesOf(site).filter((path) => !path.includes('/'));
    expect(pages.sort()).toEqual(
      [
        ...written.map((name) => name.replace('.md', '.html')),
        '404.html',
        'changelog.html',
        'index.html',
        'overview.html',
      ].sort(),
    );
  });

  test('every kind of failure has a page', () => {
    const codes = pagesOf(site).filter((path) => path.startsWith('errors/'));
    const kinds = [...Object.keys(FAILURE_KINDS), 'gateway_crashed'];
    expect(codes.sort()).toEqual(kinds.map((kind) => `errors/${kind}.html`).sort());
    expect(textOf(site, 'errors/rate_limited.html')).toContain('<title>rate_limited · Tollgate</title>');
  });

  test('every page has a title of its own, a description and one heading of the first level', () => {
    const titles = pagesOf(site).map((page) => /<title>(.*)<\/title>/.exec(textOf(site, page))?.[1]);
    expect(new Set(titles).size).toBe(titles.length);
    for (const page of pagesOf(site).filter((path) => path !== '404.html')) {
      expect({ page, description: /<meta name="description" content="(.{20,})">/s.test(textOf(site, page)) }).toEqual({
        page,
        description: true,
      });
      expect(textOf(site, page).split('<h1>').length).toBe(2);
    }
  });

  test('without decision records, inline scripts and styles, and addresses of other hosts', () => {
    for (const page of pagesOf(site)) {
      const text = textOf(site, page);
      expect(text).not.toMatch(/decisions\/|<style|style="|\son\w+="|<script>|<script (?!src)/);
      expect([...text.matchAll(/(?:src|<link[^>]*href)="(https?:[^"]+)"/g)].map(([, address]) => address)).toEqual([]);
    }
    expect(textOf(site, [...site.files.keys()].find((path) => /site-.*css$/.test(path)) ?? '')).not.toMatch(
      /url\("?https?:/,
    );
  });
});

describe('links', () => {
  test('of files are relative, and lead to files and anchors of the site', () => {
    expect(brokenIn(site, (page, address) => posix.join(posix.dirname(page), address))).toEqual([]);
  });

  test('of the gateway are below /docs', () => {
    const toFile = (address: string) => {
      if (address === '/app') return 'index.html';
      const path = address.replace(/^\/docs\/?/, '') || 'index';
      return /^(assets|files)\//.test(path) ? path : `${path}.html`;
    };
    expect(brokenIn(served, (_, address) => toFile(address))).toEqual([]);
    expect(textOf(served, 'install.html')).toContain('href="/docs/back-up-and-restore"');
  });

  test.each([
    ['a page that does not exist', '[a](nowhere.md)', 'nowhere.md leads to no page and no file of the site'],
    ['a heading that does not exist', '[a](one.md#nowhere)', 'there is no heading #nowhere in docs/one.md'],
    ['a source file', '[a](../gateway/src/main.ts)', '../gateway/src/main.ts leads to no page and no file of the site'],
  ])('%s is a problem', (_, text, problem) => {
    expect(buildSmall({ 'docs/one.md': `# One\n\n${text}\n` }).problems).toEqual([`docs/one.md: ${problem}`]);
  });

  test('to what only developers read remain as text, and files that readers need come along', () => {
    const { files, problems } = buildSmall({
      'docs/one.md': '# One\n\n[why](decisions/0001-a.md) and [rules](monitoring/rules.yml)\n',
      'docs/monitoring/rules.yml': 'groups: []\n',
    });
    expect(problems).toEqual([]);
    expect(files.get('one.html')).toContain('<p>why and <a href="files/rules.yml">rules</a></p>');
    expect(String(files.get('files/rules.yml'))).toBe('groups: []\n');
  });
});

test('text of pages is text: code and titles are escaped, and HTML in a page is a problem', () => {
  const { files } = buildSmall({ 'docs/one.md': '# `<b>` & "two"\n\n`<i>`\n\n```\n</code><script>\n```\n' });
  expect(files.get('one.html')).toContain('<h1>&lt;b&gt; &amp; &quot;two&quot;</h1>');
  expect(files.get('one.html')).toContain('<pre tabindex="0"><code>&lt;/code&gt;&lt;script&gt;\n</code></pre>');
  const html = buildSmall({ 'docs/one.md': '# One\n\nIt is <b>bold</b>.\n' });
  expect(html.files.get('one.html')).toContain('<p>It is &lt;b&gt;bold&lt;/b&gt;.</p>');
  expect(html.problems[0]).toBe('docs/one.md: contains HTML, which the site shows as text: <b>');
});

test('the same sources give the same bytes', () => {
  const again = buildSite({ form: 'files', fonts });
  expect([...again.files].every(([path, content]) => String(site.files.get(path)) === String(content))).toBe(true);
});

/** A site of docs/one.md and the other files. */
function buildSmall(files: Readonly<Record<string, string>>): Site {
  const root = mkdtempSync(join(tmpdir(), 'tollgate-docs-'));
  try {
    const all = { 'docs/README.md': '# Docs\n\n## Start\n\n- [One](one.md): The only page.\n', ...files };
    for (const [path, text] of Object.entries(all)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    return buildSite({ form: 'files', fonts, root });
  } finally {
    rmSync(root, { recursive: true });
  }
}
