/**
 * Bundles the gateway and the programs of its threads. Tests start hundreds of them, and a bundle of a few files starts
 * in half of the CPU time that its several hundred source files take; an executable file with the bytecode of that
 * bundle starts in two thirds of that (0.66 instead of 1.0 s, measured on 2026-11-28).
 */
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The environment variable that tells test processes the folder of the bundles. */
export const BUNDLES = 'TOLLGATE_TEST_BUNDLES';

/** The program of a worker thread, named relative to the source file that starts it. */
const WORKER_URL = /new URL\('(\.[^']*-worker)\.ts', import\.meta\.url\)/g;

/** The executable file, where it was made. */
export const EXECUTABLE = 'gateway';
/** As the launcher starts the gateway; an executable file has it built in. */
export const HEADER_LIMIT = '--max-http-header-size=16384';

/** Writes the bundles to `folder`, at the paths of their sources below `gateway/src`, ending in `.js`. */
export async function bundlePrograms(root: string, folder: string): Promise<void> {
  const sources = join(root, 'gateway/src');
  const workers = [...new Bun.Glob('**/*-worker.ts').scanSync({ cwd: sources, absolute: true })];
  await build({
    entrypoints: [join(sources, 'main.ts'), ...workers],
    root: sources,
    outdir: folder,
    splitting: true,
    plugins: [places(sources, folder)],
  });
}

/**
 * Writes the gateway as an executable file to `folder`, beside the bundles, from which it starts its threads. Takes 5 s
 * of CPU time.
 */
export async function compileGateway(root: string, folder: string): Promise<void> {
  const sources = join(root, 'gateway/src');
  await build({
    entrypoints: [join(sources, 'main.ts')],
    bytecode: true,
    format: 'esm',
    // Split as the bundle is: in one piece, libraries that expect another one to be evaluated before them fail.
    splitting: true,
    compile: {
      outfile: join(folder, EXECUTABLE),
      execArgv: [HEADER_LIMIT],
      autoloadDotenv: false,
      autoloadBunfig: false,
    },
    plugins: [places(sources, folder)],
  });
}

async function build(config: Bun.BuildConfig): Promise<void> {
  const { success, logs } = await Bun.build({ target: 'bun', throw: false, ...config });
  if (!success) throw new Error(`the programs could not be bundled:\n${logs.join('\n')}`);
}

/** A source file finds other files relative to itself; in a bundle it has no place of its own. */
function places(sources: string, folder: string): Bun.BunPlugin {
  const bundleOf = (source: string) => join(folder, `${relative(sources, source)}.js`);
  return {
    name: 'places',
    setup(builder) {
      builder.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        const text = await Bun.file(path).text();
        const url = (file: string) => `'${pathToFileURL(file).href}'`;
        const placed = text
          .replace(WORKER_URL, (_, worker: string) => `new URL(${url(bundleOf(join(dirname(path), worker)))})`)
          .replaceAll('import.meta.url', url(path));
        return { contents: placed, loader: 'ts' };
      });
    },
  };
}
