/** Adds the documentation site to the console's build, in `docs/`. Its problems fail a test, not the build. */
import { join } from 'node:path';
import type { Plugin } from 'vite';
import { buildSite } from './build-site.ts';

/** Comes after the plugin that writes the fonts. */
export function docsSite(): Plugin {
  return {
    name: 'docs-site',
    generateBundle() {
      const { files, problems } = buildSite({ form: 'gateway', fonts: join(import.meta.dirname, '../fonts') });
      for (const problem of problems) this.warn(problem);
      for (const [path, source] of files) this.emitFile({ type: 'asset', fileName: `docs/${path}`, source });
    },
  };
}
