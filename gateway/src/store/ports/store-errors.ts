/**
 * Defines the failures of every port; an implementation rejects with no other error, except where a port names one of
 * its own. Messages are sentences for the operator, never for a client of the gateway.
 */

/**
 * `conflict`: the item to add exists, or the item to change does not. `invalid`: an unknown account, or a value that
 * cannot be stored. `full`: the disk has no room. `closed`: the store has been closed. `incompatible`: the stored data
 * is not ours, damaged, or of another version. `failed`: any other fault. `unknown`: see `OutcomeUnknown`.
 */
export type StoreErrorKind =
  | 'insufficient_funds'
  | 'conflict'
  | 'invalid'
  | 'full'
  | 'closed'
  | 'incompatible'
  | 'failed'
  | 'unknown';

export abstract class StoreError extends Error {
  abstract readonly kind: StoreErrorKind;
}

/** A prepaid balance does not cover the amount. Nothing was changed. */
export class InsufficientFunds extends StoreError {
  override readonly name = 'InsufficientFunds';
  readonly kind = 'insufficient_funds';
}

/** The request itself cannot be carried out, now or later. Nothing was changed. */
export class ConstraintViolation extends StoreError {
  override readonly name = 'ConstraintViolation';
  readonly kind: 'conflict' | 'invalid';

  constructor(kind: ConstraintViolation['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}

/** The store cannot read or write at the moment. Nothing was changed. */
export class Unavailable extends StoreError {
  override readonly name = 'Unavailable';
  readonly kind: 'full' | 'closed' | 'incompatible' | 'failed';

  constructor(kind: Unavailable['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}

/** It is unknown whether the write took effect: the store failed while it was being made durable. */
export class OutcomeUnknown extends StoreError {
  override readonly name = 'OutcomeUnknown';
  readonly kind = 'unknown';
}

/** Creates the error of a kind; its class gets lost between threads. */
export function createStoreError(kind: StoreErrorKind, message: string): StoreError {
  switch (kind) {
    case 'insufficient_funds':
      return new InsufficientFunds(message);
    case 'conflict':
    case 'invalid':
      return new ConstraintViolation(kind, message);
    case 'unknown':
      return new OutcomeUnknown(message);
    default:
      return new Unavailable(kind, message);
  }
}
