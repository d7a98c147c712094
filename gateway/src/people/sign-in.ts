/**
 * Owns the ways in: by password and second factor, by passkey, and by another service. Each success makes a session and ends
 * the one that came along. What a person changes about his own sign-in is in `credentials.ts` and `passkeys.ts`.
 */
import { createHash } from 'node:crypto';
import type { PeopleStore } from '../store/people-port.ts';
import { type Attempts, addressSubject, emailSubject, personSubject } from './attempts.ts';
import { type Arrival, inwardHeaders, readCookies, SECOND_STEP_COOKIE, sendCookies } from './auth-cookies.ts';
import type { AuthEngines } from './auth-engines.ts';
import type { SignedByPasskey } from './passkey-messages.ts';
import type { PasskeyProof, SignOptions } from './passkey-proof.ts';
import { PeopleFailure } from './people-failure.ts';
import type { TakeNote } from './people-note.ts';
import type { RelyingParty } from './relying-party.ts';
import type { Sessions } from './sessions.ts';
import { codeIsSpent, type SpentCodes } from './spent-codes.ts';

export type SignInState = 'second_factor' | 'signed_in';

export interface SignIn {
  /** @throws PeopleFailure `wrong_credential` (whatever was wrong), `too_many` */
  byPassword(arrival: Arrival, given: { email: string; password: string }, outgoing: Headers): Promise<SignInState>;
  /** The second step. @throws PeopleFailure `wrong_credential`, `signed_out` where no first step waits, `too_many` */
  byCode(arrival: Arrival, code: string, outgoing: Headers): Promise<SignInState>;
  /** Whether a second step waits. */
  waitsForCode(arrival: Arrival): Promise<boolean>;
  /** What the browser needs to have a passkey sign. */
  startPasskey(arrival: Arrival, party: RelyingParty, outgoing: Headers): SignOptions;
  /** No second step follows: a passkey is held and unlocked. @throws PeopleFailure `wrong_credential`, `too_many` */
  byPasskey(arrival: Arrival, party: RelyingParty, given: SignedByPasskey, outgoing: Headers): Promise<SignInState>;
  /** The address of another service to send the browser to. */
  startService(arrival: Arrival, service: string, outgoing: Headers): Promise<string>;
  /** The page of the console to go on at, after another service sent the browser back. */
  finishService(
    arrival: Arrival,
    service: string,
    query: { readonly [name: string]: string | undefined },
    outgoing: Headers,
  ): Promise<string>;
  /** Ends the session that the request holds. */
  signOut(arrival: Arrival): Promise<void>;
}

export interface SignInParts {
  readonly people: PeopleStore;
  readonly engines: AuthEngines;
  readonly sessions: Sessions;
  readonly attempts: Attempts;
  readonly spentCodes: SpentCodes;
  readonly passkeyProof: PasskeyProof;
  readonly note: TakeNote;
  nowMs(): number;
}

/** What somebody signed in by, for the trail. */
interface By {
  readonly how: string;
  readonly passkey?: string;
}

const STATE_COOKIE = 'tollgate.state';
const SIGN_IN_PAGE = '/app/sign-in';

export function createSignIn(parts: SignInParts): SignIn {
  const { people, engines, sessions, attempts, spentCodes, passkeyProof, note, nowMs } = parts;

  async function welcome(person: string, by: By, library: Headers, arrival: Arrival, outgoing: Headers) {
    await sessions.endHeld(arrival);
    sendCookies(library, arrival, outgoing);
    const [row] = await people.find('person', { where: [['id', 'is', person]] });
    await note({
      act: 'person.sign_in',
      actor: { id: person, name: row?.name ?? person },
      account: null,
      subject: { kind: 'person', id: person },
      before: null,
      after: { ...by },
      address: arrival.address,
      atMs: nowMs(),
    });
  }

  async function notifyFailure(id: string, arrival: Arrival): Promise<void> {
    const subject = { kind: 'person', id } as const;
    const common = { account: null, before: null, after: null, address: arrival.address, atMs: nowMs() };
    await note({ act: 'person.sign_in_failed', actor: null, subject, ...common });
  }

  /** The person whose second step waits, by the cookie that the first one left. */
  async function findWaiting(arrival: Arrival): Promise<string | null> {
    const [, identifier] =
      /^([0-9A-Za-z_-]+)(?:\.|%2E)/i.exec(readCookies(arrival).get(SECOND_STEP_COOKIE) ?? '') ?? [];
    if (identifier === undefined) return null;
    const name = createHash('sha256').update(identifier).digest('base64url');
    const [step] = await people.find('sign_in_step', {
      where: [
        ['name', 'is', name],
        ['expires_at_ms', '>', nowMs()],
      ],
    });
    return step?.value ?? null;
  }

  return {
    async byPassword(arrival, given, outgoing) {
      const email = given.email.toLowerCase();
      const bySubject = emailSubject(email);
      const attempt = attempts.begin([addressSubject(arrival.address), bySubject]);
      const body = { email, password: given.password };
      const { api } = await engines.own();
      const reply = await orRefusal(
        () => api.signInEmail({ body, headers: inwardHeaders(arrival, []), returnHeaders: true }),
        attempt.withdraw,
      );
      if (reply === 'refused') {
        await notifyFailure(email, arrival);
        throw new PeopleFailure('wrong_credential', 'e-mail and password do not belong together; check both');
      }
      attempt.succeed([bySubject.name]);
      if ('twoFactorRedirect' in reply.response) {
        sendCookies(reply.headers, arrival, outgoing);
        return 'second_factor';
      }
      await welcome(reply.response.user.id, { how: 'password' }, reply.headers, arrival, outgoing);
      return 'signed_in';
    },

    async byCode(arrival, code, outgoing) {
      const waiting = await findWaiting(arrival);
      if (waiting === null) {
        throw new PeopleFailure('signed_out', 'no sign-in waits for a code, or it waited too long; begin again', {
          page: SIGN_IN_PAGE,
        });
      }
      const bySubject = personSubject(waiting);
      const attempt = attempts.begin([addressSubject(arrival.address), bySubject]);
      const { api } = await engines.own();
      const asked = { headers: inwardHeaders(arrival, [SECOND_STEP_COOKIE]), returnHeaders: true } as const;
      const isOfAuthenticator = /^\d{6}$/.test(code);
      const release = isOfAuthenticator ? spentCodes.spend(waiting, code) : null;
      if (isOfAuthenticator && release === null) throw codeIsSpent();
      const body = { code };
      const reply = await orRefusal(
        () => (isOfAuthenticator ? api.verifyTOTP({ body, ...asked }) : api.verifyBackupCode({ body, ...asked })),
        () => {
          attempt.withdraw();
          release?.();
        },
      );
      if (reply === 'refused') {
        release?.();
        await notifyFailure(waiting, arrival);
        throw new PeopleFailure(
          'wrong_credential',
          'the code is not right, or too many were tried; take a fresh one, or begin again',
          { member: 'code' },
        );
      }
      attempt.succeed([bySubject.name]);
      const how = isOfAuthenticator ? 'authenticator' : 'recovery code';
      await welcome(waiting, { how }, reply.headers, arrival, outgoing);
      return 'signed_in';
    },

    async waitsForCode(arrival) {
      return (await findWaiting(arrival)) !== null;
    },

    startPasskey: (arrival, party, outgoing) => passkeyProof.ask(party, arrival, outgoing),

    async byPasskey(arrival, party, given, outgoing) {
      const passkey = await passkeyProof.find(given);
      const ofPerson = passkey === null ? [] : [personSubject(passkey.person)];
      const attempt = attempts.begin([addressSubject(arrival.address), ...ofPerson]);
      const isRight = await passkeyProof.isRight(passkey, given, party, arrival).catch((fault) => {
        attempt.withdraw();
        throw fault;
      });
      if (passkey === null || !isRight) {
        await notifyFailure(passkey?.person ?? 'passkey', arrival);
        throw new PeopleFailure(
          'wrong_credential',
          'this passkey is not known here, or took over five minutes; try again, or sign in another way',
        );
      }
      attempt.succeed(ofPerson.map(({ name }) => name));
      const made = await sessions.begin(passkey.person, arrival);
      await welcome(passkey.person, { how: 'passkey', passkey: passkey.id }, made, arrival, outgoing);
      return 'signed_in';
    },

    async startService(arrival, service, outgoing) {
      const attempt = attempts.begin([addressSubject(arrival.address)]);
      try {
        const { api } = await engines.ofService(service);
        const { headers, response } = await api.signInSocial({
          body: { provider: service, callbackURL: '/app', errorCallbackURL: SIGN_IN_PAGE, disableRedirect: true },
          headers: inwardHeaders(arrival, []),
          returnHeaders: true,
        });
        if (response.url === undefined) throw new Error(`no address to sign in at came for ${service}`);
        sendCookies(headers, arrival, outgoing);
        return response.url;
      } finally {
        attempt.withdraw();
      }
    },

    async finishService(arrival, service, query, outgoing) {
      const attempt = attempts.begin([addressSubject(arrival.address)]);
      const { api } = await engines.ofService(service);
      const reply = await api.callbackOAuth({
        method: 'GET',
        params: { id: service },
        query,
        headers: inwardHeaders(arrival, [STATE_COOKIE]),
        asResponse: true,
      });
      const location = reply.headers.get('location') ?? '';
      const person = await findNewPerson(reply.headers);
      if (person === null) {
        await notifyFailure(service, arrival);
        return /^\/app\/sign-in\?/.test(location) ? location : `${SIGN_IN_PAGE}?error=failed`;
      }
      attempt.succeed([]);
      await welcome(person, { how: service }, reply.headers, arrival, outgoing);
      return '/app';
    },

    async signOut(arrival) {
      const signedIn = await sessions.find(arrival);
      await sessions.endHeld(arrival);
      if (signedIn === null) return;
      const { id, name } = signedIn.person;
      const subject = { kind: 'person', id } as const;
      const common = { account: null, before: null, after: null, address: arrival.address, atMs: nowMs() };
      await note({ act: 'person.sign_out', actor: { id, name }, subject, ...common });
    },
  };

  /** Whose session the library has just made; null: it made none. */
  async function findNewPerson(library: Headers): Promise<string | null> {
    const cookie = library.getSetCookie().map((line) => line.split(';', 1)[0]);
    const headers = new Headers({ cookie: cookie.join('; ') });
    const signedIn = await sessions.find({ headers, address: null, isForwardedHttps: false });
    return signedIn?.person.id ?? null;
  }
}

/** What the library answers, or `refused` where it says no; another fault goes on, after `withdraw`. */
export async function orRefusal<Reply>(ask: () => Promise<Reply>, withdraw: () => void): Promise<Reply | 'refused'> {
  try {
    return await ask();
  } catch (fault) {
    if (isRefusal(fault)) return 'refused';
    withdraw();
    throw fault;
  }
}

/** By its look: the library's class would bring the whole library along at every start. */
function isRefusal(fault: unknown): boolean {
  return fault instanceof Error && fault.name === 'APIError' && 'statusCode' in fault && Number(fault.statusCode) < 500;
}
