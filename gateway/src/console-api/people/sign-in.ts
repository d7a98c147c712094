/**
 * Serves the routes of set-up, and those that sign users in and out with a password, code or service, and the state of
 * the session.
 */

import { addressSubject } from '../../people/sign-in/attempts.ts';
import { cameByHttps, NO_SESSION_COOKIE, sendCookies } from '../../people/sign-in/auth-cookies.ts';
import type { SignedIn } from '../../people/sign-in/sessions.ts';
import type { ConsoleRoute, Reply } from '../contract/contract.ts';
import { entriesOf } from '../kernel/actor.ts';
import type { ConsoleCall, Handlers } from '../kernel/handlers.ts';
import { addressOf, type PeopleParts, partyOf } from './people-parts.ts';

export function signInHandlers({ signIn, accounts }: PeopleParts) {
  return {
    'POST /sign-in': async ({ arrival, body, outgoing }) => {
      const signed = await signIn.byPassword(arrival, body, outgoing);
      if (signed.state !== 'choose_account') return signed;
      const named = signed.accounts.map((account) => ({ account, name: accounts.get(account)?.name ?? account }));
      return { state: signed.state, accounts: named };
    },
    'POST /sign-in/code': async ({ arrival, body, outgoing }) => ({
      state: await signIn.byCode(arrival, body.code, outgoing),
    }),
    'POST /sign-in/oidc': async ({ arrival, body, outgoing }) => ({
      url: await signIn.startService(arrival, body.provider, outgoing),
    }),
    'GET /sign-in/oidc/{provider}/callback': async ({ arrival, path, query, outgoing }) => ({
      location: await signIn.finishService(arrival, path.provider, query, outgoing),
    }),
    'POST /sign-out': async ({ arrival, outgoing }) => {
      await signIn.signOut(arrival);
      sendCookies(new Headers({ 'set-cookie': NO_SESSION_COOKIE }), arrival, outgoing);
      return {};
    },
  } satisfies Partial<Handlers>;
}

type SessionReply = Reply<'GET /session'>;

export function sessionHandlers(parts: PeopleParts) {
  return {
    'GET /session': async (call) => {
      const signedIn = await parts.sessions.find(call.arrival);
      if (signedIn !== null) return viewSession(parts, call, 'signed_in', signedIn);
      return viewSession(parts, call, await stateOfStranger(parts, call), null);
    },
  } satisfies Partial<Handlers>;
}

async function stateOfStranger(
  { setUp, signIn }: PeopleParts,
  { arrival }: Pick<ConsoleCall<ConsoleRoute>, 'arrival'>,
): Promise<SessionReply['state']> {
  if (!(await setUp.isClaimed())) return 'setup';
  return (await signIn.waitsForCode(arrival)) ? 'second_factor' : 'signed_out';
}

/** The console state of the caller. */
function viewSession(
  parts: PeopleParts,
  { arrival }: Pick<ConsoleCall<ConsoleRoute>, 'arrival'>,
  state: SessionReply['state'],
  signedIn: SignedIn | null,
): SessionReply {
  const { accounts, services, version } = parts;
  return {
    state,
    version,
    public_url: addressOf(parts, cameByHttps(arrival), arrival.headers.get('host') ?? ''),
    person: signedIn === null ? null : viewPerson(signedIn),
    accounts: entriesOf(signedIn?.memberships ?? [], [...accounts.keys()]).map((entry) => ({
      account: entry.account,
      name: accounts.get(entry.account)?.name ?? entry.account,
      time_zone: accounts.get(entry.account)?.timeZone ?? 'UTC',
      member: entry.isMember,
      role: entry.role,
      permissions: [...entry.permissions],
      workspaces: entry.workspaces === null ? null : [...entry.workspaces],
    })),
    oidc: services().map(({ id, name }) => ({ id, name })),
    passkeys: partyOf(parts, { arrival }) !== null,
  };
}

/** The session after this reply: reads the cookies in the reply as if the next request had sent them. */
export async function viewNewSession(
  parts: PeopleParts,
  call: Pick<ConsoleCall<ConsoleRoute>, 'arrival' | 'outgoing'>,
): Promise<SessionReply> {
  const { arrival, outgoing } = call;
  const headers = new Headers(arrival.headers);
  const made = outgoing.getSetCookie().map((cookie) => cookie.split(';', 1)[0]);
  if (made.length > 0) headers.set('cookie', made.join('; '));
  const signedIn = await parts.sessions.find({ ...arrival, headers });
  return viewSession(parts, call, signedIn === null ? 'signed_out' : 'signed_in', signedIn);
}

export function viewPerson({ person: { id, name, email, time_zone } }: SignedIn) {
  return { id, name, email, time_zone };
}

export function setUpHandlers(parts: PeopleParts) {
  const { setUp, attempts, describeGateway, checkWorkspace, makeWorkspace, signIn } = parts;
  return {
    'GET /setup/{token}': async ({ path, arrival }) => {
      const attempt = attempts.begin([addressSubject(arrival.address)]);
      const expiresAtMs = await setUp.readLink(path.token);
      if (expiresAtMs === null) return { valid: false, expires_at: null, providers: [], model: '' };
      attempt.succeed([]);
      const { providers, model } = describeGateway();
      return { valid: true, expires_at: new Date(expiresAtMs).toISOString(), providers: [...providers], model };
    },
    'POST /setup': async (call) => {
      const { body, arrival, outgoing } = call;
      const attempt = attempts.begin([addressSubject(arrival.address)]);
      // Checked before the link is used up, and only with a valid link, so that no one else learns which workspaces
      // exist.
      if (body.workspace !== null && (await setUp.readLink(body.token)) !== null) checkWorkspace(body.workspace);
      const person = await setUp.claim(body);
      attempt.succeed([]);
      await parts.note({
        act: 'person.setup',
        actor: { id: person, name: body.name },
        account: 'default',
        subject: { kind: 'person', id: person },
        before: null,
        after: { name: body.name, email: body.email.toLowerCase(), role: 'owner' },
        address: arrival.address,
        atMs: parts.nowMs(),
      });
      await signIn.asNew(arrival, person, outgoing);
      if (body.workspace !== null) await makeWorkspace(body.workspace);
      return viewNewSession(parts, call);
    },
  } satisfies Partial<Handlers>;
}
