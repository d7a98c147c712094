/** Tests that the committed page matches the schema, and that its examples work. */
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { renderConfigSchema } from '../../src/config/file/file-schema.ts';
import { LIMITS } from '../../src/config/limits.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { EXAMPLE, EXTRAS_EXAMPLE, PRICES_EXAMPLE } from './page-text.ts';
import { renderConfigPage } from './render-config-page.ts';

test('docs/configuration.md is what the generator makes: run `bun gateway/scripts/config-docs.ts`', async () => {
  const page = await Bun.file(new URL('../../../docs/configuration.md', import.meta.url)).text();
  expect(page).toBe(renderConfigPage());
});

test('docs/tollgate.schema.json is the schema that `check --schema` prints: run `npm run docs`', async () => {
  const published = await Bun.file(new URL('../../../docs/tollgate.schema.json', import.meta.url)).json();
  expect(published).toEqual(JSON.parse(JSON.stringify(renderConfigSchema())));
});

test('the page names every limit with its default', () => {
  const page = renderConfigPage();
  for (const [name, row] of Object.entries(LIMITS)) {
    expect(page).toMatch(new RegExp(`\\| \`${name}\` \\| (size|duration|number) \\| \`${row.default}\` \\|`));
  }
});

test.each([
  ['the example of the page loads', '    price: free\n', 'free'],
  ['the example of prices loads', PRICES_EXAMPLE, [{ input: '2.00' }, { from: '2026-12-01' }]],
  [
    'the example of sound and tools loads',
    EXTRAS_EXAMPLE,
    { per_1000_requests: { web_search: '10.00', web_fetch: '0' } },
  ],
])('%s', (_, priceLines, price) => {
  const example = EXAMPLE.replace('    price: free\n', priceLines);
  const cwd = mkdtempSync(join(tmpdir(), 'tollgate-example-'));
  writeFileSync(join(cwd, 'tollgate.yaml'), example);
  const environment = { OPENAI_API_KEY: 'a', ANTHROPIC_API_KEY: 'b', GROQ_API_KEY: 'c' };
  const { config, problems } = loadConfig({ environment, cwd });
  rmSync(cwd, { recursive: true });
  expect(problems).toEqual([]);
  expect({ price: config?.models?.get('lab-model')?.price }).toMatchObject({ price });
  expect([...(config?.providers.keys() ?? [])]).toEqual(['openai', 'anthropic', 'groq', 'lab']);
});
