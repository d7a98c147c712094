/**
 * Tests the credentials of a provider: one key or a pool of named ones, and a kind with settings and several secrets,
 * from its members in the file to its requests.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openaiCompatible } from '../providers/kinds/openai-compatible.ts';
import type { RemoteKind } from '../providers/provider.ts';
import { openUpstream } from '../providers/upstream.ts';
import { AttemptPlan } from '../routing/attempt-plan.ts';
import { RoutingState } from '../routing/health/routing-state.ts';
import { makeCall, makeCandidates } from '../routing/health/testing/make-candidates.ts';
import { buildRouteTable } from '../routing/route.ts';
import { type Fault, renderConfigProblem, renderPath } from './file/config-problem.ts';
import { createProviderSchema } from './file/provider-schema.ts';
import { loadConfig } from './load-config.ts';
import { resolveProviders } from './resolve-providers.ts';
import { listServedModels } from './served-models.ts';

let cwd = '';
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'tollgate-pools-'));
});
afterAll(() => rmSync(cwd, { recursive: true }));

function read(text: string) {
  writeFileSync(join(cwd, 'f.yaml'), text);
  return loadConfig({ file: 'f.yaml', environment: { KEY: 'canary-a' }, cwd });
}

function load(text: string) {
  const { config, problems } = read(text);
  expect(problems.map(renderConfigProblem)).toEqual([]);
  if (config === null) throw new Error('expected a configuration');
  return config;
}

const poolOf = (members: string) => load(`providers: { p: { ${members} } }\n`).providers.get('p')?.credentials?.pool;

describe('a pool of keys', () => {
  test('is one credential named default where only api_key is written', () => {
    const plain = { name: 'default', source: null, weight: 1, organisation: null, models: null };
    expect(poolOf('kind: openai, api_key: canary-1')).toMatchObject([plain]);
    expect(poolOf('kind: openai, api_key: none')).toEqual([{ ...plain, secrets: {} }]);
  });

  test('has the keys of api_keys in their order, and their secrets are never printed', () => {
    const pool = poolOf(
      `kind: openai, api_keys: [{ name: main, key: "\${KEY}", organisation: acme }, { name: spare, key: canary-b, weight: 0, organisation: acme-eu, models: [gpt-5-mini] }]`,
    );
    expect(pool).toMatchObject([
      { name: 'main', weight: 1, organisation: 'acme', models: null },
      { name: 'spare', weight: 0, organisation: 'acme-eu', models: ['gpt-5-mini'] },
    ]);
    expect(pool?.map(({ secrets }) => secrets.api_key?.reveal())).toEqual(['canary-a', 'canary-b']);
    expect(Bun.inspect(pool, { depth: 9 }) + JSON.stringify(pool)).not.toContain('canary');
  });

  test.each([
    [
      'both forms',
      'api_key: canary-1, api_keys: [{ name: a, key: canary-2 }]',
      'api_keys: found api_keys together with api_key, expected one of the two. Move the key of api_key into the list.',
    ],
    [
      'an empty list',
      'api_keys: []',
      'api_keys: found an empty list, expected at least one item. Add one, or remove the member.',
    ],
    [
      'two equal names',
      'api_keys: [{ name: a, key: canary-1 }, { name: a, key: canary-2 }]',
      "api_keys[1].name: found 'a' twice, expected a unique name for each credential. Give it another name.",
    ],
    [
      'two equal keys',
      'api_keys: [{ name: a, key: canary-1 }, { name: b, key: canary-1 }]',
      "api_keys[1].key: found the same secrets as 'a', expected secrets of its own for each entry. Remove the entry, or write other secrets.",
    ],
    [
      'an entry without a key',
      'api_keys: [{ name: a, key: none }]',
      'api_keys[0].key: found none, expected secrets of its own for each entry. Remove the entry, or write other secrets.',
    ],
    [
      'a key with a space',
      'api_keys: [{ name: a, key: "canary 1" }]',
      'api_keys[0].key: found a hidden value, expected a credential of visible ASCII characters, or none. Look for a line break, space or quote that was copied with it.',
    ],
    [
      'an entry without a name',
      'api_keys: [{ key: canary-1 }]',
      'api_keys[0].name: found nothing, expected a name of 1 to 64 letters, digits, ., _ or -, beginning with a letter or digit. Add the member name.',
    ],
    [
      'a weight above the maximum',
      'api_keys: [{ name: a, key: canary-1, weight: 1001 }]',
      "api_keys[0].weight: found '1001', expected a whole number from 0 to 1000. Correct the number.",
    ],
    [
      'no models',
      'api_keys: [{ name: a, key: canary-1, models: [] }]',
      'api_keys[0].models: found an empty list, expected at least one item. Add one, or remove the member.',
    ],
  ])('with %s is refused', (_, members, problem) => {
    const { problems } = read(`providers: { p: { kind: openai, ${members} } }\n`);
    const found = problems.map((one) => renderConfigProblem(one).replace(/^f\.yaml:1:\d+: providers\.p\./, ''));
    expect(found).toEqual([problem]);
    expect(found.join()).not.toContain('canary');
  });

  test('is refused by a kind without keys', () => {
    const { problems } = read('providers: { p: { kind: demo, api_keys: [{ name: a, key: x }] } }\n');
    expect(problems.map(renderConfigProblem)).toEqual([
      'f.yaml:1:31: providers.p.api_keys: found api_keys with kind demo, expected no other member. Remove it, or write another kind.',
    ]);
  });

  test('serves only the models that a key may be used for', () => {
    const keys = '[{ name: a, key: x, models: [gpt-a, gpt-b] }, { name: b, key: y, models: [gpt-b] }]';
    const config = load(`providers: { openai: { kind: openai, api_keys: ${keys} } }\n`);
    const served = listServedModels(config, () => ['gpt-a', 'gpt-b', 'gpt-c']);
    const names = [...served.values()].map(({ name, targets }) => [
      name,
      openUpstream(targets[0]).credentials.map((one) => one.name),
    ]);
    expect(names).toEqual([
      ['gpt-a', ['a']],
      ['gpt-b', ['a', 'b']],
    ]);
    const { problems } = read(
      `providers: { openai: { kind: openai, api_keys: ${keys} } }\nmodels: { gpt-c: { targets: [{ provider: openai }] } }\n`,
    );
    expect(problems.map(renderConfigProblem)).toEqual([
      "f.yaml:2:30: models.gpt-c.targets[0]: found 'gpt-c', which is in the models of no key of openai, expected a model that a key may be used for. Add it to the models of a key, or remove models there.",
    ]);
  });

  test('of one organization is noted, because it adds no headroom', () => {
    const note = (keys: string) => load(`providers: { p: { kind: openai, api_keys: [${keys}] } }\n`).notes;
    const shared = 'share one set of rate limits; together they add none.';
    expect(note('{ name: a, key: x, organisation: acme }, { name: b, key: y, organisation: acme-eu }')).toEqual([]);
    expect(
      note('{ name: a, key: x, organisation: acme }, { name: b, key: y, organisation: acme }, { name: c, key: z }'),
    ).toEqual([`Provider p: the keys of the organization acme (a, b) ${shared}`]);
    expect(note('{ name: a, key: x }, { name: b, key: y }')).toEqual([
      `Provider p: the keys without organisation (a, b) ${shared}`,
    ]);
  });
});

test('a rotation of keys keeps what was learned about those that stay', () => {
  const targetOf = (keys: string) => {
    const text = `providers: { p: { kind: openai, api_keys: [${keys}] } }\nmodels: { m: { targets: [{ provider: p }] } }\n`;
    const target = buildRouteTable(
      listServedModels(load(text), () => []),
      () => null,
    ).get('m')?.targets[0];
    if (target === undefined) throw new Error('the model is served');
    return target;
  };
  const state = new RoutingState();
  const before = targetOf('{ name: stays, key: canary-1 }, { name: old, key: canary-2 }');
  const plan = new AttemptPlan(state, makeCandidates([before]), makeCall());
  plan.begin(0);
  plan.failed({ class: 'rate', pauseMs: 23_000, atRisk: null }, 0);
  const [first, second] = before.upstream.credentials.map((_, index) => state.of(before).verdict(index, 1));
  expect([first, second]).toEqual(['cooling', 'usable']);

  const after = targetOf('{ name: new, key: canary-3 }, { name: stays, key: canary-1 }, { name: old, key: canary-4 }');
  state.reload([after], 2);
  const verdicts = (nowMs: number) => [0, 1, 2].map((index) => state.of(after).verdict(index, nowMs));
  expect(verdicts(22_000)).toEqual(['usable', 'cooling', 'usable']);
  expect(verdicts(30_000)).toEqual(['usable', 'usable', 'usable']);
  expect(state.snapshot(22_000).credentials.map(({ name }) => name)).toEqual(['stays', 'new', 'old']);
});

/** A fictitious kind: its address and path follow from settings, and it signs with two secrets. */
const cloud: RemoteKind = {
  ...openaiCompatible,
  name: 'cloud',
  takes: ['base_url', 'timeouts'],
  secrets: [
    ...['access_key_id', 'secret_access_key'].map((name) => ({
      name,
      title: name,
      description: `The ${name}.`,
      mayBeNone: false,
    })),
    { name: 'key_file', title: 'Key file', description: 'A JSON file.', mayBeNone: false, document: true },
  ],
  sources: [{ word: 'chain', title: 'This machine', description: 'Those of this machine.' }],
  vendorDomains: ['cloud.example'],
  isAmbient: ({ key_file }) => key_file?.reveal().startsWith('/') ?? false,
  settings: [
    {
      name: 'region',
      title: 'Region',
      description: 'Its region.',
      pattern: /^[a-z]{2}-[a-z]+-\d$/,
      expected: 'a region such as eu-central-1',
    },
    { name: 'project', title: 'Project', description: 'Its project.', pattern: /^[a-z0-9-]+$/, expected: 'a project' },
  ],
  checkConfig: ({ settings, secrets }) => [
    ...(settings.region === undefined
      ? [{ member: 'region', found: 'no region', expected: 'a region', advice: 'Add region.' }]
      : []),
    ...(secrets.access_key_id !== undefined && secrets.secret_access_key === undefined
      ? [{ member: 'secret_access_key', found: 'none', expected: 'a secret', advice: 'Add it.' }]
      : []),
  ],
  addressOf: ({ region }) => (region === undefined ? null : `https://models.${region}.cloud.example`),
  endpoint: (_protocol, operation, model, { project }) => `/projects/${project}/models/${model}:${operation}`,
};

function resolveCloud(members: object, kind = cloud) {
  const shape = createProviderSchema([kind]).parse({ kind: 'cloud', ...members });
  const faults: string[] = [];
  const report = (path: readonly (string | number)[], { found, expected }: Fault) =>
    void faults.push(`${renderPath(path)}: found ${found}, expected ${expected}`);
  const timeouts = { connectMs: 1, firstByteMs: 1, firstBytePlainMs: 1, idleMs: 1, totalMs: 1 };
  const surroundings = { timeouts, privateOrigins: ['http://127.0.0.1:9100'] };
  return { provider: resolveProviders({ c: shape }, surroundings, report, [kind]).get('c'), faults };
}

describe('a kind with settings', () => {
  const SECRETS = { access_key_id: 'id', secret_access_key: 'secret' };

  test('takes its address from them, and gives them to its endpoints', () => {
    const { provider, faults } = resolveCloud({ ...SECRETS, region: 'eu-central-1', project: 'p1' });
    expect(faults).toEqual([]);
    expect(provider).toMatchObject({
      baseUrl: 'https://models.eu-central-1.cloud.example',
      credentials: { origin: 'https://models.eu-central-1.cloud.example' },
      settings: { region: 'eu-central-1', project: 'p1' },
    });
    expect(Object.keys(provider?.credentials?.pool[0].secrets ?? {})).toEqual(['access_key_id', 'secret_access_key']);
  });

  test('uses a configured address instead', () => {
    const { provider } = resolveCloud({ ...SECRETS, region: 'eu-central-1', base_url: 'https://proxy.example/x' });
    expect(provider).toMatchObject({
      baseUrl: 'https://proxy.example/x',
      credentials: { origin: 'https://proxy.example' },
    });
  });

  test.each([
    [
      { region: 'evil.example/#' },
      ["providers.c.region: found 'evil.example/#', expected a region such as eu-central-1"],
    ],
    [{}, ['providers.c: found no region, expected a region']],
    [
      { region: 'eu-central-1', api_keys: [{ name: 'a', key: 'x' }] },
      [
        'providers.c.api_keys: found api_keys with kind cloud, expected kind cloud with base_url, timeouts, access_key_id, secret_access_key, key_file, credentials, region, project only',
      ],
    ],
  ])('refuses %j', (members, expected) => {
    const { provider, faults } = resolveCloud({ ...SECRETS, ...members });
    expect(provider).toBeUndefined();
    expect(faults).toEqual(expected);
  });
});

test('a kind checks every key of a pool', () => {
  const keyed: RemoteKind = {
    ...cloud,
    secrets: openaiCompatible.secrets,
    checkConfig: ({ secrets }) =>
      secrets.api_key?.reveal().startsWith('ck-')
        ? []
        : [{ member: 'api_key', found: 'another key', expected: 'one that begins with ck-', advice: 'Correct it.' }],
  };
  const pool = (...keys: readonly string[]) => ({
    region: 'eu-central-1',
    api_keys: keys.map((key, index) => ({ name: `k${index}`, key })),
  });
  expect(resolveCloud(pool('ck-1', 'ck-2'), keyed).provider?.credentials?.pool).toHaveLength(2);
  expect(resolveCloud(pool('ck-1', 'x', 'ck-3'), keyed)).toEqual({
    provider: undefined,
    faults: ['providers.c.api_keys[1].key: found another key, expected one that begins with ck-'],
  });
});

describe('the credentials of a kind', () => {
  const REGION = { region: 'eu-central-1' };
  const poolIn = (members: object) => {
    const { provider, faults } = resolveCloud({ ...REGION, ...members });
    expect(faults).toEqual([]);
    return provider?.credentials?.pool.map(({ secrets, ...rest }) => ({
      ...rest,
      secrets: Object.fromEntries(Object.entries(secrets).map(([name, secret]) => [name, secret.reveal()])),
    }));
  };
  const plain = { name: 'default', source: null, weight: 1, organisation: null, models: null };
  const keys = { access_key_id: 'id', secret_access_key: 'canary' };

  test.each<[string, object, object[]]>([
    ['one set', keys, [{ ...plain, secrets: keys }]],
    ['a word of the kind', 'chain' as never, [{ ...plain, source: 'chain', secrets: {} }]],
    ['a text', '{ "a": 1 }\n' as never, [{ ...plain, secrets: { key_file: '{ "a": 1 }\n' } }]],
    [
      'a list',
      [
        { name: 'a', ...keys, organisation: 'acme', weight: '0', models: ['m'] },
        { name: 'b', key_file: '{}' },
      ],
      [
        { ...plain, name: 'a', weight: 0, organisation: 'acme', models: ['m'], secrets: keys },
        { ...plain, name: 'b', secrets: { key_file: '{}' } },
      ],
    ],
  ])('may be %s', (_, credentials, pool) => {
    expect<unknown>(poolIn({ credentials })).toEqual(pool);
  });

  test.each<[string, object, string]>([
    [
      'two forms',
      { credentials: 'chain', ...keys },
      'providers.c.credentials: found credentials together with access_key_id, expected one of the two',
    ],
    [
      'an incomplete set in a list',
      {
        credentials: [
          { name: 'a', ...keys },
          { name: 'b', access_key_id: 'id-2' },
        ],
      },
      'providers.c.credentials[1]: found none, expected a secret',
    ],
    [
      'an incomplete set',
      { credentials: { access_key_id: 'id' } },
      'providers.c.credentials: found none, expected a secret',
    ],
    [
      'equal secrets',
      {
        credentials: [
          { name: 'a', ...keys },
          { name: 'b', ...keys },
        ],
      },
      "providers.c.credentials[1].access_key_id: found the same secrets as 'a', expected secrets of its own for each entry",
    ],
    [
      'a word and an address of another host',
      { credentials: 'chain', base_url: 'https://cloud.example.evil.example' },
      'providers.c.base_url: found an address that is not the vendor’s, with a credential of this machine, expected kind cloud with https:// and a host of cloud.example',
    ],
    [
      'a file and an address of another host',
      { credentials: '/etc/key.json', base_url: 'http://models.cloud.example' },
      'providers.c.base_url: found an address that is not the vendor’s, with a credential of this machine, expected kind cloud with https:// and a host of cloud.example',
    ],
  ])('are refused with %s', (_, members, fault) => {
    const { provider, faults } = resolveCloud({ ...REGION, ...members });
    expect([provider, faults]).toEqual([undefined, [fault]]);
  });

  test('are used for an origin that server.private_origins allows', () => {
    expect(poolIn({ credentials: 'chain', base_url: 'http://127.0.0.1:9100/x' })).toHaveLength(1);
  });

  test('are not named in a problem, and a text needs a kind that takes it', () => {
    const { problems } = read('providers: { p: { kind: openai, credentials: canary-1 } }\n');
    expect(problems.map(renderConfigProblem)).toEqual([
      'f.yaml:1:46: providers.p.credentials: found a hidden text, expected a mapping with api_key. Correct it.',
    ]);
    const empty = read('providers: { p: { kind: openai, credentials: "" } }\n').problems;
    expect(empty.map(renderConfigProblem)).toEqual([
      'f.yaml:1:46: providers.p.credentials: found a hidden value, expected a word, a path or a text, or a mapping of secrets, or a list of such mappings, each with a name. Correct it.',
    ]);
    expect(poolOf('kind: openai, credentials: [{ name: a, api_key: canary-1 }]')).toMatchObject([{ name: 'a' }]);
  });
});
