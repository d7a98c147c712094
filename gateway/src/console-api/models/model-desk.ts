/** Owns what the routes about models, prices and providers work on: the configuration as it runs, and how it is changed. */

import type { ProviderHealth } from '../../call/attempt/provider-health.ts';
import type { Settings } from '../../call/deps.ts';
import type { CatalogModel } from '../../catalog/catalog-model.ts';
import type { ConsoleProvider } from '../../config/console-providers.ts';
import type { CatalogName, ServedModel } from '../../config/served-models.ts';
import type { KeyDirectory } from '../../identity/key-directory.ts';
import type { CredentialSeal } from '../../providers/credential-seal.ts';
import type { ProviderBook } from '../../store/ports/providers.ts';
import type { Actor } from '../kernel/actor.ts';

/** The configuration as it runs: the file's (or environment's) with what was entered in the console. */
export interface Running {
  /** `config` is without the console's entries; `routes` has them. */
  readonly settings: Settings;
  /** All names that are served, each with its model. */
  readonly served: ReadonlyMap<string, ServedModel>;
  /** The console's entries, also those that cannot be used. */
  readonly added: readonly ConsoleProvider[];
}

/** One change of what is the house's, for its audit trail. Only the members that changed, and never a credential. */
export interface ModelNote {
  readonly actor: Actor;
  /** The caller's; null: unknown. */
  readonly address: string | null;
  readonly act: 'providers.create' | 'providers.change' | 'providers.remove' | 'providers.test' | 'prices.set';
  /** The name of the provider or model. */
  readonly subject: string;
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
}

export interface ModelDesk {
  running(): Running;
  readonly book: ProviderBook;
  readonly seal: CredentialSeal;
  readonly directory: Pick<KeyDirectory, 'keys' | 'byHash' | 'workspaces'>;
  readonly health: Pick<ProviderHealth, 'read'>;
  /** What the catalogue knows of a model; null: nothing. */
  describe(name: CatalogName): CatalogModel | null;
  /** Reads what was entered, and takes it over: it binds the next call. */
  reload(): Promise<void>;
  /** One change after the other, so that none is made on what another has just changed. */
  inTurn<Result>(work: () => Promise<Result>): Promise<Result>;
  note(entry: ModelNote): Promise<void>;
  /** Unix ms. */
  nowMs(): number;
}

/** Who did it, as a price keeps it: `person:…` or `key:…`. */
export function nameActor(actor: Actor): string {
  return actor.kind === 'nobody' ? actor.kind : `${actor.kind}:${actor.id}`;
}
