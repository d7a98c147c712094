/** Owns how a proof of the ledger fails: at the first thing that does not hold. */

export class Disproof extends Error {
  override readonly name = 'Disproof';

  /** `entry`: the sequence number of the first wrong entry; null where it is not one entry that is wrong. */
  constructor(
    readonly entry: number | null,
    message: string,
  ) {
    super(message);
  }
}
