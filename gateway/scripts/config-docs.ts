/** Writes what is published of the configuration: docs/configuration.md and its JSON Schema. Run as `npm run docs`. */
import { renderConfigSchema } from '../src/config/json-schema.ts';
import { renderConfigPage } from './config-docs/render-config-page.ts';

const docs = new URL('../../docs/', import.meta.url);
await Bun.write(new URL('configuration.md', docs), renderConfigPage());
await Bun.write(new URL('tollgate.schema.json', docs), `${JSON.stringify(renderConfigSchema(), null, 2)}\n`);
