/**
 * Combines the configuration with what operators entered beside it into the served models. The configuration takes
 * precedence.
 */
import type { EnteredReader } from '../store/ports/providers.ts';
import type { Config } from './config.ts';
import {
  addConsoleModels,
  type EnteredProviders,
  type ModelsWithConsole,
  type OpenCredential,
  resolveConsoleProviders,
} from './console-providers.ts';
import { type ListCatalogNames, type ListedModels, listServedModels } from './served-models.ts';

/** What operators entered beside the configuration. */
export interface Entered extends EnteredProviders {}

/** Reads everything that was entered. */
export async function readEntered(reader: EnteredReader): Promise<Entered> {
  const [providers, credentials] = await Promise.all([reader.readProviders(), reader.readCredentials()]);
  return { providers, credentials };
}

interface Sources {
  readonly listCatalogNames: ListCatalogNames;
  /** Models that the providers themselves listed; omitted: none did. */
  readonly listed?: ListedModels;
  readonly openCredential: OpenCredential;
}

/** Resolves the entries against a configuration. */
export function serveEntered(config: Config, entered: Entered, sources: Sources): ModelsWithConsole {
  const { listCatalogNames, listed, openCredential } = sources;
  const resolved = resolveConsoleProviders(config, entered, openCredential);
  const configured = listServedModels(config, listCatalogNames, listed);
  return addConsoleModels(configured, resolved, listCatalogNames, config.defaults);
}
