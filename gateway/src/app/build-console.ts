/**
 * Owns that the console is built when the server starts: where its sources changed since, or it never was, in a process of its
 * own beside the start. Serves nothing.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CONSOLE = fileURLToPath(new URL('../../../console', import.meta.url));
const BUILT = join(CONSOLE, 'dist');
const STAMP = join(BUILT, 'sources.sha256');
/** What the build is made of, beside everything in `src`. */
const LOOSE_SOURCES = ['index.html', 'package.json', 'subset-fonts.ts', 'tsconfig.json', 'vite.config.ts'];

/**
 * The folder of the built console. Rejects with the build's own words where it fails.
 *
 * The contract's types leave no trace in the build, so the gateway's sources do not count.
 */
export async function buildConsole(): Promise<string> {
  const stamp = hashSources();
  if (readStamp() === stamp) return BUILT;
  const vite = join(dirname(createRequire(join(CONSOLE, 'package.json')).resolve('vite/package.json')), 'bin/vite.js');
  const build = Bun.spawn([process.execPath, vite, 'build', '--logLevel', 'error'], {
    cwd: CONSOLE,
    env: { ...process.env, NODE_ENV: 'production' },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [stdout, stderr] = await Promise.all([new Response(build.stdout).text(), new Response(build.stderr).text()]);
  if ((await build.exited) !== 0)
    throw new Error(`the console could not be built: ${(stderr || stdout).trim().slice(0, 2_000)}`);
  writeFileSync(STAMP, stamp);
  return BUILT;
}

function readStamp(): string | null {
  try {
    return readFileSync(STAMP, 'utf8');
  } catch {
    return null;
  }
}

function hashSources(): string {
  const hash = new Bun.CryptoHasher('sha256');
  const sources = readdirSync(join(CONSOLE, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  for (const path of [...sources, ...LOOSE_SOURCES.map((name) => join(CONSOLE, name))]) {
    hash.update(path.slice(CONSOLE.length));
    hash.update(readFileSync(path));
  }
  return hash.digest('hex');
}
