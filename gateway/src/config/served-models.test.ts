/** Tests which public names are served, and which targets answer for each. */
import { describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CATALOG_PROVIDERS } from '../catalog/catalog-model.ts';
import { CLIENT_PROTOCOL_NAMES } from '../protocols/names.ts';
import { PRESETS } from '../providers/presets/presets.ts';
import { withOllama } from './discover-providers.ts';
import { loadConfig } from './load-config.ts';
import { listServedModels } from './served-models.ts';

function load(text: string | null, environment: { readonly [name: string]: string } = {}) {
  const cwd = mkdtempSync(join(tmpdir(), 'tollgate-served-'));
  if (text !== null) writeFileSync(join(cwd, 'tollgate.yaml'), text);
  const { config } = loadConfig({ environment, cwd });
  rmSync(cwd, { recursive: true });
  if (config === null) throw new Error('expected a configuration');
  return config;
}

const CATALOG = new Map([
  ['openai', ['gpt-a', 'shared']],
  ['anthropic', ['claude-a']],
  ['groq', ['shared', 'llama-a']],
]);
const listCatalogNames = (provider: string) => CATALOG.get(provider) ?? [];

describe('listServedModels', () => {
  test('serves the demo over both protocols if nothing is configured', () => {
    const served = listServedModels(load(null), listCatalogNames);
    expect([...served.keys()]).toEqual(['demo', 'claude-demo']);
    expect(served.get('demo')).toMatchObject({
      protocols: CLIENT_PROTOCOL_NAMES,
      targets: [{ model: 'demo', catalog: null }],
    });
  });

  test("serves exactly the catalog's models of the providers if the file has no models", () => {
    const served = listServedModels(load(null, { OPENAI_API_KEY: 'x', ANTHROPIC_API_KEY: 'y' }), listCatalogNames);
    expect([...served.keys()]).toEqual(['gpt-a', 'shared', 'claude-a']);
    expect(served.get('claude-a')).toMatchObject({
      protocols: CLIENT_PROTOCOL_NAMES,
      price: null,
      targets: [{ model: 'claude-a', catalog: { provider: 'anthropic', model: 'claude-a' } }],
    });
    expect(served.get('constructor')).toBeUndefined();
  });

  test('if two providers share a model name, the earlier answers and the other is next', () => {
    const served = listServedModels(load(null, { GROQ_API_KEY: 'x', OPENAI_API_KEY: 'y' }), listCatalogNames);
    expect(served.get('shared')?.targets.map((target) => target.catalog)).toEqual([
      { provider: 'openai', model: 'shared' },
      { provider: 'groq', model: 'shared' },
    ]);
  });

  test("serves exactly the file's models, by each of their names", () => {
    const config = load(
      'models:\n  mine: { alias: [ours, { name: theirs, protocols: [chat] }], targets: [{ provider: openai, model: gpt-a }], price: free }\n',
      { OPENAI_API_KEY: 'x' },
    );
    const served = listServedModels(config, listCatalogNames);
    expect([...served.keys()]).toEqual(['mine', 'ours', 'theirs']);
    expect(served.get('ours')).toBe(served.get('mine'));
    expect(served.get('mine')).toMatchObject({
      name: 'mine',
      price: 'free',
      targets: [{ model: 'gpt-a', catalog: { provider: 'openai', model: 'gpt-a' } }],
    });
  });

  test('serves the models of a detected Ollama', () => {
    const models = ['qwen3:8b', 'llama3.3:latest'];
    const served = listServedModels(withOllama(load(null), models), listCatalogNames, new Map([['ollama', models]]));
    expect([...served.keys()]).toEqual(models);
    expect(served.get('qwen3:8b')).toMatchObject({
      protocols: CLIENT_PROTOCOL_NAMES,
      targets: [{ model: 'qwen3:8b', catalog: null }],
    });
  });
});

test('each preset names a provider of the catalog, or none', () => {
  const known: readonly string[] = CATALOG_PROVIDERS;
  for (const { catalogProvider } of PRESETS) {
    if (catalogProvider !== null) expect(known).toContain(catalogProvider);
  }
});
