/**
 * Bundles the gateway and the programs of its threads for people who have no clone: into a folder for npm, or into one
 * executable file. What a clone builds at its start, the console, is packed in.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { HEADER_LIMIT } from '../../bin/server-environment.cjs';
import type { Distribution } from '../../src/lib/package/distribution.ts';
import { packFiles, readFolder } from '../../src/lib/package/packed-files.ts';

export const ROOT = resolve(import.meta.dir, '../../..');
const SOURCES = join(ROOT, 'gateway/src');

export interface BundlePlan {
  /** How an operator runs a command, as messages say it. */
  readonly command: Distribution['command'];
  /** The folder of the built console. */
  readonly console: string;
}

/** A bundle's files in `folder`; returns the source files that it holds, relative to the clone. */
export async function bundleProgram(folder: string, plan: BundlePlan): Promise<readonly string[]> {
  const { metafile } = await build(plan, {
    entrypoints: [join(SOURCES, 'main.ts'), ...workers()],
    root: SOURCES,
    outdir: folder,
    // In one file: how Bun splits code depends on the order in which files were read, and two builds must be equal.
    splitting: false,
    metafile: true,
  });
  return Object.keys(metafile?.inputs ?? {}).sort();
}

export interface BinaryPlan extends BundlePlan {
  /** Bun for another machine; null: this process's own, for this machine. */
  readonly runtime: { readonly target: Bun.Build.CompileTarget; readonly file: string } | null;
  /** Default: the gateway. Tests of the launcher's duties run a program of theirs. */
  readonly program?: string;
}

/** Writes one executable file. */
export async function compileBinary(file: string, { runtime, program, ...plan }: BinaryPlan): Promise<void> {
  const redirected = program === undefined ? [] : [redirect(join(SOURCES, 'main.ts'), program)];
  await build(
    plan,
    {
      entrypoints: [join(import.meta.dir, 'standalone.ts'), ...workers()],
      root: SOURCES,
      compile: {
        outfile: file,
        ...(runtime === null ? {} : { target: runtime.target, executablePath: runtime.file }),
        execArgv: [HEADER_LIMIT],
        // Each would bring settings or code of the working directory into the server.
        autoloadDotenv: false,
        autoloadBunfig: false,
        autoloadTsconfig: false,
        autoloadPackageJson: false,
      },
    },
    redirected,
  );
}

function workers(): string[] {
  const found = [...new Bun.Glob('**/*-worker.ts').scanSync({ cwd: SOURCES, absolute: true })];
  return found.filter((file) => !file.includes(`${sep}testing${sep}`)).sort();
}

/** Throws with what Bun found wrong. */
async function build(
  { command, console }: BundlePlan,
  config: Bun.BuildConfig,
  plugins: readonly Bun.BunPlugin[] = [],
): Promise<Bun.BuildOutput> {
  const aside = mkdtempSync(join(tmpdir(), 'tollgate-package-'));
  try {
    const packed = join(aside, 'console.packed');
    writeFileSync(packed, packFiles(readFolder(console)));
    const output = await Bun.build({
      target: 'bun',
      // Names stay, for the stack traces of reports.
      minify: { whitespace: true, syntax: true, identifiers: false },
      // Libraries that look for files of theirs beside themselves find none in a bundle; the builder's folders stay out.
      define: { __dirname: '"/tollgate"', __filename: '"/tollgate/bundle.js"' },
      ...config,
      plugins: [...plugins, distribution(command, packed), workerPlaces()],
      throw: false,
    });
    if (!output.success) throw new Error(`the program could not be bundled:\n${output.logs.join('\n')}`);
    return output;
  } finally {
    rmSync(aside, { recursive: true });
  }
}

/** Replaces what the sources say of a clone by what is true of the package. */
function distribution(command: string, packed: string): Bun.BunPlugin {
  return {
    name: 'distribution',
    setup(builder) {
      builder.onLoad({ filter: /lib[\\/]package[\\/]distribution\.ts$/ }, () => ({
        // The bundler gives a path beside the bundle, or one inside the executable file.
        contents: `import packed from ${JSON.stringify(packed)} with { type: 'file' };
          import { fileURLToPath } from 'node:url';
          export const DISTRIBUTION = {
            command: ${JSON.stringify(command)},
            console: fileURLToPath(new URL(packed, import.meta.url)),
          };`,
        loader: 'js',
      }));
    },
  };
}

/** The program of a thread, named relative to the source file that starts it. */
const WORKER_URL = /new URL\('(\.[^']*-worker)\.ts', import\.meta\.url\)/g;

/** In a bundle the code that starts a thread is in its top folder. */
function workerPlaces(): Bun.BunPlugin {
  return {
    name: 'worker places',
    setup(builder) {
      builder.onLoad({ filter: /[\\/]store[\\/]sqlite[\\/].*\.ts$/ }, async ({ path }) => {
        const place = (worker: string) =>
          relative(SOURCES, join(dirname(path), worker))
            .split(sep)
            .join('/');
        const text = await Bun.file(path).text();
        const contents = text.replace(
          WORKER_URL,
          (_, worker: string) => `new URL('./${place(worker)}.js', import.meta.url)`,
        );
        return { contents, loader: 'ts' };
      });
    },
  };
}

function redirect(from: string, to: string): Bun.BunPlugin {
  return {
    name: 'redirect',
    setup(builder) {
      builder.onLoad({ filter: /main\.ts$/ }, async ({ path }) => ({
        contents: path === from ? `import ${JSON.stringify(to)};` : await Bun.file(path).text(),
        loader: 'ts',
      }));
    },
  };
}
