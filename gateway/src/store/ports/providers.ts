/**
 * Owns the interface through which is kept what people enter in the console about providers and prices. Knows no database
 * and opens no credential.
 */

/** A model that a provider serves: its public name and its name there. */
export interface EnteredModel {
  readonly name: string;
  readonly upstream: string;
}

/** A provider as it was entered. Times: unix ms. */
export interface StoredProvider {
  readonly name: string;
  /** The name of a preset, or a kind of the configuration. */
  readonly kind: string;
  readonly baseUrl: string;
  /** Empty: all that the catalogue knows of the host. */
  readonly models: readonly EnteredModel[];
  /** Base64 of the sealed credential; null: the host takes none. */
  readonly sealed: string | null;
  /** What is shown of the credential; null: there is none. */
  readonly last4: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** How a provider answered when it was last asked for its models. */
export interface StoredProviderTest {
  readonly provider: string;
  /** Where it was asked. */
  readonly origin: string;
  readonly atMs: number;
  readonly ok: boolean;
  readonly message: string;
  readonly durationMs: number;
}

/** US dollars per million tokens as decimal text; a member left out costs as the configuration's do. */
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
  /** Other rates for a whole call with more input tokens than `above`, ascending. */
  readonly tiers?: readonly (StoredTokenRates & { readonly above: number })[];
  /** Per 1,000 requests of tools that run upstream, by kind. */
  readonly per_1000_requests?: { readonly [kind: string]: string };
}

/** A price that was set once and never changes; a later one of the same model and beginning goes before it. */
export interface StoredPrice {
  readonly model: string;
  readonly fromMs: number;
  /** Null: free. */
  readonly rates: StoredRates | null;
  /** Who set it, in words of the audit trail. */
  readonly createdBy: string;
  readonly createdAtMs: number;
}

export interface ProviderBook {
  /** In the order in which they were entered. */
  readProviders(): Promise<readonly StoredProvider[]>;
  readTests(): Promise<readonly StoredProviderTest[]>;
  /** In the order in which they were set. */
  readPrices(): Promise<readonly StoredPrice[]>;
  /** Resolves once it is durable. Rejects where a new one's name is taken, or the one to change is not there. */
  keepProvider(provider: StoredProvider, isNew: boolean): Promise<void>;
  /** Rejects where it is not there. */
  removeProvider(name: string): Promise<void>;
  /** In the place of the test before. */
  keepTest(test: StoredProviderTest): Promise<void>;
  addPrice(price: StoredPrice): Promise<void>;
}
