/** Renders one document of the site: the navigation, the page, the list of its headings, the pages before and after. */
import type { DocPage, Documentation } from './read-pages.ts';
import { escapeHtml } from './render-markdown.ts';

export interface Layout {
  readonly docs: Documentation;
  /** Addresses of the files that each document names. */
  readonly assets: { readonly style: string; readonly script: string; readonly search: string; readonly icon: string };
  readonly font: string;
  /** The console; null: the site is served alone. */
  readonly console: string | null;
  addressOf(path: string): string;
}

/** `content`: the rendered Markdown without its title. */
export function renderPage(page: DocPage, content: string, layout: Layout): string {
  const { docs, addressOf } = layout;
  const order = docs.groups.flatMap(({ pages }) => pages);
  const top = page.path.split('/')[0] ?? '';
  const at = order.findIndex(({ path }) => path === page.path);
  const group = docs.groups.find(({ pages }) => pages.some(({ path }) => path === top));
  const above = group === undefined ? '' : `<p class="above">${trail(page, group.title, order, layout)}</p>`;
  const steps = [
    step('Previous', at < 1 ? undefined : order[at - 1], addressOf),
    step('Next', at === -1 ? undefined : order[at + 1], addressOf),
  ].join('');
  const parts = (docs.parts.get(page.path) ?? [])
    .map((one) => `<li><a href="${addressOf(one.path)}"><code>${one.title}</code></a></li>`)
    .join('');
  const title = page.path.includes('/') ? `<code>${escapeHtml(page.title)}</code>` : escapeHtml(page.title);
  const body = `${above}<h1>${title}</h1>
${headingList(page)}
${content}${parts === '' ? '' : `<h2 id="all-codes">All codes</h2><ul class="columns">${parts}</ul>`}
${steps === '' ? '' : `<nav class="steps" aria-label="Neighboring pages">${steps}</nav>`}`;
  return renderDocument({ title: page.title, description: page.description, current: top, body }, layout);
}

export function renderNotFound(layout: Layout): string {
  const body = `<h1>Page not found</h1>
<p>This documentation has no page at this address. Search above, or start at the <a href="${layout.addressOf('index')}">list of all pages</a>.</p>`;
  return renderDocument({ title: 'Page not found', description: '', current: '', body }, layout);
}

interface Document {
  readonly title: string;
  readonly description: string;
  /** The path of the page that the navigation marks. */
  readonly current: string;
  readonly body: string;
}

function renderDocument({ title, description, current, body }: Document, layout: Layout): string {
  const { assets, console, docs, addressOf, font } = layout;
  const link = (path: string, text: string) =>
    `<li><a href="${addressOf(path)}"${path === current ? ' aria-current="page"' : ''}>${escapeHtml(text)}</a></li>`;
  const groups = docs.groups
    .map(
      ({ title: name, pages }) =>
        `<h2>${escapeHtml(name)}</h2><ul>${pages.map((page) => link(page.path, page.name)).join('')}</ul>`,
    )
    .join('');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title === docs.index.title ? title : `${title} · Tollgate`)}</title>
${description === '' ? '' : `<meta name="description" content="${escapeHtml(description)}">`}
<link rel="icon" href="${assets.icon}" type="image/svg+xml">
<link rel="preload" href="${font}" as="font" type="font/woff2" crossorigin>
<link rel="stylesheet" href="${assets.style}">
<script src="${assets.script}"></script>
<script src="${assets.search}" defer></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header class="top">
<a class="brand" href="${addressOf('index')}">Tollgate <span>Docs</span></a>
<search hidden><label for="find">Search</label><input id="find" type="search" placeholder="Search" autocomplete="off" spellcheck="false" aria-describedby="found"><kbd aria-hidden="true">/</kbd><div id="results" hidden><p id="found" role="status"></p><ul></ul></div></search>
<div class="links">${console === null ? '' : `<a href="${console}">Console</a>`}<a class="menu" href="#pages">Pages</a></div>
</header>
<div class="frame">
<nav class="pages" id="pages" aria-label="Pages"><a class="close" href="#content">Close</a>${groups}</nav>
<main id="content" tabindex="-1"><article>
${body}
</article></main>
</div>
</body>
</html>
`;
}

function trail(page: DocPage, group: string, order: readonly DocPage[], { addressOf }: Layout): string {
  const parent = page.path.includes('/') ? order.find(({ path }) => page.path.startsWith(`${path}/`)) : undefined;
  const link = parent === undefined ? '' : ` / <a href="${addressOf(parent.path)}">${escapeHtml(parent.name)}</a>`;
  return `${escapeHtml(group)}${link}`;
}

function step(label: string, page: DocPage | undefined, addressOf: Layout['addressOf']): string {
  if (page === undefined) return '';
  return `<a class="${label.toLowerCase()}" href="${addressOf(page.path)}"><span>${label}</span> ${escapeHtml(page.name)}</a>`;
}

/** Closed on narrow screens, a column beside the text on wide ones. */
function headingList({ headings }: DocPage): string {
  const listed = headings.filter(({ depth }) => depth === 2 || depth === 3);
  if (listed.length < 2) return '';
  const items = listed
    .map(({ depth, text, id }) => `<li class="depth-${depth}"><a href="#${id}">${escapeHtml(text)}</a></li>`)
    .join('');
  return `<details class="headings"><summary>On this page</summary><nav aria-label="On this page"><ul>${items}</ul></nav></details>`;
}
