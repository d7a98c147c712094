/** Defines one migration of the database schema. */

/** Its statements run in one transaction, together with the new version number. */
export interface Migration {
  readonly version: number;
  /** `$now` in a statement stands for the time of the migration, unix ms. */
  readonly statements: readonly string[];
}
