/**
 * Serves the routes for a user's own account: name, password, second factor, sessions, services and passkeys. Also
 * serves passkey sign-in.
 */

import { timeZone } from '../../control/arguments.ts';
import { ConsoleFailure } from '../../errors/console-failure.ts';
import type { RelyingParty } from '../../people/passkeys/relying-party.ts';
import type { ConsoleRoute } from '../contract/contract.ts';
import type { ConsoleCall, Handlers } from '../kernel/handlers.ts';
import { type PeopleParts, partyOf, requireSignedIn } from './people-parts.ts';
import { viewPerson } from './sign-in.ts';

export function meHandlers(parts: PeopleParts) {
  const { people, sessions, credentials, passkeys, serviceLinks, note, nowMs } = parts;
  return {
    'GET /me': async (call) => {
      const signedIn = await requireSignedIn(parts, call);
      const { person, session } = signedIn;
      const methods = await people.find('sign_in_method', { where: [['person', 'is', person.id]] });
      const living = await sessions.list(person.id);
      const held = await passkeys.list(person.id);
      const services = await serviceLinks.list(person.id);
      return {
        person: viewPerson(signedIn),
        email_verified: person.email_verified === 1,
        services: services.map(({ id, name, isLinked }) => ({ id, name, linked: isLinked })),
        has_password: methods.some(({ password_hash }) => password_hash !== null),
        totp: person.second_factor === 1,
        passkeys: held.map(({ id, name, created_at_ms, used_at_ms }) => ({
          id,
          name,
          added_at: new Date(created_at_ms).toISOString(),
          used_at: used_at_ms === null ? null : new Date(used_at_ms).toISOString(),
        })),
        sessions: living.map(({ id, address, client, seen_at_ms, expires_at_ms }) => ({
          id,
          this: id === session.id,
          address: address || null,
          client: client || null,
          seen_at: new Date(seen_at_ms).toISOString(),
          expires_at: new Date(expires_at_ms).toISOString(),
        })),
      };
    },
    'PATCH /me': async (call) => {
      const { person } = await requireSignedIn(parts, call);
      const { id, name } = person;
      const { name: given = name, time_zone } = call.body;
      const update = { name: given, time_zone: readZone(time_zone, person.time_zone), updated_at_ms: nowMs() };
      await people.save([{ of: 'person', update, where: [['id', 'is', id]], rows: 1 }]);
      if (given === name) return {};
      await note({
        act: 'person.rename',
        actor: { id, name },
        account: null,
        subject: { kind: 'person', id },
        before: { name },
        after: { name: given },
        address: call.address,
        atMs: nowMs(),
      });
      return {};
    },
    'POST /me/password': async (call) => {
      const signedIn = await requireSignedIn(parts, call);
      await credentials.changePassword({ signedIn, arrival: call.arrival }, call.body, call.outgoing);
      return {};
    },
    'DELETE /me/sessions/{session}': async (call) => {
      const { person } = await requireSignedIn(parts, call);
      const { id, name } = person;
      if (!(await sessions.end(id, call.path.session))) {
        throw new ConsoleFailure('not_found', 'you have no such session; it may have expired', { page: '/app/me' });
      }
      await note({
        act: 'person.session_end',
        actor: { id, name },
        account: null,
        subject: { kind: 'session', id: call.path.session },
        before: null,
        after: null,
        address: call.address,
        atMs: nowMs(),
      });
      return {};
    },
    'POST /me/services': async (call) => {
      const signedIn = await requireSignedIn(parts, call);
      const { arrival, body, outgoing } = call;
      return { url: await serviceLinks.start({ signedIn, arrival }, body.provider, body.password, outgoing) };
    },
    'DELETE /me/services/{service}': async (call) => {
      const signedIn = await requireSignedIn(parts, call);
      await serviceLinks.remove({ signedIn, arrival: call.arrival }, call.path.service, partyOf(parts, call));
      return {};
    },
    'POST /me/totp': async (call) => {
      const signedIn = await requireSignedIn(parts, call);
      const made = await credentials.beginSecondFactor({ signedIn, arrival: call.arrival }, call.body.password);
      return { uri: made.uri, secret: made.secret, recovery_codes: [...made.recoveryCodes] };
    },
    'POST /me/totp/confirm': async (call) => {
      const signedIn = await requireSignedIn(parts, call);
      await credentials.confirmSecondFactor({ signedIn, arrival: call.arrival }, call.body.code, call.outgoing);
      return {};
    },
    'POST /me/totp/remove': async (call) => {
      const signedIn = await requireSignedIn(parts, call);
      await credentials.removeSecondFactor({ signedIn, arrival: call.arrival }, call.body.password, call.outgoing);
      return {};
    },
  } satisfies Partial<Handlers>;
}

export function passkeyHandlers(parts: PeopleParts) {
  const { signIn, passkeys } = parts;
  return {
    'POST /sign-in/passkey/options': async (call) =>
      signIn.startPasskey(call.arrival, requireParty(parts, call), call.outgoing),
    'POST /sign-in/passkey': async (call) => ({
      state: await signIn.byPasskey(call.arrival, requireParty(parts, call), call.body.response, call.outgoing),
    }),
    'POST /me/passkeys/options': async (call) => {
      const who = { signedIn: await requireSignedIn(parts, call), arrival: call.arrival };
      return passkeys.begin(who, call.body.password, requireParty(parts, call), call.outgoing);
    },
    'POST /me/passkeys': async (call) => {
      const who = { signedIn: await requireSignedIn(parts, call), arrival: call.arrival };
      await passkeys.add(who, call.body, requireParty(parts, call), call.outgoing);
      return {};
    },
    'PATCH /me/passkeys/{passkey}': async (call) => {
      const who = { signedIn: await requireSignedIn(parts, call), arrival: call.arrival };
      await passkeys.rename(who, call.path.passkey, call.body.name);
      return {};
    },
    'DELETE /me/passkeys/{passkey}': async (call) => {
      const who = { signedIn: await requireSignedIn(parts, call), arrival: call.arrival };
      await passkeys.remove(who, call.path.passkey, partyOf(parts, call));
      return {};
    },
  } satisfies Partial<Handlers>;
}

/** Undefined: it stays as it is. @throws ConsoleFailure for an unknown zone */
function readZone(given: string | null | undefined, before: string | null): string | null {
  if (given === undefined) return before;
  if (given === null || given === 'browser') return given;
  const zone = timeZone.safeParse(given);
  if (zone.success) return zone.data;
  throw new ConsoleFailure('invalid', `time_zone: ${zone.error.issues[0]?.message}, or browser`, {
    member: 'time_zone',
  });
}

function requireParty(parts: PeopleParts, call: Pick<ConsoleCall<ConsoleRoute>, 'arrival'>): RelyingParty {
  const party = partyOf(parts, call);
  if (party !== null) return party;
  throw new ConsoleFailure(
    'conflict',
    'found an IP address, expected a host name: passkeys need one. Open the console by its name (on this machine: localhost), or set server.public_url',
  );
}
