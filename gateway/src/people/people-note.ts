/** Owns what is told of what people did, for whoever keeps the trail of it. */

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
