/** Defines the store for providers and prices entered in the console. Credentials stay sealed. */

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
  /** Empty: all models that the catalog lists for the host. */
  readonly models: readonly EnteredModel[];
  /** Base64 of the sealed credential; null: the provider needs none. */
  readonly sealed: string | null;
  /** The displayed last characters of the credential; null: there is no credential. */
  readonly last4: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
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
}

export interface StoredRates extends StoredTokenRates {
  /** Rates for the whole call when its input tokens exceed `above`, ascending. */
  readonly tiers?: readonly (StoredTokenRates & { readonly above: number })[];
  /** Price per 1,000 requests to tools that run upstream, by kind. */
  readonly per_1000_requests?: { readonly [kind: string]: string };
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

export interface ProviderStore {
  /** In order of creation. */
  readProviders(): Promise<readonly StoredProvider[]>;
  readTests(): Promise<readonly StoredProviderTest[]>;
  /** In order of creation. */
  readPrices(): Promise<readonly StoredPrice[]>;
  /** Resolves once durable. Rejects where a new provider's name is taken, or the one to change does not exist. */
  saveProvider(provider: StoredProvider, isNew: boolean): Promise<void>;
  /** Rejects where the provider does not exist. */
  removeProvider(name: string): Promise<void>;
  /** Replaces the provider's previous test. */
  saveTest(test: StoredProviderTest): Promise<void>;
  addPrice(price: StoredPrice): Promise<void>;
}
