/** Tests how entered routes join a configuration that changed since: the served models and the reported problems. */
import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RouteDefinition } from '../store/ports/providers.ts';
import { temporaryFolders } from '../store/testing/temporary-folder.ts';
import { serveEntered } from './console-entries.ts';
import { loadConfig } from './load-config.ts';

const newFolder = temporaryFolders();
const PROVIDERS = `
providers:
  one: { kind: openai-compatible, base_url: https://one.example/v1, api_key: none }
  two: { kind: openai-compatible, base_url: https://two.example/v1, api_key: none }
`;

function serve(yaml: string, routes: Readonly<Record<string, RouteDefinition>>) {
  const folder = newFolder();
  const file = join(folder, 'tollgate.yaml');
  writeFileSync(file, yaml);
  const { config, problems } = loadConfig({ cwd: folder, environment: {}, file });
  if (config === null) throw new Error(JSON.stringify(problems));
  const stored = Object.entries(routes).map(([model, definition]) => ({
    model,
    definition,
    createdAtMs: 1,
    updatedAtMs: 1,
  }));
  const entered = { providers: [], credentials: [], routes: stored, outOfRotation: [] };
  const served = serveEntered(config, entered, { listCatalogNames: () => [], openCredential: () => null });
  return {
    targetsOf: (name: string) => served.models.get(name)?.targets.map((target) => target.name),
    problems: served.routes.map(({ problem }) => problem),
  };
}

test('a route goes on without the targets whose provider left the file, and says so', () => {
  const { targetsOf, problems } = serve(PROVIDERS, { m: { targets: [{ provider: 'gone' }, { provider: 'two' }] } });
  expect(targetsOf('m')).toEqual(['two/m']);
  expect(problems).toEqual([expect.stringContaining("Its targets at 'gone' are not used")]);
});

test('a route without any provider left is not served, and nothing else answers in its place', () => {
  const models = 'models: { other: { targets: [ { provider: one } ] } }';
  const { targetsOf, problems } = serve(PROVIDERS + models, { m: { targets: [{ provider: 'gone' }] } });
  expect(targetsOf('m')).toBeUndefined();
  expect(problems).toEqual([expect.stringContaining("targets.0.provider: found 'gone'")]);
});

test('a model or alias that the file has since then takes precedence', () => {
  const models = 'models: { m: { targets: [ { provider: one } ], alias: [nick] } }';
  const targets = [{ provider: 'two' }];
  const { targetsOf, problems } = serve(PROVIDERS + models, { m: { targets }, other: { targets, alias: ['nick'] } });
  expect([targetsOf('m'), targetsOf('nick'), targetsOf('other')]).toEqual([['one/m'], ['one/m'], undefined]);
  expect(problems).toEqual([
    expect.stringContaining("The name 'm' belongs to another model"),
    expect.stringContaining("The name 'nick' belongs to another model"),
  ]);
});

test('a member that this version does not know makes a route unusable, not a guess', () => {
  const { targetsOf, problems } = serve(PROVIDERS, { m: { targets: [{ provider: 'one' }], later: true } });
  expect(targetsOf('m')).toBeUndefined();
  expect(problems).toEqual([expect.stringContaining("later: found the unknown member 'later'")]);
});
