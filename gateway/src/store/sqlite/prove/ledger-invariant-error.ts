/** Defines the first violation that a proof of the ledger found. */

/** `entry`: of the ledger from before the journal. Null: the violation is not in one entry or block. */
export interface LedgerPlace {
  readonly entry: number | null;
  readonly block: number | null;
}

const NOWHERE: LedgerPlace = { entry: null, block: null };

export class LedgerInvariantError extends Error {
  override readonly name = 'LedgerInvariantError';

  constructor(
    message: string,
    readonly place: LedgerPlace = NOWHERE,
  ) {
    super(message);
  }
}

export function atEntry(entry: number): LedgerPlace {
  return { entry, block: null };
}

export function atBlock(block: number): LedgerPlace {
  return { entry: null, block };
}

/** Gives a violation its place, unless it has one. */
export function placed(fault: unknown, place: LedgerPlace): unknown {
  if (!(fault instanceof LedgerInvariantError) || fault.place !== NOWHERE) return fault;
  return new LedgerInvariantError(fault.message, place);
}
