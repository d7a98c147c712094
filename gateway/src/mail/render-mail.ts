/** Renders a message as plain text and as HTML, which contains no markup of others, no image and nothing remote. */
import type { Mail } from './mailer.ts';

export function renderMail({ paragraphs, link, footer }: Pick<Mail, 'paragraphs' | 'link' | 'footer'>): {
  readonly text: string;
  readonly html: string;
} {
  const action = link === null ? [] : [`${link.label}:\n${link.url}`];
  const button = link === null ? [] : [`<p><a href="${escapeHtml(link.url)}">${escapeHtml(link.label)}</a></p>`];
  return {
    text: `${[...paragraphs, ...action, `-- \n${footer}`].join('\n\n')}\n`,
    html: [
      '<!doctype html><html><body style="font-family: sans-serif; font-size: 15px; line-height: 1.5">',
      ...paragraphs.map((one) => `<p>${escapeHtml(one)}</p>`),
      ...button,
      `<p style="font-size: 13px; color: #666">${escapeHtml(footer)}</p>`,
      '</body></html>',
    ].join('\n'),
  };
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
