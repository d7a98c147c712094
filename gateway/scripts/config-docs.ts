/** Writes the pages that are made from the program: docs/configuration.md with its JSON Schema, and docs/translation.md. Run as `npm run docs`. */
import { renderConfigSchema } from '../src/config/json-schema.ts';
import { renderConfigPage } from './config-docs/render-config-page.ts';
import { renderTranslationPage } from './translation-docs/render-translation-page.ts';

const docs = new URL('../../docs/', import.meta.url);
await Bun.write(new URL('configuration.md', docs), renderConfigPage());
await Bun.write(new URL('tollgate.schema.json', docs), `${JSON.stringify(renderConfigSchema(), null, 2)}\n`);
await Bun.write(new URL('translation.md', docs), renderTranslationPage());
