/** Checks a passkey sign-in: whose passkey it is, and that its signature is fresh. Does not create a session. */
import type { PasskeyRow, PeopleStore } from '../../store/ports/people.ts';
import type { Arrival } from '../sign-in/auth-cookies.ts';
import { loadPasskeyCheck } from './load-passkey-check.ts';
import type { PasskeyChallenges } from './passkey-challenges.ts';
import { renderSignOptions, type SignedByPasskey } from './passkey-challenges.ts';
import type { RelyingParty } from './relying-party.ts';

export interface PasskeyProof {
  /** The options for signing with any passkey of this host. */
  ask(party: RelyingParty, arrival: Arrival, outgoing: Headers): SignOptions;
  /** The passkey that claims to have signed; null: unknown. */
  find(given: SignedByPasskey): Promise<PasskeyRow | null>;
  /** Whether the passkey signed the current challenge, which this uses up. @throws ConsoleFailure `too_many` */
  isRight(passkey: PasskeyRow | null, given: SignedByPasskey, party: RelyingParty, arrival: Arrival): Promise<boolean>;
}

export type SignOptions = ReturnType<typeof renderSignOptions>;

interface ProofParts {
  readonly people: PeopleStore;
  readonly challenges: PasskeyChallenges;
  /** Reports to the operator why a passkey was refused. Contains no secret. */
  onRejected(cause: string): void;
  nowMs(): number;
}

const PURPOSE = 'sign in';

export function createPasskeyProof({ people, challenges, onRejected, nowMs }: ProofParts): PasskeyProof {
  return {
    ask: (party, arrival, outgoing) => renderSignOptions(party, challenges.ask(PURPOSE, arrival, outgoing)),
    async find({ id }) {
      const [passkey] = await people.find('passkey', { where: [['credential', 'is', id]] });
      return passkey ?? null;
    },
    async isRight(passkey, given, party, arrival) {
      const challenge = challenges.take(PURPOSE, arrival);
      if (passkey === null || challenge === null) return false;
      const { checkSigned } = await loadPasskeyCheck();
      const counter = await checkSigned(given, passkey, { challenge, party }).catch((cause: Error) => {
        onRejected(`the passkey ${passkey.id} of ${passkey.person}: ${cause.message.slice(0, 300)}`);
        return null;
      });
      if (counter === null) return false;
      // If the passkey was removed or used meanwhile, this changes no row.
      const where = [
        ['id', 'is', passkey.id],
        ['counter', 'is', passkey.counter],
      ] as const;
      return people.save([{ of: 'passkey', update: { counter, used_at_ms: nowMs() }, where, rows: 1 }]);
    },
  };
}
