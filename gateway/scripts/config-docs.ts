/** Writes docs/configuration.md from the schema of the configuration file. Run it as `bun gateway/scripts/config-docs.ts`. */
import { renderConfigPage } from './config-docs/render-config-page.ts';

await Bun.write(new URL('../../docs/configuration.md', import.meta.url), renderConfigPage());
