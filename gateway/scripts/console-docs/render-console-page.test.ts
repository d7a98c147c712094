/** Tests that the committed page matches the tables, and that it contains all of both. */
import { expect, test } from 'bun:test';
import { TOOLS } from '../../src/connect/tools.ts';
import { PERMISSIONS } from '../../src/people/roles.ts';
import { renderConsolePage } from './render-console-page.ts';

test('docs/console.md is what the generator makes: run `npm run docs`', async () => {
  const page = await Bun.file(new URL('../../../docs/console.md', import.meta.url)).text();
  expect(page).toBe(renderConsolePage());
});

test('the page has a row for each permission, with who has it, and for each tool', () => {
  const page = renderConsolePage();
  for (const permission of PERMISSIONS) expect(page.split(`| \`${permission}\` | `)).toHaveLength(2);
  expect(page).toMatch(/\| `owners\.write` \| yes \| – \| – \| – \| – \|/);
  expect(page).toMatch(/\| `content\.read` \| yes \| yes \| – \| yes \| – \|/);
  for (const name of Object.keys(TOOLS)) expect(page).toContain(`| \`${name}\` |`);
});
