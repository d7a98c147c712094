/**
 * Protects the last sign-in method: refuses to remove a passkey or service without which the user could not sign in.
 */

import { ConsoleFailure } from '../../errors/console-failure.ts';
import type { PeopleStore } from '../../store/ports/people.ts';
import type { RelyingParty } from '../passkeys/relying-party.ts';
import { createTurns } from '../sign-in/passwords.ts';

export interface SignInMethods {
  /** @throws ConsoleFailure `conflict` where only the named passkey or service can sign the user in at this address */
  requireAnother(person: string, leaving: RemovedMethod, party: RelyingParty | null): Promise<void>;
  /** Runs removals one at a time, so that the second of two sees the result of the first. */
  oneByOne<Outcome>(work: () => Promise<Outcome>): Promise<Outcome>;
}

/** The id of a passkey or of a service. */
export type RemovedMethod = { readonly passkey: string } | { readonly service: string };

interface WaysInParts {
  readonly people: Pick<PeopleStore, 'find'>;
  /** The services that users may sign in with. */
  services(): readonly { readonly id: string }[];
}

export function createSignInMethods({ people, services }: WaysInParts): SignInMethods {
  return {
    oneByOne: createTurns(1, 64),
    async requireAnother(person, leaving, party) {
      const where = [['person', 'is', person]] as const;
      const passkeys = await people.find('passkey', { where });
      const isLeft = (id: string) => !('passkey' in leaving && leaving.passkey === id);
      if (passkeys.some(({ id, relying_party }) => isLeft(id) && relying_party === party?.id)) return;
      const methods = await people.find('sign_in_method', { where });
      const works = (provider: string) =>
        !('service' in leaving && leaving.service === provider) && services().some(({ id }) => id === provider);
      if (methods.some(({ provider, password_hash }) => password_hash !== null || works(provider))) return;
      throw new ConsoleFailure(
        'conflict',
        `this ${'passkey' in leaving ? 'passkey' : 'service'} is your only sign-in method: you have no password, no other service and no other passkey for this address; add a passkey first`,
        { page: '/app/me' },
      );
    },
  };
}
