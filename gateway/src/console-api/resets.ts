/** Owns the routes of whoever forgot his password and was handed a link: whose it is, and setting the new one. */
import { addressSubject } from '../people/attempts.ts';
import type { Handlers } from './handlers.ts';
import type { PeopleParts } from './people-parts.ts';

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
