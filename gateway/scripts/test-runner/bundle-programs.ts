/**
 * Bundles the gateway and the programs of its threads. Tests start hundreds of them, and a bundle of a few files starts
 * in half of the CPU time that its several hundred source files take.
 */
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The environment variable that tells test processes the folder of the bundles. */
export const BUNDLES = 'TOLLGATE_TEST_BUNDLES';

/** The program of a worker thread, named relative to the source file that starts it. */
const WORKER_URL = /new URL\('(\.[^']*-worker)\.ts', import\.meta\.url\)/g;

/** Writes the bundles to `folder`, at the paths of their sources below `gateway/src`, ending in `.js`. */
export async function bundlePrograms(root: string, folder: string): Promise<void> {
  const sources = join(root, 'gateway/src');
  const bundleOf = (source: string) => join(folder, `${relative(sources, source)}.js`);
  const workers = [...new Bun.Glob('**/*-worker.ts').scanSync({ cwd: sources, absolute: true })];
  const { success, logs } = await Bun.build({
    entrypoints: [join(sources, 'main.ts'), ...workers],
    root: sources,
    outdir: folder,
    target: 'bun',
    splitting: true,
    throw: false,
    plugins: [
      {
        name: 'places',
        setup(build) {
          // A source file finds other files relative to itself; in a bundle it has no place of its own.
          build.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
            const text = await Bun.file(path).text();
            const url = (file: string) => `'${pathToFileURL(file).href}'`;
            const placed = text
              .replace(WORKER_URL, (_, worker: string) => `new URL(${url(bundleOf(join(dirname(path), worker)))})`)
              .replaceAll('import.meta.url', url(path));
            return { contents: placed, loader: 'ts' };
          });
        },
      },
    ],
  });
  if (!success) throw new Error(`the programs could not be bundled:\n${logs.join('\n')}`);
}
