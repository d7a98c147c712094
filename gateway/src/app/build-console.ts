/**
 * Builds the console and the documentation site at server start, in a separate process, if their sources changed or no
 * build exists. Serves nothing.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const CONSOLE = join(ROOT, 'console');
/** Holds one folder per built state of the sources, named by its hash. */
const BUILDS = join(CONSOLE, 'dist');
/** Folders of build inputs. The documentation carries files of `deploy`. */
const SOURCE_FOLDERS = ['console/src', 'console/docs-site', 'docs', 'deploy'];
/** Build inputs outside of these. */
const LOOSE_SOURCES = [
  'console/index.html',
  'console/package.json',
  'console/page-preloads.ts',
  'console/subset-fonts.ts',
  'console/tsconfig.json',
  'console/vite.config.ts',
  'README.md',
  'CHANGELOG.md',
];

/**
 * Returns the folder of the built console. Rejects with the build's own output if the build fails.
 *
 * It builds in a temporary folder and renames it at the end: a start that is killed leaves no partial build, and two
 * concurrent starts do not delete each other's files. The contract's types leave no trace in the build, so the
 * gateway's sources do not count.
 */
export async function buildConsole(builds = BUILDS, build: Build = runVite): Promise<string> {
  const built = join(builds, hashSources());
  if (existsSync(built)) return built;
  mkdirSync(builds, { recursive: true });
  const aside = mkdtempSync(join(builds, ASIDE));
  try {
    await build(aside);
    takeName(aside, built);
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
  removeFormer(builds, built);
  return built;
}

const ASIDE = 'building-';
/** No build takes this long: an older temporary folder comes from a killed build. */
const BUILD_MS_MAX = 3_600_000;

/** Writes the built console into the folder. */
type Build = (folder: string) => Promise<void>;

async function runVite(folder: string): Promise<void> {
  const vite = join(dirname(createRequire(join(CONSOLE, 'package.json')).resolve('vite/package.json')), 'bin/vite.js');
  const build = Bun.spawn(
    [process.execPath, vite, 'build', '--logLevel', 'error', '--outDir', folder, '--emptyOutDir'],
    { cwd: CONSOLE, env: { ...process.env, NODE_ENV: 'production' }, stdout: 'pipe', stderr: 'pipe' },
  );
  const [stdout, stderr] = await Promise.all([new Response(build.stdout).text(), new Response(build.stderr).text()]);
  if ((await build.exited) !== 0)
    throw new Error(`the console could not be built: ${(stderr || stdout).trim().slice(0, 2_000)}`);
}

function takeName(aside: string, built: string): void {
  try {
    renameSync(aside, built);
  } catch (fault) {
    // Another start has built the same sources in the meantime.
    if (!existsSync(built)) throw fault;
  }
}

/** Running servers keep their files in memory. Builds in progress by another start are left alone. */
function removeFormer(builds: string, built: string): void {
  for (const name of readdirSync(builds)) {
    const path = join(builds, name);
    const isUnderWay = name.startsWith(ASIDE) && Date.now() - statSync(path).mtimeMs < BUILD_MS_MAX;
    if (path !== built && !isUnderWay) rmSync(path, { recursive: true, force: true });
  }
}

function hashSources(): string {
  const hash = new Bun.CryptoHasher('sha256');
  const sources = SOURCE_FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  for (const path of [...sources.sort(), ...LOOSE_SOURCES.map((name) => join(ROOT, name))]) {
    hash.update(path.slice(ROOT.length));
    hash.update(readFileSync(path));
  }
  return hash.digest('hex');
}
