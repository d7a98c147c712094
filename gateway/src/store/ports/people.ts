/**
 * Defines the store for people: identities, sign-in methods, sessions and memberships. Rows mirror the tables, since
 * the authentication library reads and writes about half of them directly.
 */

export interface PersonRow {
  readonly id: string;
  readonly name: string;
  /** As returned by `readEmail`. Several users may share it, at most one of them verified. */
  readonly email: string;
  /** `email` for a verified user; for others `email`, a space and the account id. */
  readonly unique_email: string;
  /** 1: the user proved control of the address. Never reverts to 0. */
  readonly email_verified: 0 | 1;
  /**
   * The only account that an unverified user can belong to. Null: verified, or without an account since before schema
   * version 21.
   */
  readonly account: string | null;
  readonly second_factor: 0 | 1;
  readonly created_at_ms: number;
  readonly updated_at_ms: number;
  readonly seen_at_ms: number | null;
  /** In which the console shows times of day: an IANA name, or `browser`. Null: that of the account. */
  readonly time_zone: string | null;
}

export interface PersonSessionRow {
  readonly id: string;
  /** SHA-256 (hex) of the token in the browser. */
  readonly token: string;
  readonly person: string;
  readonly address: string | null;
  readonly client: string | null;
  readonly created_at_ms: number;
  readonly seen_at_ms: number;
  /** Fixed: activity does not extend the session. */
  readonly expires_at_ms: number;
}

export interface SignInMethodRow {
  readonly id: string;
  readonly person: string;
  /** `credential`: password. Else the id of another identity service. */
  readonly provider: string;
  /** The person's id at that service; for a password, the person's own id. */
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
  /** Credential id from the authenticator, base64url. */
  readonly credential: string;
  /** COSE, base64url. */
  readonly public_key: string;
  /** Signature counter of the authenticator; 0: it keeps none. */
  readonly counter: number;
  /** The host that the passkey was created for; it works only there. */
  readonly relying_party: string;
  readonly created_at_ms: number;
  readonly used_at_ms: number | null;
}

export interface MembershipRow {
  readonly person: string;
  readonly account: string;
  readonly role: string;
  /** JSON list; null: every workspace of the account. */
  readonly workspaces: string | null;
  readonly joined_at_ms: number;
}

/** A membership that schema version 21 suspended until its unverified user verifies the address. */
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
  /**
   * One link per person at a time. It becomes invalid when the password or a membership of that person, or of the
   * link's creator, changes.
   */
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

/** `is` and `is not` handle null. */
export type PeopleOperator = 'is' | 'is not' | '<' | '<=' | '>' | '>=' | 'in';

/** A row matches where all conditions hold. */
export type PeopleCondition<Table extends PeopleTable> = readonly [
  column: keyof PeopleTables[Table] & string,
  operator: PeopleOperator,
  value: PeopleValue | readonly PeopleValue[],
];
export type PeopleConditions<Table extends PeopleTable> = readonly PeopleCondition<Table>[];

/** `rows`: the number of rows that must change, else nothing changes; null: any number. */
export type PeopleChange = { [Table in PeopleTable]: PeopleTableChange<Table> }[PeopleTable];
export type PeopleTableChange<Table extends PeopleTable> =
  | { readonly of: Table; readonly insert: PeopleTables[Table] }
  | {
      readonly of: Table;
      readonly update: Partial<PeopleTables[Table]>;
      /** Added to the stored value; null counts as 0. */
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
  /** Returns the matching rows. */
  find<Table extends PeopleTable>(
    table: Table,
    selection: PeopleSelection<Table>,
  ): Promise<readonly PeopleTables[Table][]>;
  /**
   * Applies all changes or none. `false`: a change matched another number of rows than required, or broke a unique
   * constraint, and nothing changed. Resolves once durable; rejects where the store fails.
   */
  save(changes: readonly PeopleChange[]): Promise<boolean>;
}
