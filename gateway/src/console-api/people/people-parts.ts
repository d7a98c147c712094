/** Owns what the routes about people work on, and how a signed-in person is asked for. */

import type { Invitations } from '../../people/members/invitations.ts';
import type { Members, PersonNames } from '../../people/members/members.ts';
import type { PasswordResets } from '../../people/members/password-resets.ts';
import type { SetUp } from '../../people/members/set-up.ts';
import type { Passkeys } from '../../people/passkeys/passkeys.ts';
import { type RelyingParty, relyingPartyOf } from '../../people/passkeys/relying-party.ts';
import type { TakeNote } from '../../people/people-failure.ts';
import type { Attempts } from '../../people/sign-in/attempts.ts';
import { cameByHttps } from '../../people/sign-in/auth-cookies.ts';
import type { OidcService } from '../../people/sign-in/auth-engine.ts';
import type { Credentials } from '../../people/sign-in/credentials.ts';
import type { ServiceLinks } from '../../people/sign-in/oidc-links.ts';
import type { Sessions, SignedIn } from '../../people/sign-in/sessions.ts';
import type { SignIn } from '../../people/sign-in/sign-in.ts';
import type { PeopleStore } from '../../store/ports/people.ts';
import type { ConsoleRoute } from '../contract/contract.ts';
import { ConsoleFailure } from '../kernel/console-failure.ts';
import type { ConsoleCall } from '../kernel/handlers.ts';

export interface PeopleParts {
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
  readonly attempts: Attempts;
  /** For whoever shows what somebody made or did. */
  readonly personNames: PersonNames;
  readonly note: TakeNote;
  /** The services that people may sign in by. */
  services(): readonly OidcService[];
  /** What people reach the gateway at, without a slash at the end; null where the configuration does not say. */
  publicUrl(): string | null;
  /** Every account of the installation, by its id. */
  readonly accounts: ReadonlyMap<string, { readonly name: string; readonly timeZone: string }>;
  readonly version: string;
  /** What there is to call, for whoever sets the console up. */
  describeGateway(): { readonly providers: readonly { name: string; kind: string }[]; readonly model: string };
  /** @throws ConsoleFailure `invalid` where another account has a workspace of this id. */
  checkWorkspace(id: string): void;
  /** Makes a workspace of the account `default`, where there is none of this id. @throws ConsoleFailure `invalid` */
  makeWorkspace(id: string): Promise<void>;
  nowMs(): number;
}

/** The session behind a call of a route for people. */
export async function requireSignedIn(
  { sessions }: Pick<PeopleParts, 'sessions'>,
  { arrival }: Pick<ConsoleCall<ConsoleRoute>, 'arrival'>,
): Promise<SignedIn> {
  const signedIn = await sessions.find(arrival);
  if (signedIn === null) throw new ConsoleFailure('signed_out', 'sign in first', { page: '/app/sign-in' });
  return signedIn;
}

/** What people reach the gateway at: as configured, else as this request did. */
export function addressOf({ publicUrl }: Pick<PeopleParts, 'publicUrl'>, isHttps: boolean, host: string): string {
  return publicUrl() ?? `${isHttps ? 'https' : 'http'}://${host}`;
}

/** For whom passkeys are made and asked at the address that a request came by; null: there can be none there. */
export function partyOf(
  parts: Pick<PeopleParts, 'publicUrl'>,
  { arrival }: Pick<ConsoleCall<ConsoleRoute>, 'arrival'>,
): RelyingParty | null {
  return relyingPartyOf(addressOf(parts, cameByHttps(arrival), arrival.headers.get('host') ?? ''));
}
