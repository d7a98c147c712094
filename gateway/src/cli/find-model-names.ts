/** Owns which models a server would serve by the configuration that a command finds where it runs. Asks no running server. */
import { listModels } from '../catalog/catalog.ts';
import { addConsoleModels, resolveConsoleProviders } from '../config/console-providers.ts';
import { type ConfigSource, loadConfig } from '../config/load-config.ts';
import { type ListCatalogNames, listServedModels } from '../config/served-models.ts';
import type { ModelNames } from '../control/command.ts';
import { Secret } from '../lib/secret.ts';
import type { StoredProvider } from '../store/provider-port.ts';

/** Whether a credential opens does not change what a provider's models are called. */
const UNOPENED = new Secret('unopened');

const listCatalogNames: ListCatalogNames = (provider) =>
  listModels(provider).flatMap(({ id, aliases }) => [id, ...aliases]);

/**
 * The names of a configuration file's models and of those of the console's providers. Null where no file that holds names
 * the providers: then the environment of the server says which there are, and an Ollama that runs beside it.
 */
export function findModelNames(
  entered: readonly StoredProvider[],
  source: ConfigSource = { environment: process.env, cwd: process.cwd() },
): ModelNames | null {
  const { config } = loadConfig(source);
  if (config === null || config.file === null || config.providersFrom !== 'file') return null;
  const configured = listServedModels(config, listCatalogNames);
  const providers = resolveConsoleProviders(config, entered, () => UNOPENED);
  const { models } = addConsoleModels(configured, providers, listCatalogNames);
  return { names: [...models.keys()], place: `in ${config.file}` };
}
