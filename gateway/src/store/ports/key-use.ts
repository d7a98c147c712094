/** Owns the interface through which it is remembered when keys were last used. Knows no database, and decides nothing by it. */

/** One secret's last use; `hash` is the secret's, as in `StoredKey`. Times: unix ms. */
export interface KeptKeyUse {
  readonly hash: string;
  readonly atMs: number;
  readonly client: string | null;
}

export interface KeyUseBook {
  /** Replaces what was kept of these secrets; resolves once it is durable. */
  keep(uses: readonly KeptKeyUse[]): Promise<void>;
  read(): Promise<readonly KeptKeyUse[]>;
  /** The newest recorded call of each key that arrived from then on, by the key's id. */
  readNewestCalls(fromMs: number): Promise<ReadonlyMap<string, number>>;
}
