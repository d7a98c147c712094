/** Starts the bundle of a thread's program instead of its source, where there is one. Loaded before every run. */
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BUNDLES } from './bundle-programs.ts';

const SOURCES = join(import.meta.dir, '../../src');
const bundles = process.env[BUNDLES];

if (bundles !== undefined) {
  const bundleOf = (program: string | URL): string | URL => {
    if (!(program instanceof URL)) return program;
    const bundle = join(bundles, relative(SOURCES, fileURLToPath(program)).replace(/\.ts$/, '.js'));
    return existsSync(bundle) ? bundle : program;
  };
  globalThis.Worker = class extends Worker {
    constructor(program: string | URL, options?: WorkerOptions) {
      super(bundleOf(program), options);
    }
  };
}
