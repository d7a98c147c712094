/**
 * Signs users in: with password and second factor, passkey or another service. Each success creates a session and ends
 * the one that the request had. Changes to a user's sign-in methods are in `credentials.ts`, `passkeys.ts` and
 * `oidc-links.ts`.
 */
import { createHash } from 'node:crypto';
import { ConsoleFailure } from '../../errors/console-failure.ts';
import type { PeopleStore, PersonRow } from '../../store/ports/people.ts';
import { emailOfPerson, readEmail } from '../email-address.ts';
import type { SignedByPasskey } from '../passkeys/passkey-challenges.ts';
import type { PasskeyProof, SignOptions } from '../passkeys/passkey-proof.ts';
import type { RelyingParty } from '../passkeys/relying-party.ts';
import type { RecordEvent } from '../people-event.ts';
import { type Attempts, addressSubject, emailSubject, personSubject } from './attempts.ts';
import {
  type Arrival,
  inwardHeaders,
  readCookies,
  SECOND_STEP_COOKIE,
  STATE_COOKIE,
  sendCookies,
} from './auth-cookies.ts';
import { type AuthEngines, orRefusal } from './auth-engines.ts';
import { codeIsSpent, findPasswordHash, type SpentCodes } from './credentials.ts';
import type { ReturnQuery, ServiceLinks } from './oidc-links.ts';
import type { FindByPassword } from './passwords.ts';
import type { Sessions } from './sessions.ts';

export type SignInState = 'second_factor' | 'signed_in';

/** `choose_account`: several users of the address have this password; `account` selects the user to sign in. */
export type PasswordState =
  | { readonly state: SignInState }
  | { readonly state: 'choose_account'; readonly accounts: readonly string[] };

export interface GivenPassword {
  readonly email: string;
  readonly password: string;
  readonly account?: string | undefined;
}

export interface SignIn {
  /**
   * Tries each user of the address. @throws ConsoleFailure `wrong_credential` (without a reason), `too_many`, `invalid`
   * for an account without a member among several users with the password
   */
  byPassword(arrival: Arrival, given: GivenPassword, outgoing: Headers): Promise<PasswordState>;
  /** Signs in a user who was just created with a password. */
  asNew(arrival: Arrival, person: string, outgoing: Headers): Promise<void>;
  /**
   * The second step. @throws ConsoleFailure `wrong_credential`, `signed_out` where no first step is pending, `too_many`
   */
  byCode(arrival: Arrival, code: string, outgoing: Headers): Promise<SignInState>;
  /** Whether a second step is pending. */
  waitsForCode(arrival: Arrival): Promise<boolean>;
  /** The options for signing with a passkey. */
  startPasskey(arrival: Arrival, party: RelyingParty, outgoing: Headers): SignOptions;
  /**
   * Needs no second step: a passkey proves possession and is unlocked. @throws ConsoleFailure `wrong_credential`,
   * `too_many`
   */
  byPasskey(arrival: Arrival, party: RelyingParty, given: SignedByPasskey, outgoing: Headers): Promise<SignInState>;
  /** The address of another service to redirect the browser to. */
  startService(arrival: Arrival, service: string, outgoing: Headers): Promise<string>;
  /** Handles another service's callback. Returns the console page to continue at. */
  finishService(arrival: Arrival, service: string, query: ReturnQuery, outgoing: Headers): Promise<string>;
  /** Ends the session of the request. */
  signOut(arrival: Arrival): Promise<void>;
}

export interface SignInParts {
  readonly people: PeopleStore;
  readonly engines: AuthEngines;
  readonly sessions: Sessions;
  readonly attempts: Attempts;
  readonly spentCodes: SpentCodes;
  readonly passkeyProof: PasskeyProof;
  readonly findByPassword: FindByPassword;
  readonly serviceLinks: ServiceLinks;
  readonly note: RecordEvent;
  nowMs(): number;
}

/** The sign-in method, for the audit trail. */
interface By {
  readonly how: string;
  readonly passkey?: string;
}

const SIGN_IN_PAGE = '/app/sign-in';

export function createSignIn(parts: SignInParts): SignIn {
  const { people, engines, sessions, attempts, spentCodes, passkeyProof, findByPassword, serviceLinks, note, nowMs } =
    parts;

  /**
   * Whether a sign-in that has just been stored stays: `isRight` says whether what was proved for it still counts. If not,
   * it ended while it was checked, with all sign-ins that were stored by then, and this one ends too.
   */
  async function stays(person: string, library: Headers, isRight: () => Promise<boolean>): Promise<boolean> {
    if (await isRight()) return true;
    await sessions.endHeld(arrivalWith(library));
    await people.save([{ of: 'sign_in_step', remove: [['value', 'is', person]], rows: null }]);
    return false;
  }

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

  /** The person whose second step is pending, from the cookie set by the first step. */
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
    async byPassword(arrival, { email: given, password, account }, outgoing) {
      const email = readEmail(given) ?? given;
      const bySubject = emailSubject(email);
      const attempt = attempts.begin([addressSubject(arrival.address), bySubject]);
      const { users, isOnly } = await findByPassword(email, password).catch((fault) => {
        attempt.withdraw();
        throw fault;
      });
      const refuse = async () => {
        await notifyFailure(email, arrival);
        return new ConsoleFailure('wrong_credential', 'Incorrect email or password');
      };
      if (users.length === 0) throw await refuse();
      const chosen = await chooseUser(people, users, account).catch((fault) => {
        attempt.withdraw();
        throw fault;
      });
      // A success of one user does not forgive failures for others with the same address.
      const succeed = () => attempt.succeed(isOnly ? [bySubject.name] : []);
      if ('accounts' in chosen) {
        succeed();
        return chosen;
      }
      const body = { email: emailOfPerson(chosen.id), password };
      const { api } = await engines.own();
      const request = { body, headers: inwardHeaders(arrival, []), returnHeaders: true } as const;
      const hash = await findPasswordHash(people, chosen.id);
      const reply = await orRefusal(() => api.signInEmail(request), attempt.withdraw);
      // The password was changed meanwhile.
      if (reply === 'refused') throw await refuse();
      const { response, headers } = reply;
      if (!(await stays(chosen.id, headers, async () => (await findPasswordHash(people, chosen.id)) === hash)))
        throw await refuse();
      succeed();
      if ('twoFactorRedirect' in response) {
        sendCookies(headers, arrival, outgoing);
        return { state: 'second_factor' };
      }
      await welcome(chosen.id, { how: 'password' }, headers, arrival, outgoing);
      return { state: 'signed_in' };
    },

    async asNew(arrival, person, outgoing) {
      const made = await sessions.begin(person, arrival);
      await welcome(person, { how: 'password' }, made, arrival, outgoing);
    },

    async byCode(arrival, code, outgoing) {
      const waiting = await findWaiting(arrival);
      if (waiting === null) {
        throw new ConsoleFailure('signed_out', 'no sign-in is waiting for a code, or it has expired; sign in again', {
          page: SIGN_IN_PAGE,
        });
      }
      const bySubject = personSubject(waiting);
      const attempt = attempts.begin([addressSubject(arrival.address), bySubject]);
      const { api } = await engines.own();
      const request = { headers: inwardHeaders(arrival, [SECOND_STEP_COOKIE]), returnHeaders: true } as const;
      const isOfAuthenticator = /^\d{6}$/.test(code);
      const release = isOfAuthenticator ? spentCodes.spend(waiting, code) : null;
      if (isOfAuthenticator && release === null) throw codeIsSpent();
      const body = { code };
      const hash = await findPasswordHash(people, waiting);
      const reply = await orRefusal(
        () => (isOfAuthenticator ? api.verifyTOTP({ body, ...request }) : api.verifyBackupCode({ body, ...request })),
        () => {
          attempt.withdraw();
          release?.();
        },
      );
      const isStored =
        reply !== 'refused' &&
        (await stays(waiting, reply.headers, async () => (await findPasswordHash(people, waiting)) === hash));
      if (!isStored) {
        release?.();
        await notifyFailure(waiting, arrival);
        throw new ConsoleFailure(
          'wrong_credential',
          'the code is incorrect, or too many were tried; enter a new one, or sign in again',
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
      const refuse = async () => {
        await notifyFailure(passkey?.person ?? 'passkey', arrival);
        return new ConsoleFailure(
          'wrong_credential',
          'this passkey is not registered here, or the sign-in took over five minutes; try again, or use another sign-in method',
        );
      };
      if (passkey === null || !isRight) throw await refuse();
      const made = await sessions.begin(passkey.person, arrival);
      if (!(await stays(passkey.person, made, async () => (await passkeyProof.find(given)) !== null)))
        throw await refuse();
      attempt.succeed(ofPerson.map(({ name }) => name));
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
      const linking = await serviceLinks.findPerson(query.state);
      if (linking !== null) {
        attempt.withdraw();
        return serviceLinks.finish(arrival, linking, service, query, outgoing);
      }
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

  /** The person whose session the library has just created; null: it created none. */
  async function findNewPerson(library: Headers): Promise<string | null> {
    const signedIn = await sessions.find(arrivalWith(library));
    return signedIn?.person.id ?? null;
  }
}

/** A request with the cookies of the library. */
function arrivalWith(library: Headers): Arrival {
  const cookie = library.getSetCookie().map((line) => line.split(';', 1)[0]);
  return { headers: new Headers({ cookie: cookie.join('; ') }), address: null, isForwardedHttps: false };
}

/** The user to sign in among those with the right password, or the accounts to choose from. */
async function chooseUser(
  people: PeopleStore,
  users: readonly PersonRow[],
  account: string | undefined,
): Promise<PersonRow | { readonly state: 'choose_account'; readonly accounts: readonly string[] }> {
  const ids = users.map(({ id }) => id);
  const memberships = users.length === 1 ? [] : await people.find('membership', { where: [['person', 'in', ids]] });
  const members = users.filter(({ id }) => memberships.some(({ person }) => person === id));
  const [only] = members.length === 0 ? users : members;
  if (only !== undefined && members.length <= 1) return only;
  if (account === undefined) return { state: 'choose_account', accounts: memberships.map((one) => one.account).sort() };
  const chosen = memberships.find((one) => one.account === account)?.person;
  const user = users.find(({ id }) => id === chosen);
  if (user !== undefined) return user;
  throw new ConsoleFailure('invalid', `account: no user with this email and password is a member of ${account}`, {
    member: 'account',
  });
}
