/**
 * Tests that every architecture rule can fail: each case plants a violation in a clean temporary tree and names the
 * expected finding.
 */
import { afterAll, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { RULES } from './rules.ts';
import { readTree } from './source-tree.ts';

const OPENING = '/** Parses a thing. */\n';
const EXACT = JSON.stringify({ dependencies: { bun: '1.4.5', zod: '4.6.7' } });
const CLEAN: Readonly<Record<string, string>> = {
  'package.json': JSON.stringify({ devDependencies: { knip: '6.44.2' } }),
  'gateway/package.json': EXACT,
  'package-lock.json': '{ "packages": { "node_modules/tollgate": { "resolved": "gateway", "link": true } } }',
  'gateway/src/lib/secret.ts': `${OPENING}export const secret = 1;\n`,
  'gateway/src/errors/failure.ts': `${OPENING}import { secret } from '../lib/secret.ts';\nexport const failure = secret;\n`,
  'gateway/src/billing/money.ts': `${OPENING}export const money = 1n;\n`,
  'gateway/src/billing/cost.ts': `${OPENING}import { money } from './money.ts';\nexport const cost = money;\n`,
  'gateway/src/app.ts': `${OPENING}import { cost } from './billing/cost.ts';\nexport const app = cost;\n`,
};

const trees: string[] = [];
afterAll(() => {
  for (const tree of trees) rmSync(tree, { recursive: true });
});

/**
 * Returns what each rule finds in the clean tree with these files added or replaced, without rules that find nothing.
 */
function judged(planted: Record<string, string>): Record<string, string[]> {
  const root = mkdtempSync(join(tmpdir(), 'tollgate-planted-'));
  trees.push(root);
  for (const [name, text] of Object.entries({ ...CLEAN, ...planted })) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  const tree = readTree(root);
  const found = Object.entries(RULES).map(([name, rule]): [string, string[]] => [name, rule(tree)]);
  return Object.fromEntries(found.filter(([, violations]) => violations.length > 0));
}

/** Renders a valid file that imports these, one per line. */
function importing(...specifiers: string[]): string {
  return OPENING + specifiers.map((specifier) => `import '${specifier}';\n`).join('');
}

test('the clean tree breaks no rule', () => {
  expect(judged({})).toEqual({});
});

const DIRECTION = 'imports go downwards by the table';
const HOMES = 'each package has its home';
const CYCLES = 'no cycles';
const SIZES = 'files are small';
const NAMES = 'file names are kebab-case and mean something';
const ESCAPES = 'no escape from a check';

/** What is planted, the one rule that must find it, and a part of its message. */
const PLANTED: [string, Record<string, string>, string, string][] = [
  [
    'an import upwards',
    { 'gateway/src/lib/up.ts': importing('../errors/failure.ts') },
    DIRECTION,
    'lib may import nothing; errors is not',
  ],
  [
    'wire importing anything',
    { 'gateway/src/wire/sse.ts': importing('../lib/secret.ts') },
    DIRECTION,
    'gateway/src/wire/sse.ts:2',
  ],
  [
    'one domain folder importing another',
    { 'gateway/src/identity/key.ts': importing('../billing/cost.ts') },
    DIRECTION,
    'billing is not among',
  ],
  [
    'a store that is not joined by app',
    { 'gateway/src/store/sqlite/open.ts': OPENING, 'gateway/src/call/line.ts': importing('../store/sqlite/open.ts') },
    DIRECTION,
    'store/sqlite is not among them',
  ],
  [
    'a type import upwards',
    { 'gateway/src/lib/up.ts': `${OPENING}import type { X } from '../app.ts';\n` },
    DIRECTION,
    'app is not among',
  ],
  [
    'an import over several lines',
    { 'gateway/src/lib/up.ts': `${OPENING}import {\n  a,\n  b,\n} from '../app.ts';\n` },
    DIRECTION,
    'up.ts:5',
  ],
  [
    'a dynamic import upwards',
    { 'gateway/src/lib/up.ts': `${OPENING}const app = await import('../app.ts');\n` },
    DIRECTION,
    'up.ts:2',
  ],
  [
    'a worker of another part',
    { 'gateway/src/lib/up.ts': `${OPENING}new Worker(new URL('../app.ts', import.meta.url));\n` },
    DIRECTION,
    'up.ts:2',
  ],
  [
    'a protocol that knows another one',
    {
      'gateway/src/protocols/chat/a.ts': importing('../messages/b.ts'),
      'gateway/src/protocols/messages/b.ts': OPENING,
    },
    DIRECTION,
    'must not know another',
  ],
  [
    'a source that imports a test',
    { 'gateway/src/lib/up.ts': importing('../../test/rig.ts') },
    DIRECTION,
    'outside of gateway/src',
  ],
  ['a folder without a row', { 'gateway/src/stuff/thing.ts': OPENING }, DIRECTION, 'no row of import-table.ts'],
  [
    'a package away from home',
    { 'gateway/src/server/form.ts': importing('zod/v4') },
    HOMES,
    'imports zod: its home is config',
  ],
  [
    'an unknown package',
    { 'gateway/src/server/form.ts': importing('@left/pad/x') },
    HOMES,
    '@left/pad: it has no home',
  ],
  [
    'SQLite outside of its store',
    { 'gateway/src/call/line.ts': importing('bun:sqlite') },
    HOMES,
    'its home is store/sqlite',
  ],
  ['a test package in a source', { 'gateway/src/lib/up.ts': importing('fast-check') }, HOMES, 'for tests only'],
  ['an index', { 'gateway/src/lib/index.ts': OPENING }, 'no barrels but the registries', 'an index is a barrel'],
  [
    'exports handed on',
    { 'gateway/src/lib/all.ts': `${OPENING}export * from './secret.ts';\n` },
    'no barrels but the registries',
    'hands on another',
  ],
  [
    'a cycle of three, through a type',
    {
      'gateway/src/lib/a.ts': importing('./b.ts'),
      'gateway/src/lib/b.ts': `${OPENING}import type { C } from './c.ts';\n`,
      'gateway/src/lib/c.ts': importing('./a.ts'),
    },
    CYCLES,
    'lib/a.ts → gateway/src/lib/b.ts → gateway/src/lib/c.ts → gateway/src/lib/a.ts',
  ],
  [
    'a file over 400 lines',
    { 'gateway/scripts/long.ts': `${OPENING}${'\n'.repeat(400)}` },
    SIZES,
    '401 lines; at most 400',
  ],
  [
    'a test over 600 lines',
    { 'gateway/src/lib/a.test.ts': `${OPENING}${'\n'.repeat(600)}` },
    SIZES,
    '601 lines; at most 600',
  ],
  [
    '16 source files in a folder',
    Object.fromEntries(Array.from({ length: 16 }, (_, at) => [`gateway/src/wire/part-${at}.ts`, OPENING])),
    'folders are small',
    'gateway/src/wire: 16 source files; at most 15',
  ],
  [
    'no opening comment',
    { 'gateway/src/lib/mute.ts': 'export const mute = 1;\n' },
    'a file opens with its purpose',
    'mute.ts: opens',
  ],
  [
    'an opening that says what a file owns',
    { 'gateway/src/lib/mine.ts': '/** Owns the words. */\n' },
    'words are plain English',
    'mine.ts:1: “Owns”; use the purpose',
  ],
  [
    'a coined phrase behind code',
    { 'gateway/src/lib/mine.ts': `${OPENING}export const x = 1; // nobody reads it\n` },
    'words are plain English',
    'mine.ts:2: “nobody”; use “no one”',
  ],
  [
    'a coined phrase in the comment of a test',
    { 'gateway/test/rig.ts': `${OPENING}// A key of an unknown account.\nexport const x = 1; // he waits\n` },
    'words are plain English',
    'rig.ts:3: “he”; use “they”',
  ],
  [
    'a clause as the name of a test',
    { 'gateway/src/lib/mine.test.ts': `${OPENING}test('the last answer is anew', () => {});\n` },
    'words are plain English',
    'mine.test.ts:2: “anew”; use “again”',
  ],
  [
    'a coined phrase on a page',
    { 'docs/guide.md': '# Guide\n\n`nobody` is quoted.\n\n```sh\necho nobody\n```\n\nWhoever asks.\n' },
    'words are plain English',
    'docs/guide.md:9: “Whoever”; use the person',
  ],
  [
    'a clause as an object',
    { 'docs/guide.md': '# Guide\n\nThe answer is what came.\n' },
    'words are plain English',
    'docs/guide.md:3: “is what came”',
  ],
  [
    'a coined phrase in a message',
    { 'gateway/src/lib/say.ts': `${OPENING}export const say = () => 'ask whoever runs this gateway';\n` },
    'words are plain English',
    'say.ts:2: “whoever”; use the person',
  ],
  [
    'a coined identifier',
    { 'gateway/src/lib/desk.ts': `${OPENING}export interface MoneyDesk {}\n` },
    'words are plain English',
    'desk.ts:2: “MoneyDesk”; use BillingDeps',
  ],
  [
    'an old phrase in a label',
    { 'console/src/ui/a.tsx': `${OPENING}export const a = <p title="Key">Calls at once</p>;\n` },
    'the interface is plain English',
    'a.tsx:2: “Calls at once”; use “request”',
  ],
  [
    'an old phrase in a message',
    { 'console/src/ui/a.ts': `${OPENING}export const a = (name: string) => \`${'$'}{name} binds the next one\`;\n` },
    'the interface is plain English',
    'a.ts:2: “binds”; use “applies to”',
  ],
  [
    'an old phrase in text of its own line',
    { 'console/src/ui/a.tsx': `${OPENING}const a = (\n  <p>\n    Sign in by passkey\n  </p>\n);\n` },
    'the interface is plain English',
    'a.tsx:4: “Sign in by”; use “markup”',
  ],
  [
    'a file that a page names and that is gone',
    { 'ARCHITECTURE.md': 'The code is in `lib/secret.ts`, `billing/*.ts` and `lib/gone.ts`.\n' },
    'pages name files that exist',
    'ARCHITECTURE.md:1: names lib/gone.ts',
  ],
  [
    'a comment that stands alone',
    { 'gateway/src/lib/split.ts': `${OPENING}export const a = 1;\n\n/**\n * Splits.\n */\n\nexport const b = 2;\n` },
    'a comment is attached to what it describes',
    'split.ts:4',
  ],
  [
    'a blank line between imports',
    {
      'gateway/src/app.ts': `${OPENING}import { cost } from './billing/cost.ts';\n\nimport './lib/secret.ts';\ncost;\n`,
    },
    'imports are one block',
    'app.ts:3',
  ],
  ['a name that says nothing', { 'gateway/src/lib/string-utils.ts': OPENING }, NAMES, 'the name says nothing'],
  ['a name in camel case', { 'gateway/src/lib/someThing.ts': OPENING }, NAMES, 'not kebab-case'],
  ['a cast to any', { 'gateway/src/lib/cast.ts': `${OPENING}export const x = (1 as any).y;\n` }, ESCAPES, 'cast.ts:2'],
  [
    'a parameter of any',
    { 'gateway/src/lib/cast.ts': `${OPENING}export const f = (x: any) => x;\n` },
    ESCAPES,
    'cast.ts:2',
  ],
  ['an ignored type error', { 'gateway/src/lib/cast.ts': `${OPENING}// @ts-ignore\n` }, ESCAPES, 'cast.ts:2'],
  ['an ignored lint', { 'gateway/src/lib/cast.ts': `${OPENING}// biome-ignore lint: no\n` }, ESCAPES, 'cast.ts:2'],
  ['work put off', { 'gateway/src/lib/cast.ts': `${OPENING}// TODO: the rest\n` }, ESCAPES, 'cast.ts:2'],
  [
    'a float in billing',
    { 'gateway/src/billing/cost.ts': `${OPENING}export const cost = Number(1n);\n` },
    'no float near money',
    'cost.ts:2',
  ],
  [
    'a range of versions',
    { 'gateway/package.json': JSON.stringify({ dependencies: { zod: '^4.6.7' } }) },
    'exact versions',
    'zod is ^4.6.7',
  ],
  [
    '25 dependencies beside the runtime',
    {
      'gateway/package.json': JSON.stringify({
        dependencies: Object.fromEntries(['bun', ...'abcdefghijklmnopqrstuvwxy'].map((name) => [name, '1.0.0'])),
      }),
    },
    'few runtime dependencies',
    '25 runtime dependencies; at most 24',
  ],
  [
    'a host in the lock file',
    { 'package-lock.json': '{\n"resolved": "https://packages.invalid/zod.tgz"\n}' },
    'the lock file names no host',
    'package-lock.json:2',
  ],
  [
    'a platform that the lock file lacks',
    {
      'package-lock.json': JSON.stringify({
        packages: {
          'node_modules/a': { optionalDependencies: { 'a-linux': '1.0.0', 'a-darwin': '1.0.0' } },
          'node_modules/a-linux': { version: '1.0.0' },
        },
      }),
    },
    'the lock file holds every platform',
    'node_modules/a may need a-darwin',
  ],
];

describe('found', () => {
  test.each(PLANTED)('%s', (_what, files, rule, message) => {
    const found = judged(files);
    expect(Object.keys(found)).toEqual([rule]);
    expect(found[rule]).toHaveLength(1);
    expect(found[rule]?.[0]).toContain(message);
  });

  test('every rule has a planted violation', () => {
    expect(new Set(PLANTED.map(([, , rule]) => rule))).toEqual(new Set(Object.keys(RULES)));
  });
});

test('registries, tests, words in comments and the power of ten of a price are allowed', () => {
  const allowed = {
    'gateway/src/providers/registry.ts': `${OPENING}export { secret } from '../lib/secret.ts';\n`,
    'gateway/src/protocols/chat/index.ts': OPENING,
    'gateway/src/lib/testing/rig.ts': importing('bun:test', '../../app.ts'),
    'gateway/src/lib/secret.test.ts': importing('bun:test', '../app.ts', '../../test/rig.ts'),
    'gateway/src/lib/cast.ts': '/** Delivered as any other. */\n',
    'gateway/src/billing/price.ts': `${OPENING}const match = /(a)(b)(c)?/.exec('ab') ?? [];\nexport const shift = Number(match[3] ?? '0');\n`,
  };
  expect(judged(allowed)).toEqual({});
});
