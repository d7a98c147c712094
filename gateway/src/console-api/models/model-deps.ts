/**
 * Defines the dependencies of the routes about models, prices and providers: the running configuration and the means to
 * change it.
 */

import type { Settings } from '../../call/deps.ts';
import type { CatalogModel } from '../../catalog/catalog-model.ts';
import type { Served } from '../../config/console-entries.ts';
import type { CatalogName } from '../../config/served-models.ts';
import type { KeyDirectory } from '../../identity/key-directory.ts';
import type { InTurn } from '../../lib/turns.ts';
import type { CredentialSeal } from '../../providers/credentials/credential-seal.ts';
import type { ReadHealth } from '../../routing/health/provider-health.ts';
import type { NewAuditEntry } from '../../store/ports/audit.ts';
import type { ProviderStore } from '../../store/ports/providers.ts';
import type { Actor } from '../kernel/actor.ts';

/** The running configuration: the file's (or environment's), plus what operators entered. */
export interface Running extends Served {
  /** `config` excludes the entries; `routes` includes them, as far as they are in rotation. */
  readonly settings: Settings;
}

/** One installation-wide change, for the audit trail. Contains only the changed members, never a credential. */
export interface ModelEvent {
  readonly actor: Actor;
  /** The client's address; null: unknown. */
  readonly address: string | null;
  readonly act: 'providers.create' | 'providers.change' | 'providers.remove' | 'providers.test' | 'prices.set';
  /** The name of the provider or model. */
  readonly subject: string;
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
}

export interface ModelDeps {
  running(): Running;
  /** Its changes apply from the next call on. */
  readonly book: ProviderStore;
  readonly seal: CredentialSeal;
  readonly directory: Pick<KeyDirectory, 'keys' | 'byHash' | 'workspaces'>;
  readonly readHealth: ReadHealth;
  /** The catalogue's entry for a model; null: none. */
  describe(name: CatalogName): CatalogModel | null;
  /** Runs changes one at a time, so that none starts from outdated data. */
  readonly inTurn: InTurn;
  /** The audit entry of a change, to be stored with it. */
  auditEntry(event: ModelEvent): NewAuditEntry;
  /** Unix ms. */
  nowMs(): number;
}

/** The actor as stored with a price: `person:…` or `key:…`. */
export function nameActor(actor: Actor): string {
  return actor.kind === 'anonymous' ? actor.kind : `${actor.kind}:${actor.id}`;
}
