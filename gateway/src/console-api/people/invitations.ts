/** Serves the routes of one-time links: shows and accepts invitations, and resets passwords. */
import { addressSubject } from '../../people/sign-in/attempts.ts';
import { ConsoleFailure } from '../kernel/console-failure.ts';
import type { Handlers } from '../kernel/handlers.ts';
import type { PeopleParts } from './people-parts.ts';
import { viewNewSession } from './sign-in.ts';

const NOTHING = { valid: false, account: null, role: null, email: null, invited_by: null } as const;

export function invitationHandlers(
  parts: PeopleParts,
): Handlers<'GET /invitations/{token}' | 'POST /invitations/{token}'> {
  const { invitations, sessions, signIn, attempts } = parts;
  return {
    'GET /invitations/{token}': async ({ path, arrival }) => {
      const attempt = attempts.begin([addressSubject(arrival.address)]);
      const found = await invitations.look(path.token);
      if (found === null) return NOTHING;
      attempt.succeed([]);
      const { account, role, email, invitedBy } = found;
      return { valid: true, account, role, email, invited_by: invitedBy };
    },
    'POST /invitations/{token}': async (call) => {
      const { arrival, address, path, body, outgoing } = call;
      const attempt = attempts.begin([addressSubject(address)]);
      const signedIn = await sessions.find(arrival);
      if (signedIn !== null) {
        await invitations.acceptAs(signedIn, path.token, address);
        attempt.succeed([]);
        await sessions.rotate(signedIn, arrival, outgoing);
        return viewNewSession(parts, call);
      }
      const { name, password } = body;
      if (name === null || password === null) {
        const member = name === null ? 'name' : 'password';
        throw new ConsoleFailure('invalid', `${member}: found null, which only signed-in users can send; enter one`, {
          member,
        });
      }
      const person = await invitations.acceptNew(path.token, { name, password }, address);
      attempt.succeed([]);
      await signIn.asNew(arrival, person, outgoing);
      return viewNewSession(parts, call);
    },
  };
}

export function resetHandlers({
  resets,
  attempts,
}: PeopleParts): Handlers<'GET /resets/{token}' | 'POST /resets/{token}'> {
  return {
    'GET /resets/{token}': async ({ path, address }) => {
      const attempt = attempts.begin([addressSubject(address)]);
      const found = await resets.look(path.token);
      if (found === null) return { valid: false, email: null, expires_at: null };
      attempt.succeed([]);
      return { valid: true, email: found.email, expires_at: new Date(found.expiresAtMs).toISOString() };
    },
    'POST /resets/{token}': async ({ path, body, address }) => {
      const attempt = attempts.begin([addressSubject(address)]);
      await resets.reset(path.token, body.password, address);
      attempt.succeed([]);
      return {};
    },
  };
}
