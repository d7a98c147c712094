/** Tests the targets of models and the choice among them: what the file can say, its defaults and its faults. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { buildRouteTable } from '../routing/route.ts';
import { type Config, DEFAULT_ROUTING } from './config.ts';
import { renderConfigProblem } from './file/config-problem.ts';
import { loadConfig } from './load-config.ts';
import { listServedModels } from './served-models.ts';

let cwd = '';
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'tollgate-routing-'));
});
afterAll(() => rmSync(cwd, { recursive: true }));

function read(text: string) {
  writeFileSync(join(cwd, 'f.yaml'), text);
  return loadConfig({ file: 'f.yaml', environment: {}, cwd });
}

function load(text: string): Config {
  const { config, problems } = read(text);
  expect(problems.map(renderConfigProblem)).toEqual([]);
  if (config === null) throw new Error('expected a configuration');
  return config;
}

const TWO =
  'providers: { lab: { kind: openai-compatible, base_url: http://h/v1 }, claude: { kind: anthropic, api_key: x } }\n';

/** The model `m` with these members. */
const modelOf = (members: string, before = '') =>
  load(`${TWO}${before}models: { m: { ${members} } }\n`).models?.get('m');

describe('targets', () => {
  test('have their defaults', () => {
    expect(modelOf('targets: [{ provider: lab }, { provider: claude, model: big }]')?.targets).toMatchObject([
      { name: 'lab/m', model: 'm', priority: 1, weight: null, maxConcurrency: null, tags: [], price: null },
      { name: 'claude/big', model: 'big', priority: 1, weight: null },
    ]);
  });

  test('at a server on this machine have a limit of open requests', () => {
    const text =
      'providers: { o: { kind: openai-compatible, preset: ollama } }\nmodels: { m: { targets: [{ provider: o }] }, n: { targets: [{ provider: o, max_concurrency: 2 }] } }\n';
    expect([...(load(text).models?.values() ?? [])].map(({ targets }) => targets[0].maxConcurrency)).toEqual([8, 2]);
  });

  test('have options of their own', () => {
    const model = modelOf(
      'price: free, targets: [{ provider: lab, name: main, weight: 3, max_concurrency: 50, tags: [eu, zdr] }, ' +
        '{ provider: claude, priority: 2, weight: 0, timeouts: { first_byte: 60s }, price: { input: 3, output: 15 } }]',
    );
    const [main, second] = model?.targets ?? [];
    expect(main).toMatchObject({ name: 'main', weight: 3, maxConcurrency: 50, tags: ['eu', 'zdr'], price: null });
    expect(second).toMatchObject({ priority: 2, weight: 0, price: { input: '3', output: '15' } });
    expect(second?.timeouts?.firstByteMs).toBe(60_000);
  });

  test.each([
    [
      'two equal targets',
      '{ provider: lab }, { provider: lab, weight: 2 }',
      "targets[1]: found 'm' at lab twice, expected each model of a provider once. Remove one of the two targets, or name another model.",
    ],
    [
      'two equal names',
      '{ provider: lab, name: a }, { provider: claude, name: a }',
      "targets[1].name: found 'a' twice, expected a unique name for each target. Give it another name.",
    ],
    [
      'a name with a space',
      '{ provider: lab, name: "a b" }',
      "targets[0].name: found 'a b', expected a name of 1 to 64 letters, digits, ., _ or -, beginning with a letter or digit. Choose another name.",
    ],
    [
      'a priority of 0',
      '{ provider: lab, priority: 0 }',
      "targets[0].priority: found '0', expected a whole number from 1 to 100. Correct the number.",
    ],
    [
      'a weight above the maximum',
      '{ provider: lab, weight: 1001 }',
      "targets[0].weight: found '1001', expected a whole number from 0 to 1000. Correct the number.",
    ],
    [
      'half a weight',
      '{ provider: lab, weight: 0.5 }',
      "targets[0].weight: found '0.5', expected a whole number from 0 to 1000. Correct the number.",
    ],
    [
      'no room at all',
      '{ provider: lab, max_concurrency: 0 }',
      "targets[0].max_concurrency: found '0', expected a whole number from 1 to 100000. Correct the number.",
    ],
    [
      'an unknown form of a tag',
      '{ provider: lab, tags: [EU] }',
      "targets[0].tags[0]: found 'EU', expected a tag of 1 to 32 lower-case letters, digits, ., _ or -, beginning with a letter or digit, such as eu. Correct the tag.",
    ],
    [
      'a tag twice',
      '{ provider: lab, tags: [eu, eu] }',
      'targets[0].tags[1]: found eu twice, expected each once. Remove one of them.',
    ],
    [
      'a price with an impossible member',
      '{ provider: lab, price: { input: 1, output: 2, cache_write: 1, cache_write_5m: 1 } }',
      'targets[0].price.cache_write: found cache_write together with cache_write_5m, expected one of the two: they mean the same. Remove one.',
    ],
    [
      'a price without output',
      '{ provider: lab, price: { input: 1 } }',
      'targets[0].price.output: found nothing, expected USD per million tokens: a number from 0 to 1000000 with at most 6 decimals, such as 0.25. Add the member output.',
    ],
  ])('%s is refused', (_, targets, problem) => {
    const { problems } = read(`${TWO}models: { m: { targets: [${targets}] } }\n`);
    expect(problems.map((one) => renderConfigProblem(one).replace(/^f\.yaml:2:\d+: models\.m\./, ''))).toEqual([
      problem,
    ]);
  });
});

describe('routing', () => {
  test('is by default in the order of the file, and by weight where a target has one', () => {
    expect(modelOf('targets: [{ provider: lab }]')?.routing).toEqual({ ...DEFAULT_ROUTING, strategy: 'order' });
    expect(modelOf('targets: [{ provider: lab, weight: 1 }]')?.routing.strategy).toBe('weight');
  });

  test('takes what a model does not set from the defaults of the file', () => {
    const defaults =
      'defaults: { routing: { affinity: off, max_extra_attempts: 4, uncertain_retry: 0.000001, hedge: on, fallback_on: [overflow, policy] } }\n';
    const routing = modelOf(
      'routing: { strategy: latency, max_extra_attempts: 0 }, targets: [{ provider: lab }]',
      defaults,
    )?.routing;
    expect(routing).toEqual({
      strategy: 'latency',
      affinity: 'off',
      maxExtraAttempts: 0,
      uncertainRetry: 1_000n,
      hedge: true,
      fallbackOn: ['overflow', 'policy'],
    });
    const back = modelOf('routing: { hedge: off, fallback_on: [] }, targets: [{ provider: lab }]', defaults)?.routing;
    expect(back).toMatchObject({ hedge: false, fallbackOn: [], uncertainRetry: 1_000n });
  });

  test('of a default strategy applies to models without routing', () => {
    const { defaults, models } = load(
      `${TWO}defaults: { routing: { strategy: latency } }\nmodels: { m: { targets: [{ provider: lab, weight: 0 }] } }\n`,
    );
    expect(defaults.routing).toEqual({ ...DEFAULT_ROUTING, strategy: 'latency' });
    expect(models?.get('m')?.routing.strategy).toBe('latency');
  });

  test("by price needs a price of each target: its own, the model's or the catalogue's", () => {
    const both =
      'routing: { strategy: price }, targets: [{ provider: lab, price: free }, { provider: claude, model: claude-sonnet-4-6 }]';
    expect(modelOf(both)?.routing.strategy).toBe('price');
    expect(modelOf('routing: { strategy: price }, price: free, targets: [{ provider: lab }]')?.price).toBe('free');
    const { problems } = read(
      `${TWO}models: { m: { routing: { strategy: price }, targets: [{ provider: claude, model: claude-sonnet-4-6 }, { provider: lab }] } }\n`,
    );
    expect(problems.map(renderConfigProblem)).toEqual([
      "f.yaml:2:104: models.m.targets[1]: found no price of 'lab/m' with strategy price, expected a price for each target: the catalogue does not know this one. Add price to the target or to the model, or write another strategy.",
    ]);
  });

  test.each([
    [
      'strategy: random',
      "strategy: found 'random', expected one of order, weight, latency, price. Choose one of these.",
    ],
    ['affinity: user', "affinity: found 'user', expected one of session, prefix, off. Choose one of these."],
    [
      'max_extra_attempts: 11',
      "max_extra_attempts: found '11', expected a whole number from 0 to 10. Correct the number.",
    ],
    [
      'uncertain_retry: 0.0000001',
      "uncertain_retry: found '0.0000001', expected USD: a number from 0 to 1000 with at most 6 decimals, such as 0.50. Correct the number.",
    ],
    [
      'uncertain_retry: 1000.1',
      "uncertain_retry: found '1000.1', expected USD: a number from 0 to 1000 with at most 6 decimals, such as 0.50. Correct the number.",
    ],
    ['hedge: true', "hedge: found 'true', expected one of off, on. Choose one of these."],
    ['fallback_on: [rate]', "fallback_on[0]: found 'rate', expected one of overflow, policy. Choose one of these."],
    ['fallback_on: [policy, policy]', 'fallback_on[1]: found policy twice, expected each once. Remove one of them.'],
    [
      'retries: 3',
      "retries: found the unknown member 'retries', expected one of strategy, affinity, max_extra_attempts, uncertain_retry, hedge, fallback_on. This version does not know it: remove it.",
    ],
  ])('with %s is refused', (member, problem) => {
    const places = [
      [`${TWO}models: { m: { targets: [{ provider: lab }], routing: { ${member} } } }\n`, 'models.m.routing.'],
      [`defaults: { routing: { ${member} } }\n`, 'defaults.routing.'],
    ] as const;
    for (const [text, path] of places) {
      expect(read(text).problems.map((one) => renderConfigProblem(one).replace(/^\S+ /, ''))).toEqual([path + problem]);
    }
  });

  test('refuses weights that its strategy does not read, and takes 0 as a fallback', () => {
    const targets = (weight: number) =>
      `targets: [{ provider: claude, price: free }, { provider: lab, price: free, weight: ${weight} }]`;
    for (const strategy of ['order', 'latency', 'price']) {
      expect(modelOf(`routing: { strategy: ${strategy} }, ${targets(0)}`)?.targets[1]?.weight).toBe(0);
      const { problems } = read(`${TWO}models: { m: { routing: { strategy: ${strategy} }, ${targets(1)} } }\n`);
      expect(problems.map((one) => renderConfigProblem(one).replace(/^\S+ /, ''))).toEqual([
        `models.m.targets[1].weight: found a weight with strategy ${strategy}, expected strategy weight, or the weight 0 of a target that is only a fallback. Remove the weight, or write strategy: weight.`,
      ]);
    }
  });
});

const option = <Value>(...values: readonly Value[]) => fc.option(fc.constantFrom(...values), { nil: undefined });
const targetShape = fc.record({
  provider: fc.constantFrom('a', 'b', 'd'),
  model: option('m', 'n', 'claude-sonnet-4-6'),
  name: option('one', 'two'),
  priority: option('1', '2'),
  weight: option('0', '3'),
  tags: option(['eu'], ['eu', 'zdr']),
  price: option<unknown>('free', { input: '1', output: '2' }),
});
const keyShape = fc.record({ name: fc.constantFrom('k', 'l', 'o'), models: option(['m'], ['m', 'n']) });
const file = fc
  .record({
    keys: fc.uniqueArray(keyShape, { selector: ({ name }) => name, minLength: 1 }),
    targets: fc.array(targetShape, { minLength: 1, maxLength: 3 }),
    strategy: option('order', 'weight', 'latency', 'price'),
    price: option('free'),
  })
  .map(({ keys, targets, strategy, price }) => ({
    providers: {
      a: { kind: 'anthropic', api_keys: keys.map((key) => ({ ...key, key: `key-${key.name}` })) },
      b: { kind: 'openai-compatible', base_url: 'http://h/v1' },
      d: { kind: 'demo' },
    },
    models: { m: { targets, price, routing: { strategy } } },
  }));

test('every configuration of targets, routing and keys that the file accepts can be served', () => {
  let served = 0;
  fc.assert(
    fc.property(file, (written) => {
      const { config } = read(JSON.stringify(written));
      if (config === null) return;
      served += 1;
      const targets =
        buildRouteTable(
          listServedModels(config, () => []),
          () => null,
        ).get('m')?.targets ?? [];
      const { length } = written.models.m.targets;
      expect(targets).toHaveLength(length);
      expect(new Set(targets.map(({ name }) => name)).size).toBe(length);
      expect(new Set(targets.map(({ upstream }) => upstream.key)).size).toBe(length);
    }),
    { numRuns: 300 },
  );
  expect(served).toBeGreaterThan(30);
});
