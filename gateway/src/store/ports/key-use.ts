/** Defines the store for the last use of API keys. Informational only: no decision depends on it. */

/** The last use of one secret; `hash` is the secret's hash, as in `StoredKey`. Times: unix ms. */
export interface StoredKeyUse {
  readonly hash: string;
  readonly atMs: number;
  readonly client: string | null;
}

export interface KeyUseStore {
  /** Replaces the entries of these secrets; resolves once they are durable. */
  keep(uses: readonly StoredKeyUse[]): Promise<void>;
  read(): Promise<readonly StoredKeyUse[]>;
  /** The arrival (unix ms) of each key's newest recorded call since `fromMs`, by key id. */
  readNewestCalls(fromMs: number): Promise<ReadonlyMap<string, number>>;
}
