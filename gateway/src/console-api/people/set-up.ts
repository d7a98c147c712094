/** Serves the first-run routes: checks the set-up link, and creates the first person with it. */
import { addressSubject } from '../../people/sign-in/attempts.ts';
import type { Handlers } from '../kernel/handlers.ts';
import type { PeopleParts } from './people-parts.ts';
import { viewNewSession } from './sign-in.ts';

export function setUpHandlers(parts: PeopleParts): Handlers<'GET /setup/{token}' | 'POST /setup'> {
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
  };
}
