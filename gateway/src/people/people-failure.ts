/** Owns how what concerns people is refused: a kind, words for them, the member that is wrong. How it is answered is the API's. */

export type PeopleFailureKind =
  | 'invalid'
  | 'signed_out'
  | 'wrong_credential'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'gone'
  | 'too_many'
  | 'gateway_fault';

export interface PeopleFailureDetails {
  readonly member?: string;
  /** The page of the console that mends it. */
  readonly page?: string;
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

export class PeopleFailure extends Error {
  readonly kind: PeopleFailureKind;
  readonly details: PeopleFailureDetails;

  constructor(kind: PeopleFailureKind, message: string, details: PeopleFailureDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'PeopleFailure';
    this.kind = kind;
    this.details = details;
  }
}
