/**
 * Tests the package that npm installs: what it contains, and that it leads from an empty folder to the first answer.
 * npm fetches Bun, its only dependency, from its cache or its registry; where neither has it, from this clone.
 */
import { afterAll, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../../scripts/package/bundle-program.ts';
import { packForNpm } from '../../scripts/package/npm-package.ts';
import { buildConsole } from '../../src/app/build-console.ts';
import { exhaustiveTest } from '../harness/exhaustive.ts';
import { startScheduledClock } from '../harness/scheduled-clock.ts';
import { expectFirstUse, startInstalled } from './installed.ts';

const TEST_MS_MAX = 180_000;

const root = mkdtempSync(join(tmpdir(), 'tollgate-npm-test-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const packed = await packForNpm(join(root, 'packed'), await buildConsole());
const unpacked = join(root, 'unpacked');
mkdirSync(unpacked);
Bun.spawnSync(['tar', '-xzf', packed, '-C', unpacked]);
const names = readdirSync(join(unpacked, 'package'), { recursive: true, encoding: 'utf8' });
const read = (name: string): string => readFileSync(join(unpacked, 'package', name), 'utf8');

describe('content', () => {
  test('the bundle, the launcher and Bun as the only dependency; no sources, no tests', () => {
    const { dependencies, bin, private: isPrivate } = JSON.parse(read('package.json'));
    const { dependencies: ours } = JSON.parse(readFileSync(join(ROOT, 'gateway/package.json'), 'utf8'));
    expect([dependencies, bin, isPrivate]).toEqual([{ bun: ours.bun }, { tollgate: 'bin/tollgate' }, undefined]);
    expect(names).toContain('src/main.js');
    expect(names.filter((name) => /\.tsx?$|(^|\/)test|console\/src/.test(name))).toEqual([]);
  });

  test('every program of a thread', () => {
    const sources = join(ROOT, 'gateway/src');
    const workers = [...new Bun.Glob('**/*-worker.ts').scanSync(sources)].filter((name) => !name.includes('/testing/'));
    expect(workers.length).toBeGreaterThanOrEqual(4);
    expect(names).toEqual(expect.arrayContaining(workers.map((name) => `src/${name.replace(/\.ts$/, '.js')}`)));
  });

  test('nothing names the folder of the build', () => {
    const files = names.filter((name) => /\.(js|cjs|json|txt)$/.test(name));
    expect(files.filter((name) => read(name).includes(ROOT))).toEqual([]);
  });

  test('the bill of materials and the notices list what is bundled, and nothing of the build', () => {
    const { components, dependencies, specVersion, serialNumber } = JSON.parse(read('sbom.cdx.json'));
    const listed: string[] = components.map((one: { 'bom-ref': string }) => one['bom-ref'].replace(/@[^@]+$/, ''));
    expect(listed).toEqual(expect.arrayContaining(['bun', 'zod', 'hono', 'better-auth', 'kysely', 'react', 'cmdk']));
    expect(
      listed.filter((name) => ['vite', 'typescript', 'openai', 'playwright-core', '@biomejs/biome'].includes(name)),
    ).toEqual([]);
    expect([specVersion, serialNumber]).toEqual(['1.5', undefined]);
    const refs = new Set(components.map((one: { 'bom-ref': string }) => one['bom-ref']));
    for (const { ref, dependsOn } of dependencies) {
      expect(ref.startsWith('tollgate@') || refs.has(ref)).toBe(true);
      expect(dependsOn.filter((other: string) => !refs.has(other))).toEqual([]);
    }
    for (const { type, name, version, group, purl, licenses, hashes } of components) {
      const full = group === undefined ? name : `${group}/${name}`;
      expect({ full, type, purl, version }).toEqual({
        full,
        type: 'library',
        purl: `pkg:npm/${full.replace('@', '%40')}@${version}`,
        version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      });
      expect({ full, licensed: licenses?.length > 0, hashed: hashes?.length > 0 }).toEqual({
        full,
        licensed: true,
        hashed: true,
      });
    }
    const notices = read('THIRD-PARTY-NOTICES.txt');
    expect(notices).toContain('\nzod 4.');
    expect(notices).toContain('Permission is hereby granted');
    expect(notices).toContain('SIL OPEN FONT LICENSE');
  });

  exhaustiveTest(
    'a second build has the same bytes',
    async () => {
      const again = await packForNpm(join(root, 'again'), await buildConsole());
      expect(readFileSync(again).equals(readFileSync(packed))).toBe(true);
    },
    TEST_MS_MAX,
  );
});

/** npm as a user has it, without what the test runner sets. */
const environment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_ENV|BUN_|TOLLGATE_|.*_API_KEY$)/i.test(name)),
);

async function npm(cwd: string, ...words: string[]): Promise<{ status: number; stderr: string }> {
  const running = Bun.spawn(['npm', ...words, '--no-audit', '--no-fund'], {
    cwd,
    env: environment,
    stdout: 'ignore',
    stderr: 'pipe',
  });
  const stderr = await new Response(running.stderr).text();
  return { status: await running.exited, stderr };
}

/** Installs the package into the folder. Where npm reaches no registry, Bun comes from this clone, which it says. */
async function install(folder: string, ...flags: string[]): Promise<'npm' | 'clone'> {
  const outcome = await npm(folder, 'install', packed, '--prefer-offline', ...flags);
  if (outcome.status === 0) return 'npm';
  if (!/ENOTCACHED|ENOTFOUND|ECONNREFUSED|ETIMEDOUT|EAI_AGAIN|ENETUNREACH|ECONNRESET/.test(outcome.stderr)) {
    throw new Error(`npm install failed:\n${outcome.stderr}`);
  }
  const parts = [join(ROOT, 'node_modules/bun'), ...platformPackages()];
  for (const part of parts) await npm(folder, 'pack', part, '--ignore-scripts', '--pack-destination', folder);
  const tarballs = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
  const again = await npm(
    folder,
    'install',
    packed,
    ...tarballs.map((name) => `./${name}`),
    '--offline',
    '--ignore-scripts',
    ...flags,
  );
  if (again.status !== 0) throw new Error(`npm install without a registry failed:\n${again.stderr}`);
  process.stderr.write('npm reached no registry: Bun was installed from the packages of this clone\n');
  return 'clone';
}

function platformPackages(): string[] {
  const folder = join(ROOT, 'node_modules/@oven');
  return readdirSync(folder).map((name) => join(folder, name));
}

function emptyFolder(name: string): string {
  const folder = join(root, name);
  mkdirSync(folder);
  return folder;
}

describe('from an empty folder', () => {
  test(
    'npx leads to the first answer in under 60 s, and to the console without a build',
    async () => {
      const folder = emptyFolder('empty');
      const elapsedMs = startScheduledClock();
      await install(folder);
      const gateway = await startInstalled(['npx', '--no-install', 'tollgate', 'serve', '--port', '0'], {
        cwd: folder,
        environment,
      });
      try {
        await expectFirstUse(gateway, elapsedMs);
      } finally {
        await gateway.stop();
      }
      expect(
        readdirSync(join(folder, 'node_modules'))
          .filter((name) => !/^(\.|@oven$)/.test(name))
          .sort(),
      ).toEqual(['bun', 'tollgate']);
      const again = Bun.spawnSync(['npx', '--no-install', 'tollgate', 'requests', '--json'], {
        cwd: folder,
        env: environment,
      });
      expect(JSON.parse(again.stdout.toString())).toMatchObject({ model: 'demo', status: 200 });
    },
    TEST_MS_MAX,
  );

  // Packing Bun takes minutes on a busy machine.
  exhaustiveTest(
    'without a registry and a cache, the packages of the clone do',
    async () => {
      const folder = emptyFolder('no-registry');
      writeFileSync(join(folder, '.npmrc'), 'registry=http://127.0.0.1:9/\nfetch-retries=0\n');
      expect(await install(folder, '--fetch-retries', '0', '--cache', join(root, 'no-cache'))).toBe('clone');
      const version = Bun.spawnSync(['npx', '--no-install', 'tollgate', '--version'], {
        cwd: folder,
        env: environment,
      });
      expect(version.stdout.toString()).toMatch(/^\d+\.\d+\.\d+\n$/);
    },
    TEST_MS_MAX,
  );
});
