/**
 * Identifies the actor of a console API request: the person of the session cookie, else the key in `authorization`,
 * else anonymous.
 */
import { authenticate, mayComeFrom } from '../../identity/authorize.ts';

import type { KeyDirectory } from '../../identity/key-directory.ts';
import type { Arrival } from '../../people/sign-in/auth-cookies.ts';
import type { Sessions } from '../../people/sign-in/sessions.ts';
import type { Actor } from './actor.ts';
import { ConsoleFailure } from './console-failure.ts';

interface IdentifyParts {
  readonly sessions: Pick<Sessions, 'find'>;
  readonly directory: KeyDirectory;
  nowMs(): number;
}

/** The returned function throws ConsoleFailure for an invalid key or one that may not be used here. */
export function createIdentify({ sessions, directory, nowMs }: IdentifyParts): (arrival: Arrival) => Promise<Actor> {
  return async (arrival) => {
    const signedIn = await sessions.find(arrival);
    if (signedIn !== null) {
      const { person, session, memberships } = signedIn;
      const { id, name, email } = person;
      return { kind: 'person', id, name, email, sessionId: session.id, grants: memberships };
    }
    const authorization = arrival.headers.get('authorization');
    return authorization === null
      ? { kind: 'anonymous' }
      : identifyKey(directory, authorization, arrival.address, nowMs());
  };
}

function identifyKey(directory: KeyDirectory, authorization: string, address: string | null, atMs: number): Actor {
  const [, keyText] = /^bearer (.+)$/i.exec(authorization.trim()) ?? [];
  const principal = keyText === undefined ? 'malformed' : authenticate(directory, keyText.trim(), atMs);
  if (typeof principal === 'string') {
    throw new ConsoleFailure('wrong_credential', `the API key is not valid (${principal}); expected: Bearer tg_…`, {
      page: '/app/keys',
    });
  }
  if (!mayComeFrom(principal, address)) {
    throw new ConsoleFailure('forbidden', 'this API key cannot be used from your address; see its allowed addresses', {
      page: '/app/keys',
    });
  }
  const { keyId, keyName, accountId, workspaceId, scopes } = principal;
  if (!scopes.includes('usage') && !scopes.includes('admin')) {
    throw new ConsoleFailure('forbidden', 'this API key lacks the scopes usage and admin; it needs one of them', {
      page: '/app/keys',
    });
  }
  return { kind: 'key', id: keyId, name: keyName, account: accountId, workspace: workspaceId, scopes };
}
