/** Renders the Markdown of one page as HTML: headings with their ids, links between pages, tables and code that scroll. */
import { Marked, type RendererObject, type Tokens } from 'marked';
import type { DocPage } from './read-pages.ts';

/** Where a link leads: an address on the site; null: nowhere, its text remains. */
export type ResolveLink = (page: DocPage, href: string) => string | null;

export interface Picture {
  readonly address: string;
  readonly width: number;
  readonly height: number;
}

export interface Places {
  /** Notes what is wrong with a page. */
  problem(page: DocPage, text: string): void;
  link: ResolveLink;
  picture(page: DocPage, href: string): Picture;
}

/** HTML in a page is shown as text: the site has none but what is made here. */
export function renderMarkdown(page: DocPage, places: Places): string {
  let nth = 0;
  const renderer: RendererObject = {
    heading(token) {
      const id = page.headings[nth++]?.id ?? '';
      const inner = this.parser.parseInline(token.tokens);
      const text = token.tokens.some(({ type }) => type === 'link') ? inner : `<a href="#${id}">${inner}</a>`;
      return `<h${token.depth} id="${id}">${text}</h${token.depth}>\n`;
    },
    link({ href, tokens }) {
      const inner = this.parser.parseInline(tokens);
      const address = /^https?:/.test(href) ? href : places.link(page, href);
      if (address === null) return inner;
      const attributes = /^https?:/.test(address) ? ' rel="noreferrer"' : '';
      return `<a href="${escapeHtml(address)}"${attributes}>${inner}</a>`;
    },
    image({ href, text }) {
      const { address, width, height } = places.picture(page, href);
      return `<img src="${escapeHtml(address)}" alt="${escapeHtml(text)}" width="${width}" height="${height}" loading="lazy">`;
    },
    code({ text, lang }) {
      // Bodies of answers have long lines; lines of commands and files are copied and keep their ends.
      return `<div class="code${lang === 'json' ? ' json' : ''}"><pre tabindex="0"><code>${escapeHtml(text)}\n</code></pre></div>\n`;
    },
    table({ header, rows }) {
      const cells = (row: readonly Tokens.TableCell[], name: 'td' | 'th') =>
        row.map(({ tokens }) => cell(name, this.parser.parseInline(tokens))).join('');
      const isNamed = header.some(({ tokens }) => tokens.length > 0);
      const head = isNamed ? `<thead><tr>${cells(header, 'th')}</tr></thead>` : '';
      const body = rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('\n');
      return `<div class="table" tabindex="0" role="group" aria-label="Table"><table>${head}<tbody>\n${body}\n</tbody></table></div>\n`;
    },
    html({ text }) {
      if (/^<!--.*-->\s*$/s.test(text)) return '';
      places.problem(page, `contains HTML, which the site shows as text: ${text.trim().slice(0, 60)}`);
      return escapeHtml(text);
    },
  };
  return new Marked({ gfm: true, renderer }).parser([...page.tokens]);
}

/** A heading of a column that has none is an empty cell. */
function cell(name: 'td' | 'th', inner: string): string {
  if (name === 'th') return inner === '' ? '<td></td>' : `<th scope="col">${inner}</th>`;
  return `<td>${inner}</td>`;
}

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
