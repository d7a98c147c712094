/**
 * Defines the dependencies of the routes about people, and helpers for the signed-in person and the gateway's address.
 */

import type { Control } from '../../control/control.ts';
import { ConsoleFailure } from '../../errors/console-failure.ts';
import type { Invitations } from '../../people/members/invitations.ts';
import type { Members, PersonNames } from '../../people/members/members.ts';
import type { PasswordResets } from '../../people/members/password-resets.ts';
import type { SetUp } from '../../people/members/set-up.ts';
import type { Passkeys } from '../../people/passkeys/passkeys.ts';
import { type RelyingParty, relyingPartyOf } from '../../people/passkeys/relying-party.ts';
import type { RecordEvent } from '../../people/people-event.ts';
import type { Attempts } from '../../people/sign-in/attempts.ts';
import { cameByHttps } from '../../people/sign-in/auth-cookies.ts';
import type { OidcService } from '../../people/sign-in/auth-engine.ts';
import type { Credentials } from '../../people/sign-in/credentials.ts';
import type { ServiceLinks } from '../../people/sign-in/oidc-links.ts';
import type { Sessions, SignedIn } from '../../people/sign-in/sessions.ts';
import type { SignIn } from '../../people/sign-in/sign-in.ts';
import type { PeopleStore } from '../../store/ports/people.ts';
import type { ConsoleRoute } from '../contract/contract.ts';
import type { ConsoleCall } from '../kernel/handlers.ts';
import type { LinkMails } from './link-mails.ts';

export interface PeopleParts {
  readonly control: Control;
  readonly people: PeopleStore;
  readonly sessions: Sessions;
  readonly signIn: SignIn;
  readonly credentials: Credentials;
  readonly passkeys: Passkeys;
  readonly serviceLinks: ServiceLinks;
  readonly setUp: SetUp;
  readonly members: Members;
  readonly invitations: Invitations;
  readonly resets: PasswordResets;
  readonly mails: LinkMails;
  readonly attempts: Attempts;
  /** Looks up the names of people who created or changed something. */
  readonly personNames: PersonNames;
  readonly note: RecordEvent;
  /** The services that users may sign in with. */
  services(): readonly OidcService[];
  /** The gateway's public address, without a trailing slash; null where the configuration has none. */
  publicUrl(): string | null;
  /** All accounts of the installation, by id. */
  readonly accounts: ReadonlyMap<string, { readonly name: string; readonly timeZone: string }>;
  readonly version: string;
  /** The providers and a model to call, shown during set-up. */
  describeGateway(): { readonly providers: readonly { name: string; kind: string }[]; readonly model: string };
  /** @throws ConsoleFailure `invalid` where another account has a workspace of this id. */
  checkWorkspace(id: string): void;
  /** Creates a workspace in the account `default`, if none has this id. @throws ConsoleFailure `invalid` */
  makeWorkspace(id: string): Promise<void>;
  nowMs(): number;
}

/** The session of a request. @throws ConsoleFailure `signed_out` */
export async function requireSignedIn(
  { sessions }: Pick<PeopleParts, 'sessions'>,
  { arrival }: Pick<ConsoleCall<ConsoleRoute>, 'arrival'>,
): Promise<SignedIn> {
  const signedIn = await sessions.find(arrival);
  if (signedIn === null) throw new ConsoleFailure('signed_out', 'sign in first', { page: '/app/sign-in' });
  return signedIn;
}

/** The gateway's address: the configured one, else that of the request. */
export function addressOf({ publicUrl }: Pick<PeopleParts, 'publicUrl'>, isHttps: boolean, host: string): string {
  return publicUrl() ?? `${isHttps ? 'https' : 'http'}://${host}`;
}

/** The relying party for passkeys at the address of a request; null: the address does not support passkeys. */
export function partyOf(
  parts: Pick<PeopleParts, 'publicUrl'>,
  { arrival }: Pick<ConsoleCall<ConsoleRoute>, 'arrival'>,
): RelyingParty | null {
  return relyingPartyOf(addressOf(parts, cameByHttps(arrival), arrival.headers.get('host') ?? ''));
}
