/**
 * Lists, adds, renames and removes a person's passkeys, except one that is the last sign-in method. Sign-in with
 * passkeys is in `passkey-proof.ts`.
 */

import { ConsoleFailure } from '../../errors/console-failure.ts';
import { generateId } from '../../identity/key-format.ts';
import type { PasskeyRow, PeopleStore } from '../../store/ports/people.ts';
import type { SignInMethods } from '../members/sign-in-methods.ts';
import type { PeopleEvent, PeopleEventKind, RecordEvent } from '../people-event.ts';
import type { Caller, FreshProof } from '../sign-in/credentials.ts';
import type { Sessions } from '../sign-in/sessions.ts';
import { loadPasskeyCheck } from './load-passkey-check.ts';
import { type MadePasskey, type PasskeyChallenges, renderMakeOptions } from './passkey-challenges.ts';
import type { RelyingParty } from './relying-party.ts';

export interface Passkeys {
  /** In order of creation. */
  list(person: string): Promise<readonly PasskeyRow[]>;
  /**
   * The options for creating one. @throws ConsoleFailure as FreshProof, and `conflict` where the person has the maximum
   * number
   */
  begin(who: Caller, password: string | null, party: RelyingParty, outgoing: Headers): Promise<MakeOptions>;
  /**
   * Stores the passkey that the browser created. @throws ConsoleFailure `invalid`, `conflict` where it already belongs
   * to a person
   */
  add(who: Caller, given: NewPasskey, party: RelyingParty, outgoing: Headers): Promise<void>;
  /** @throws ConsoleFailure `not_found` */
  rename(who: Caller, id: string, name: string): Promise<void>;
  /**
   * `party`: for the address of the request. @throws ConsoleFailure `not_found`, `conflict` where it is the last sign-in
   * method
   */
  remove(who: Caller, id: string, party: RelyingParty | null): Promise<void>;
}

export type MakeOptions = ReturnType<typeof renderMakeOptions>;

export interface NewPasskey {
  readonly name: string;
  readonly response: MadePasskey;
}

interface PasskeysParts {
  readonly people: PeopleStore;
  readonly sessions: Sessions;
  readonly challenges: PasskeyChallenges;
  readonly proveFresh: FreshProof;
  readonly waysIn: SignInMethods;
  readonly note: RecordEvent;
  nowMs(): number;
}

const PASSKEYS_MAX = 20;
const PAGE = '/app/me';

export function createPasskeys(parts: PasskeysParts): Passkeys {
  const { people, sessions, challenges, proveFresh, waysIn, note, nowMs } = parts;

  const list = (person: string) =>
    people.find('passkey', { where: [['person', 'is', person]], orderBy: ['created_at_ms', 'asc'] });

  async function recordAct(
    { signedIn, arrival }: Caller,
    act: PeopleEventKind,
    id: string,
    change: Pick<PeopleEvent, 'before' | 'after'>,
  ): Promise<void> {
    const actor = { id: signedIn.person.id, name: signedIn.person.name };
    const subject = { kind: 'passkey', id } as const;
    await note({ act, actor, account: null, subject, ...change, address: arrival.address, atMs: nowMs() });
  }

  return {
    list,
    async begin(who, password, party, outgoing) {
      await proveFresh(who, password);
      const { person } = who.signedIn;
      const own = await list(person.id);
      if (own.length >= PASSKEYS_MAX) {
        throw new ConsoleFailure('conflict', `you have ${own.length} passkeys, the maximum; remove one first`, {
          page: PAGE,
        });
      }
      const challenge = challenges.ask(purposeOf(who), who.arrival, outgoing);
      const credentials = own.map(({ credential }) => credential);
      return renderMakeOptions(party, challenge, person, credentials);
    },
    async add(who, { name, response }, party, outgoing) {
      const challenge = challenges.take(purposeOf(who), who.arrival);
      if (challenge === null) {
        throw new ConsoleFailure(
          'invalid',
          'this passkey was not requested, or the request is older than five minutes; start again',
        );
      }
      const { checkMade } = await loadPasskeyCheck();
      const made = await checkMade(response, { challenge, party }).catch((cause: Error) => {
        throw new ConsoleFailure('invalid', `the passkey was rejected: ${cause.message}`, {
          member: 'response',
          cause,
        });
      });
      const row = {
        id: generateId('passkey'),
        person: who.signedIn.person.id,
        name,
        ...made,
        relying_party: party.id,
        created_at_ms: nowMs(),
        used_at_ms: null,
      };
      // A reset that ended the session meanwhile has removed all passkeys, so that none may follow.
      const { id } = who.signedIn.session;
      const isAlive = { seen_at_ms: row.created_at_ms };
      const kept = await people.save([
        { of: 'person_session', update: isAlive, where: [['id', 'is', id]], rows: 1 },
        { of: 'passkey', insert: row },
      ]);
      if (!kept) {
        throw new ConsoleFailure(
          'conflict',
          'this passkey is already registered, or your session has ended; create another one, or sign in again',
        );
      }
      await sessions.rotate(who.signedIn, who.arrival, outgoing);
      await recordAct(who, 'person.passkey_added', row.id, { before: null, after: { name } });
    },
    async rename(who, id, name) {
      const before = await waysIn.oneByOne(async () => {
        const passkey = requireOwn(await list(who.signedIn.person.id), id);
        const renamed = { of: 'passkey', update: { name }, where: [['id', 'is', id]], rows: 1 } as const;
        if (!(await people.save([renamed]))) throw noSuchPasskey();
        return passkey.name;
      });
      if (name !== before) {
        await recordAct(who, 'person.passkey_renamed', id, { before: { name: before }, after: { name } });
      }
    },
    async remove(who, id, party) {
      const person = who.signedIn.person.id;
      const removed = await waysIn.oneByOne(async () => {
        const passkey = requireOwn(await list(person), id);
        await waysIn.requireAnother(person, { passkey: id }, party);
        await people.save([{ of: 'passkey', remove: [['id', 'is', id]], rows: 1 }]);
        return passkey;
      });
      await recordAct(who, 'person.passkey_removed', id, { before: { name: removed.name }, after: null });
    },
  };
}

function requireOwn(own: readonly PasskeyRow[], id: string): PasskeyRow {
  const passkey = own.find((one) => one.id === id);
  if (passkey === undefined) throw noSuchPasskey();
  return passkey;
}

function noSuchPasskey(): ConsoleFailure {
  return new ConsoleFailure('not_found', 'you have no such passkey; it may have been removed', { page: PAGE });
}

/** Binds the challenge to the session that requested it, so no other session can answer it without the same proof. */
function purposeOf({ signedIn }: Caller): string {
  return `make ${signedIn.session.id}`;
}
