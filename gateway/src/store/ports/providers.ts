/**
 * Defines the store of operators' entries: providers with their credentials, routes, prices, and the targets and
 * credentials that are out of rotation. Secrets stay sealed.
 */
import type { NewAuditEntry } from './audit.ts';

/** A model served by a provider: its public name and its name at the provider. */
export interface EnteredModel {
  readonly name: string;
  readonly upstream: string;
}

/** A provider entered in the console. Times: unix ms. */
export interface StoredProvider {
  readonly name: string;
  /** The name of a preset, or a kind of the configuration. */
  readonly kind: string;
  readonly baseUrl: string;
  /** The settings of its kind by name. */
  readonly settings: { readonly [name: string]: string };
  /** Empty: all models that the catalog lists for the host. */
  readonly models: readonly EnteredModel[];
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** The credential that a provider begins with, and that is used where a provider needs none. */
export const DEFAULT_CREDENTIAL = 'default';

/** A credential of a provider entered in the console: the secrets of one key, account or role. */
export interface StoredCredential {
  readonly provider: string;
  /** Unique within the provider. */
  readonly name: string;
  /** Base64. */
  readonly sealed: string;
  /** The displayed last characters of its first secret. */
  readonly last4: string;
  readonly weight: number;
  /** Credentials of one organisation share their limits and caches; null: the provider's single organisation. */
  readonly organisation: string | null;
  /** Upstream models that it may be used for; null: all. */
  readonly models: readonly string[] | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** A value, or a list or mapping of values: a part of the configuration file as JSON. */
export type DefinitionTree =
  | string
  | number
  | boolean
  | readonly DefinitionTree[]
  | { readonly [member: string]: DefinitionTree };

export interface RouteDefinition {
  readonly [member: string]: DefinitionTree;
}

/** A route entered in the console. */
export interface StoredRoute {
  /** The public name of the model. */
  readonly model: string;
  /** The members of `models.NAME` of the configuration file, as they were entered. */
  readonly definition: RouteDefinition;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** A target of a model, or a credential of a provider, wherever each is configured. */
export interface RotationSubject {
  readonly kind: 'target' | 'credential';
  /** The public name of the model, or the name of the provider. */
  readonly owner: string;
  readonly name: string;
}

/** A target or credential that an operator took out of rotation; no call uses it until it is put back. */
export interface StoredOutOfRotation extends RotationSubject {
  readonly sinceMs: number;
}

/** Result of the last model list request to a provider. */
export interface StoredProviderTest {
  readonly provider: string;
  /** The origin queried. */
  readonly origin: string;
  readonly atMs: number;
  readonly ok: boolean;
  readonly message: string;
  readonly durationMs: number;
}

/** US dollars per million tokens as decimal text; an omitted member falls back as it does in the configuration. */
interface StoredTokenRates {
  readonly input: string;
  readonly output: string;
  readonly cache_read?: string;
  readonly cache_write_5m?: string;
  readonly cache_write_1h?: string;
  readonly reasoning?: string;
  readonly audio_input?: string;
  readonly audio_cache_read?: string;
  readonly audio_output?: string;
  readonly image_input?: string;
  readonly image_output?: string;
  readonly cache_write_30m?: string;
}

export interface StoredRates extends StoredTokenRates {
  /** Rates for the whole call when its input tokens exceed `above`, ascending. */
  readonly tiers?: readonly (StoredTokenRates & { readonly above: number })[];
  /** Price per 1,000 requests to tools that run upstream, by kind. */
  readonly per_1000_requests?: { readonly [kind: string]: string };
  /** Price per unit; images also by size and quality. */
  readonly per_unit?: {
    readonly image?: string | { readonly [kind: string]: string };
    readonly second?: string;
    readonly character?: string;
    readonly search?: string;
  };
}

/** An immutable price; a later one with the same model and start takes precedence. */
export interface StoredPrice {
  readonly model: string;
  readonly fromMs: number;
  /** Null: free. */
  readonly rates: StoredRates | null;
  /** The creator, as named in the audit trail. */
  readonly createdBy: string;
  readonly createdAtMs: number;
}

/** One change. A new item must not exist yet; a changed or removed item must exist. */
export type ProviderChange =
  | { readonly of: 'provider'; readonly isNew: boolean; readonly provider: StoredProvider }
  /** Removes its credentials too. */
  | { readonly of: 'provider'; readonly removed: string }
  | { readonly of: 'credential'; readonly isNew: boolean; readonly credential: StoredCredential }
  | { readonly of: 'credential'; readonly removed: Pick<StoredCredential, 'provider' | 'name'> }
  | { readonly of: 'route'; readonly isNew: boolean; readonly route: StoredRoute }
  | { readonly of: 'route'; readonly removed: string }
  | { readonly of: 'out_of_rotation'; readonly out: StoredOutOfRotation }
  /** Puts it back; nothing if it was in rotation. */
  | { readonly of: 'out_of_rotation'; readonly back: RotationSubject }
  | { readonly of: 'price'; readonly price: StoredPrice }
  /** Replaces the provider's previous test. */
  | { readonly of: 'test'; readonly test: StoredProviderTest };

/** The entries that the served models are built from. */
export interface EnteredReader {
  /** In order of creation. */
  readProviders(): Promise<readonly StoredProvider[]>;
  /** By provider, in order of creation. */
  readCredentials(): Promise<readonly StoredCredential[]>;
  /** In order of creation. */
  readRoutes(): Promise<readonly StoredRoute[]>;
  /** By subject. */
  readOutOfRotation(): Promise<readonly StoredOutOfRotation[]>;
}

export interface ProviderStore extends EnteredReader {
  readTests(): Promise<readonly StoredProviderTest[]>;
  /** In order of creation. */
  readPrices(): Promise<readonly StoredPrice[]>;
  /**
   * Applies all changes and their audit entries, or none; resolves once durable. Rejects where a new item's name is
   * taken, or an item to change or remove does not exist. Creation times never change.
   */
  save(changes: readonly ProviderChange[], entries?: readonly NewAuditEntry[]): Promise<void>;
}
