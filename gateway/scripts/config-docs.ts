/**
 * Writes the pages that are generated from the program: docs/configuration.md with its JSON Schema,
 * docs/translation.md, docs/who-pays.md, docs/console.md and docs/errors.md. Run as `npm run docs`.
 */
import { renderConfigSchema } from '../src/config/file/file-schema.ts';
import { renderConfigPage } from './config-docs/render-config-page.ts';
import { renderConsolePage } from './console-docs/render-console-page.ts';
import { renderErrorsPage } from './error-docs/render-errors-page.ts';
import { renderTranslationPage } from './translation-docs/render-translation-page.ts';
import { renderWhoPaysPage } from './who-pays-docs/render-who-pays-page.ts';

const docs = new URL('../../docs/', import.meta.url);
await Bun.write(new URL('configuration.md', docs), renderConfigPage());
await Bun.write(new URL('tollgate.schema.json', docs), `${JSON.stringify(renderConfigSchema(), null, 2)}\n`);
await Bun.write(new URL('translation.md', docs), renderTranslationPage());
await Bun.write(new URL('who-pays.md', docs), renderWhoPaysPage());
await Bun.write(new URL('console.md', docs), renderConsolePage());
await Bun.write(new URL('errors.md', docs), renderErrorsPage());
