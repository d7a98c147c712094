/** Tests the commands on routes and credentials without a server, and how an explanation is printed. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { explanationView } from '../../control/routing/routing-shapes.ts';
import { temporaryFolders } from '../../store/testing/temporary-folder.ts';
import { runProgram } from '../testing/run-program.ts';
import { renderExplanation } from './explanation.ts';

const newFolder = temporaryFolders();
const FILE = `
providers:
  filed: { kind: openai-compatible, base_url: https://filed.example/v1, api_key: none }
  other: { kind: openai-compatible, base_url: https://other.example/v1, api_key: none }
models:
  from-file: { targets: [ { provider: filed } ] }
`;
let dataDir: string;

beforeEach(() => {
  const folder = newFolder();
  dataDir = join(folder, 'data');
  writeFileSync(join(folder, 'tollgate.yaml'), FILE);
  process.env.TOLLGATE_CONFIG = join(folder, 'tollgate.yaml');
});
afterEach(() => {
  delete process.env.TOLLGATE_CONFIG;
});

const run = (...words: string[]) => runProgram(dataDir, ...words);

describe('tollgate routes', () => {
  test('creates, changes, lists and removes a route; it is there at the next start', async () => {
    const targets = ['--target', 'provider=filed,model=a,name=main,weight=3,tags=eu+zdr,first_byte=60s'];
    const made = await run(
      'routes',
      'create',
      'new',
      ...targets,
      '--target',
      'provider=other,model=b',
      '--alias',
      'nick',
    );
    expect(made).toMatchObject({ exitCode: 0 });
    expect(made.stdout).toMatch(/strategy +weight/);
    expect(made.stdout).toMatch(/main +filed +a +1 +3 +- +eu, zdr +in rotation/);
    const changed = await run('route', 'set', 'nick', '--strategy', 'order');
    expect(changed).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('has no route of its own') });
    await run('routes', 'set', 'new', '--target', 'provider=filed,model=a', '--fallback-on', 'overflow', '--json');
    await run('routes', 'disable', 'from-file', 'filed/from-file');
    const { stdout } = await run('routes', 'list', '--json');
    const views = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect(views).toMatchObject([
      { model: 'from-file', source: 'file', targets: [{ out_of_rotation_since: null }] },
      { model: 'new', source: 'console', routing: { strategy: 'order', fallback_on: ['overflow'] }, aliases: ['nick'] },
    ]);
    expect(await run('routes', 'remove', 'new')).toMatchObject({ exitCode: 0, stdout: 'The route new is removed.\n' });
  });

  test('takes a definition from a file, and flags before it', async () => {
    const file = join(dataDir, '..', 'route.json');
    writeFileSync(file, JSON.stringify({ targets: [{ provider: 'other' }], routing: { strategy: 'latency' } }));
    const { stdout } = await run('routes', 'create', 'new', '--file', file, '--alias', 'nick', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ aliases: ['nick'], routing: { strategy: 'latency' } });
  });

  test.each([
    [['create', 'new'], 'nothing to do'],
    [['create', 'new', '--target', 'filed'], 'expected NAME=VALUE'],
    [['create', 'new', '--target', 'provider=filed,weight=x'], 'expected a whole number'],
    [['create', 'new', '--target', 'provider=filde'], 'Did you mean filed?'],
    [
      ['create', 'new', '--file', '/nowhere.json'],
      '--file /nowhere.json: found no such file, expected a readable file',
    ],
    [['create', 'new', '--file', '/'], '--file /: found a file that cannot be read (EISDIR)'],
    [['create', 'from-file', '--target', 'provider=other'], 'read-only here'],
    [['states'], 'No server is running'],
    [['explain', '--model', 'from-file'], 'No server is running'],
    [['close', 'from-file', 'filed/from-file'], 'No server is running'],
    [['disable', 'from-file', 'filed/from-file'], 'is the only target'],
  ])('refuses %j', async (words, message) => {
    const { exitCode, stderr } = await run('routes', ...words);
    expect(exitCode).toBeGreaterThan(0);
    expect(stderr).toContain(message);
  });

  test('without a configuration that names the providers: says so', async () => {
    delete process.env.TOLLGATE_CONFIG;
    expect(await run('routes', 'list')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('no configuration file here names the providers'),
    });
  });
});

describe('tollgate credentials', () => {
  test('lists those of the file, which are read-only, and puts one out of rotation only if another is left', async () => {
    expect((await run('credentials', 'list')).stdout).toMatch(/filed +default +file +- +1 +- +all +in rotation/);
    const refused = await run('credentials', 'disable', 'filed', 'default');
    expect(refused.stderr).toContain('would be left for');
    process.env.SPARE_TEST_KEY = 'a-long-enough-secret';
    const added = await run('credentials', 'add', 'filed', 'spare', '--secret', 'api_key=SPARE_TEST_KEY');
    delete process.env.SPARE_TEST_KEY;
    expect(added.stderr).toContain('read-only here');
  });

  test('takes secrets from the environment only, and repeats none', async () => {
    const typed = await run('credentials', 'add', 'filed', 'spare', '--secret', 'api_key=sk-typed-secret');
    expect(typed).toMatchObject({ exitCode: 2 });
    expect(typed.stderr).not.toContain('sk-typed');
    const unset = await run('credentials', 'add', 'filed', 'spare', '--secret', 'api_key=NOT_SET_ANYWHERE');
    expect(unset.stderr).toContain('no environment variable of the name given for api_key is set');
    expect((await run('credentials', 'set', 'filed', 'default')).stderr).toContain('nothing to change');
  });
});

test('an explanation has one line per target, in the order of trial', () => {
  const rest = { estimate_nano_usd: null, cache: 'cold', cold_cache_nano_usd: '0', strips: null, until: null };
  const there = { upstream_model: 'claude-sonnet', priority: 1, lacks: null, credential: null };
  const closed = { ...rest, ...there, state: 'closed', faults: 0, outcomes: 0, last_failure: null };
  const text = renderExplanation(
    explanationView.parse({
      model: 'claude-sonnet',
      protocol: 'messages',
      strategy: 'order',
      pin: null,
      needs: ['tools'],
      required_tags: [],
      input_tokens: 41_200,
      refusal: null,
      targets: [
        {
          ...closed,
          target: 'bedrock/eu',
          provider: 'bedrock',
          verdict: 'chosen',
          why: 'fallback',
          estimate_nano_usd: '130000000',
          cold_cache_nano_usd: '110000000',
          strips: 'acme',
        },
        { ...closed, target: 'global', provider: 'vertex', verdict: 'fallback', why: 'fallback' },
        {
          ...closed,
          target: 'main',
          provider: 'anthropic',
          verdict: 'skipped',
          why: 'breaker',
          state: 'open',
          until: '2026-11-20T11:02:07.000Z',
          faults: 5,
          outcomes: 5,
          last_failure: 'overloaded',
        },
        {
          ...closed,
          target: 'old',
          provider: 'anthropic',
          verdict: 'skipped',
          why: 'benched',
          state: 'benched',
          until: '2026-11-20T11:07:00.000Z',
          outcomes: 1,
          last_failure: 'config',
        },
        { ...closed, target: 'lab/qwen3', provider: 'lab', verdict: 'filtered', why: 'images' },
      ],
    }),
  );
  expect(text).toBe(
    [
      'claude-sonnet  strategy order, pin none, needs tools, 41k tokens',
      '  1 bedrock/eu       chosen                                            by fallback, est. $0.13, cache cold (+$0.11), thinking of acme stripped',
      '  2 vertex/global    fallback',
      '  - anthropic/main   open until 11:02:07 (5 of 5 faults: overloaded)   skipped: breaker',
      '  - anthropic/old    benched until 11:07:00 (config)                   skipped: benched',
      '  - lab/qwen3        filtered: no images',
      '',
    ].join('\n'),
  );
});
