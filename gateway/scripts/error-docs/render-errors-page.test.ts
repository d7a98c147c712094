/** Tests that the committed page matches the tables of failures, and that its words fit them. */
import { expect, test } from 'bun:test';
import { CONSOLE_FAILURES } from '../../src/errors/console-failure.ts';
import { FAILURE_KINDS } from '../../src/errors/failure-kinds.ts';
import { renderErrorsPage } from './render-errors-page.ts';

test('docs/errors.md is what the generator makes: run `npm run docs`', async () => {
  expect(await Bun.file(new URL('../../../docs/errors.md', import.meta.url)).text()).toBe(renderErrorsPage());
});

test('every kind has a section with its fault, whether to retry and its remedy, and a row in the index', () => {
  const page = renderErrorsPage();
  for (const [kind, { shouldRetry }] of Object.entries(FAILURE_KINDS)) {
    const section = page.split(`## \`${kind}\`\n`)[1]?.split('\n## ')[0] ?? '';
    for (const part of ['| fault of | ', '| retry | ', '**Remedy.** '])
      expect({ kind, section }).toEqual({ kind, section: expect.stringContaining(part) });
    expect(section.includes('x-should-retry')).toBe(shouldRetry !== null);
    if (kind !== 'client_left') expect(page).toContain(`[\`${kind}\`](#${kind})`);
  }
  for (const [code, status] of Object.entries(CONSOLE_FAILURES)) expect(page).toContain(`| ${status} | \`${code}\` | `);
});

test('a section has the statuses and words of real bodies', () => {
  const page = renderErrorsPage();
  const section = page.split('## `quota_exceeded`\n')[1]?.split('\n## ')[0] ?? '';
  expect(section).toContain('| chat completions | 429 `insufficient_quota`, `rate_limit_exceeded` |');
  expect(section).toContain('| messages | 429 `billing_error` |');
  expect(section).toContain('| Gemini | 429 `RESOURCE_EXHAUSTED` |');
});
