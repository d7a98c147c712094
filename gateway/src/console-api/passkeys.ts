/** Owns the routes about passkeys: signing in by one, and those of the own account. */
import type { RelyingParty } from '../people/relying-party.ts';
import { ConsoleFailure } from './console-failure.ts';
import type { ConsoleRoute } from './contract.ts';
import type { ConsoleCall, Handlers } from './handlers.ts';
import { type PeopleParts, partyOf, requireSignedIn } from './people-parts.ts';

export function passkeyHandlers(
  parts: PeopleParts,
): Handlers<
  | 'POST /sign-in/passkey/options'
  | 'POST /sign-in/passkey'
  | 'POST /me/passkeys/options'
  | 'POST /me/passkeys'
  | 'PATCH /me/passkeys/{passkey}'
  | 'DELETE /me/passkeys/{passkey}'
> {
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
  };
}

function requireParty(parts: PeopleParts, call: Pick<ConsoleCall<ConsoleRoute>, 'arrival'>): RelyingParty {
  const party = partyOf(parts, call);
  if (party !== null) return party;
  throw new ConsoleFailure(
    'conflict',
    'found an IP address, expected a host name: passkeys belong to one. Open the console by its name (on this machine: localhost), or set server.public_url',
  );
}
