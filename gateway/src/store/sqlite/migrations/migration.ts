/** Owns the shape of one step of the database's way to today's tables. */

/** Its statements run in one transaction, together with the new version number. */
export interface Migration {
  readonly version: number;
  /** `$now` in a statement stands for the time of the migration, unix ms. */
  readonly statements: readonly string[];
}
