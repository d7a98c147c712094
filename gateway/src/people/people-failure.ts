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

export type PeopleAct =
  | 'person.setup'
  | 'person.sign_in'
  | 'person.sign_in_failed'
  | 'person.sign_out'
  | 'person.rename'
  | 'person.password'
  | 'person.reset_link'
  | 'person.reset'
  | 'person.second_factor_on'
  | 'person.second_factor_off'
  | 'person.passkey_added'
  | 'person.passkey_renamed'
  | 'person.passkey_removed'
  | 'person.service_linked'
  | 'person.service_unlinked'
  | 'person.session_end'
  | 'invitation.create'
  | 'invitation.withdraw'
  | 'invitation.accept'
  | 'member.change'
  | 'member.remove';

/** Never holds a secret. */
export interface PeopleNote {
  readonly act: PeopleAct;
  /** Null: nobody who is known, such as who failed to sign in. */
  readonly actor: { readonly id: string; readonly name: string } | null;
  /** Null: it concerns no single account. */
  readonly account: string | null;
  readonly subject: { readonly kind: 'person' | 'invitation' | 'session' | 'passkey'; readonly id: string };
  readonly before: { readonly [member: string]: unknown } | null;
  readonly after: { readonly [member: string]: unknown } | null;
  readonly address: string | null;
  readonly atMs: number;
}

/** Told of an act once it is durable; the answer waits for it. */
export type TakeNote = (note: PeopleNote) => Promise<void> | void;
