/** Defines the error of a failed ledger proof: the first violation found. */

export class LedgerInvariantError extends Error {
  override readonly name = 'LedgerInvariantError';

  /** `entry`: the sequence number of the first wrong entry; null where the violation is not in one entry. */
  constructor(
    readonly entry: number | null,
    message: string,
  ) {
    super(message);
  }
}
