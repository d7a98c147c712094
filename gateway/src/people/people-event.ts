/** Defines the audit notes of what people do in the console. */

export type PeopleEventKind =
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

/** Never contains a secret. */
export interface PeopleEvent {
  readonly act: PeopleEventKind;
  /** Null: unknown, such as after a failed sign-in. */
  readonly actor: { readonly id: string; readonly name: string } | null;
  /** Null: it does not belong to a single account. */
  readonly account: string | null;
  readonly subject: { readonly kind: 'person' | 'invitation' | 'session' | 'passkey'; readonly id: string };
  readonly before: { readonly [member: string]: unknown } | null;
  readonly after: { readonly [member: string]: unknown } | null;
  readonly address: string | null;
  readonly atMs: number;
}

/** Called once an act is durable; the reply waits for it. */
export type RecordEvent = (note: PeopleEvent) => Promise<void> | void;
