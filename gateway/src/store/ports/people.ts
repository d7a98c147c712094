/**
 * Owns the interface through which people are kept: who they are, how they sign in, what they are to accounts. Rows are as
 * they lie in the tables, since half of them are read and written by a library that thinks in rows. Knows no database.
 */

export interface PersonRow {
  readonly id: string;
  readonly name: string;
  /** As `readEmail` answers it. Several users may have it, one of them verified. */
  readonly email: string;
  /** `email` of a verified user; of another one with a space and the account behind it. */
  readonly unique_email: string;
  /** 1: it was proved that the address is the user's. Never taken back. */
  readonly email_verified: 0 | 1;
  /** The one account that an unverified user can be a member of. Null: verified, or from before version 21 without one. */
  readonly account: string | null;
  readonly second_factor: 0 | 1;
  readonly created_at_ms: number;
  readonly updated_at_ms: number;
  readonly seen_at_ms: number | null;
}

export interface PersonSessionRow {
  readonly id: string;
  /** SHA-256 in hex of what the browser holds. */
  readonly token: string;
  readonly person: string;
  readonly address: string | null;
  readonly client: string | null;
  readonly created_at_ms: number;
  readonly seen_at_ms: number;
  /** Never moves: the end whatever happens. */
  readonly expires_at_ms: number;
}

export interface SignInMethodRow {
  readonly id: string;
  readonly person: string;
  /** `credential`: by password. Else the id of another service. */
  readonly provider: string;
  /** The person's name there; of a password: the person's own id. */
  readonly subject: string;
  readonly scope: string | null;
  readonly password_hash: string | null;
  readonly created_at_ms: number;
  readonly updated_at_ms: number;
}

export interface SignInStepRow {
  readonly id: string;
  readonly name: string;
  readonly value: string;
  readonly created_at_ms: number;
  readonly updated_at_ms: number;
  readonly expires_at_ms: number;
}

export interface SecondFactorRow {
  readonly id: string;
  readonly person: string;
  readonly secret: string;
  readonly recovery_codes: string;
  readonly verified: 0 | 1;
  readonly failures: number;
  readonly locked_until_ms: number | null;
}

export interface PasskeyRow {
  readonly id: string;
  readonly person: string;
  readonly name: string;
  /** The authenticator's id of it, base64url. */
  readonly credential: string;
  /** COSE, base64url. */
  readonly public_key: string;
  /** How often it signed, by its own count; 0: it does not count. */
  readonly counter: number;
  /** The host that it was made for, and works at. */
  readonly relying_party: string;
  readonly created_at_ms: number;
  readonly used_at_ms: number | null;
}

export interface MembershipRow {
  readonly person: string;
  readonly account: string;
  readonly role: string;
  /** A JSON list; null: every workspace of the account. */
  readonly workspaces: string | null;
  readonly joined_at_ms: number;
}

/** What version 21 took from an unverified user, until the address is verified. */
export type SuspendedMembershipRow = MembershipRow;

export interface InvitationRow {
  readonly id: string;
  readonly account: string;
  readonly email: string;
  readonly role: string;
  readonly workspaces: string | null;
  readonly token_hash: string;
  readonly invited_by: string;
  readonly created_at_ms: number;
  readonly expires_at_ms: number;
  readonly accepted_at_ms: number | null;
}

export interface SetupLinkRow {
  readonly token_hash: string;
  readonly expires_at_ms: number;
  readonly used_at_ms: number | null;
}

export interface ResetLinkRow {
  /** One link for a person at a time. It ends by itself when his password or a membership changes, or those of who made it. */
  readonly person: string;
  readonly token_hash: string;
  /** Null: the command line. */
  readonly made_by: string | null;
  readonly ends_second_factor: 0 | 1;
  readonly expires_at_ms: number;
}

export interface PeopleTables {
  person: PersonRow;
  person_session: PersonSessionRow;
  sign_in_method: SignInMethodRow;
  sign_in_step: SignInStepRow;
  second_factor: SecondFactorRow;
  passkey: PasskeyRow;
  membership: MembershipRow;
  suspended_membership: SuspendedMembershipRow;
  invitation: InvitationRow;
  setup_link: SetupLinkRow;
  reset_link: ResetLinkRow;
}
export type PeopleTable = keyof PeopleTables;
export type PeopleValue = string | number | null;

/** `is` and `is not` know null. */
export type PeopleOperator = 'is' | 'is not' | '<' | '<=' | '>' | '>=' | 'in';

/** A row passes where all of the conditions hold. */
export type PeopleCondition<Table extends PeopleTable> = readonly [
  column: keyof PeopleTables[Table] & string,
  operator: PeopleOperator,
  value: PeopleValue | readonly PeopleValue[],
];
export type PeopleConditions<Table extends PeopleTable> = readonly PeopleCondition<Table>[];

/** `rows`: how many it must change, or nothing is changed at all; null: any number. */
export type PeopleChange = { [Table in PeopleTable]: PeopleTableChange<Table> }[PeopleTable];
export type PeopleTableChange<Table extends PeopleTable> =
  | { readonly of: Table; readonly insert: PeopleTables[Table] }
  | {
      readonly of: Table;
      readonly update: Partial<PeopleTables[Table]>;
      /** Added to what is there; a null counts as 0. */
      readonly add?: { readonly [Column in keyof PeopleTables[Table]]?: number };
      readonly where: PeopleConditions<Table>;
      readonly rows: number | null;
    }
  | { readonly of: Table; readonly remove: PeopleConditions<Table>; readonly rows: number | null };

export interface PeopleSelection<Table extends PeopleTable> {
  readonly where: PeopleConditions<Table>;
  readonly limit?: number;
  readonly offset?: number;
  readonly orderBy?: readonly [column: keyof PeopleTables[Table] & string, direction: 'asc' | 'desc'];
}

export interface PeopleStore {
  /** The rows that pass. */
  find<Table extends PeopleTable>(
    table: Table,
    selection: PeopleSelection<Table>,
  ): Promise<readonly PeopleTables[Table][]>;
  /**
   * Keeps all of the changes or none; `false`: one of them met another number of rows than it must, or broke what is
   * unique, and nothing was changed. Resolves once they are durable; rejects where the store fails.
   */
  keep(changes: readonly PeopleChange[]): Promise<boolean>;
}
