/**
 * Changes a person's password and second factor; each change gives their session a new token. Also tracks used one-time
 * codes, and requires re-authentication before a sign-in method is added.
 */

import { ConsoleFailure } from '../../errors/console-failure.ts';
import type { PeopleStore } from '../../store/ports/people.ts';
import type { PeopleEventKind, RecordEvent } from '../people-event.ts';
import { type Attempts, addressSubject, personSubject } from './attempts.ts';
import { type Arrival, inwardHeaders, SESSION_COOKIE, sendCookies } from './auth-cookies.ts';
import type { AuthEngine } from './auth-engine.ts';
import { type AuthEngines, orRefusal } from './auth-engines.ts';
import { isPassword } from './passwords.ts';
import type { SignedIn } from './sessions.ts';

/** Set-up data for an authenticator app; shown once. */
export interface NewSecondFactor {
  readonly uri: string;
  readonly secret: string;
  readonly recoveryCodes: readonly string[];
}

export interface Credentials {
  /** Ends all other sessions, and sign-ins that wait for their code. @throws ConsoleFailure `wrong_credential`, `too_many` */
  changePassword(who: Caller, given: { current: string; next: string }, outgoing: Headers): Promise<void>;
  /** @throws ConsoleFailure `wrong_credential`, `conflict` where a second factor is on already, `too_many` */
  beginSecondFactor(who: Caller, password: string): Promise<NewSecondFactor>;
  /** @throws ConsoleFailure `wrong_credential`, `conflict` where a second factor is on already, `too_many` */
  confirmSecondFactor(who: Caller, code: string, outgoing: Headers): Promise<void>;
  /** @throws ConsoleFailure `wrong_credential`, `too_many` */
  removeSecondFactor(who: Caller, password: string, outgoing: Headers): Promise<void>;
}

/** The signed-in caller, and how their request arrived. */
export interface Caller {
  readonly signedIn: SignedIn;
  readonly arrival: Arrival;
}

interface CredentialsParts {
  readonly people: PeopleStore;
  readonly engines: AuthEngines;
  readonly attempts: Attempts;
  readonly spentCodes: SpentCodes;
  readonly note: RecordEvent;
  nowMs(): number;
}

type Api = AuthEngine['api'];
interface Asked {
  readonly headers: Headers;
  readonly returnHeaders: true;
}

export function createCredentials(parts: CredentialsParts): Credentials {
  const { people, engines, attempts, spentCodes, note, nowMs } = parts;

  async function ask<Reply>(
    { signedIn, arrival }: Caller,
    member: string,
    work: (api: Api, request: Asked) => Promise<Reply>,
  ): Promise<Reply> {
    const bySubject = personSubject(signedIn.person.id);
    const attempt = attempts.begin([addressSubject(arrival.address), bySubject]);
    const { api } = await engines.own();
    const request = { headers: inwardHeaders(arrival, [SESSION_COOKIE]), returnHeaders: true } as const;
    const reply = await orRefusal(() => work(api, request), attempt.withdraw);
    if (reply === 'refused') {
      throw new ConsoleFailure('wrong_credential', `the ${member === 'code' ? 'code' : 'password'} is incorrect`, {
        member,
      });
    }
    attempt.succeed([bySubject.name]);
    return reply;
  }

  async function recordAct({ signedIn: { person }, arrival }: Caller, act: PeopleEventKind): Promise<void> {
    const { id, name } = person;
    const common = { account: null, before: null, after: null, address: arrival.address, atMs: nowMs() };
    await note({ act, actor: { id, name }, subject: { kind: 'person', id }, ...common });
  }

  return {
    async changePassword(who, { current, next }, outgoing) {
      const body = { currentPassword: current, newPassword: next, revokeOtherSessions: true };
      const { headers } = await ask(who, 'current', (api, request) => api.changePassword({ body, ...request }));
      // Cancels a sign-in with the old password that is waiting for its code.
      await people.save([{ of: 'sign_in_step', remove: [['value', 'is', who.signedIn.person.id]], rows: null }]);
      sendCookies(headers, who.arrival, outgoing);
      await recordAct(who, 'person.password');
    },
    async beginSecondFactor(who, password) {
      requireNone(who);
      const { response } = await ask(who, 'password', (api, request) =>
        api.enableTwoFactor({ body: { password, method: 'totp' }, ...request }),
      );
      if (response.method !== 'totp') throw new Error('a second factor of another kind was made');
      const { totpURI: uri, backupCodes: recoveryCodes } = response;
      return { uri, secret: new URL(uri).searchParams.get('secret') ?? '', recoveryCodes };
    },
    async confirmSecondFactor(who, code, outgoing) {
      requireNone(who);
      // The same code would be accepted at a sign-in for another minute.
      const release = spentCodes.spend(who.signedIn.person.id, code);
      if (release === null) throw codeIsSpent();
      const verified = ask(who, 'code', (api, request) => api.verifyTOTP({ body: { code }, ...request }));
      const { headers } = await verified.catch((fault) => {
        release();
        throw fault;
      });
      sendCookies(headers, who.arrival, outgoing);
      await recordAct(who, 'person.second_factor_on');
    },
    async removeSecondFactor(who, password, outgoing) {
      const { headers } = await ask(who, 'password', (api, request) =>
        api.disableTwoFactor({ body: { password }, ...request }),
      );
      sendCookies(headers, who.arrival, outgoing);
      if (who.signedIn.person.second_factor === 1) await recordAct(who, 'person.second_factor_off');
    },
  };
}

function requireNone({ signedIn }: Caller): void {
  if (signedIn.person.second_factor === 0) return;
  throw new ConsoleFailure('conflict', 'a second factor is already on; turn it off before you set up another', {
    page: '/app/me',
  });
}

export interface SpentCodes {
  /** Marks a code as used; null: it was used before. Call the result to undo this for a wrong code. */
  spend(person: string, code: string): (() => void) | null;
}

/** The previous, current and next step, 30 s each. */
const RIGHT_MS = 90_000;

/** The error for a code that was used before. */
export function codeIsSpent(): ConsoleFailure {
  return new ConsoleFailure('wrong_credential', 'this code was already used; wait for the next one', {
    member: 'code',
  });
}

/** `nowMs`: unix ms. */
export function createSpentCodes(nowMs: () => number): SpentCodes {
  const spentAtMs = new Map<string, number>();
  return {
    spend(person, code) {
      const atMs = nowMs();
      for (const [name, thenMs] of spentAtMs) if (atMs - thenMs > RIGHT_MS) spentAtMs.delete(name);
      const name = `${person} ${code}`;
      if (spentAtMs.has(name)) return null;
      spentAtMs.set(name, atMs);
      return () => spentAtMs.delete(name);
    },
  };
}

/**
 * `password` null: none was given. @throws ConsoleFailure `wrong_credential`, `forbidden` where the sign-in is too old,
 * `too_many`
 */
export type FreshProof = (who: Caller, password: string | null) => Promise<void>;

interface ProofParts {
  readonly people: PeopleStore;
  readonly attempts: Attempts;
  nowMs(): number;
}

const FRESH_MS = 10 * 60_000;

export function createFreshProof({ people, attempts, nowMs }: ProofParts): FreshProof {
  return async ({ signedIn: { person, session }, arrival }, password) => {
    const hash = await findPasswordHash(people, person.id);
    if (hash === null) {
      if (nowMs() - session.created_at_ms <= FRESH_MS) return;
      throw new ConsoleFailure(
        'forbidden',
        'you have no password to confirm with; sign out, sign in again, and retry within 10 minutes',
      );
    }
    const bySubject = personSubject(person.id);
    const attempt = attempts.begin([addressSubject(arrival.address), bySubject]);
    const isRight = password !== null && (await isPassword(password, hash).catch(withdrawn(attempt.withdraw)));
    if (!isRight) throw new ConsoleFailure('wrong_credential', 'the password is incorrect', { member: 'password' });
    attempt.succeed([bySubject.name]);
  };
}

/** The hash of the person's password; null: they have none. A new password has another one, even if it is the same. */
export async function findPasswordHash(people: Pick<PeopleStore, 'find'>, person: string): Promise<string | null> {
  const where = [
    ['person', 'is', person],
    ['password_hash', 'is not', null],
  ] as const;
  const [method] = await people.find('sign_in_method', { where });
  return method?.password_hash ?? null;
}

/** An internal error does not count as a failed attempt. */
function withdrawn(withdraw: () => void): (fault: unknown) => never {
  return (fault) => {
    withdraw();
    throw fault;
  };
}
