/**
 * Assembles the user features: the store, the sign-in library, and the code that applies changes to sessions and keys.
 */
import manifest from '../../package.json';
import type { Config } from '../config/config.ts';
import type { ModelEvent } from '../console-api/models/model-deps.ts';
import { createLinkMails } from '../console-api/people/link-mails.ts';
import type { PeopleParts } from '../console-api/people/people-parts.ts';
import { FROM_COMMAND_LINE } from '../control/command.ts';
import type { Control } from '../control/control.ts';
import { ConsoleFailure } from '../errors/console-failure.ts';
import type { KeyDirectory } from '../identity/key-directory.ts';
import type { Secret } from '../lib/secret.ts';
import { createMailer, type SendMail } from '../mail/mailer.ts';
import { createInvitations } from '../people/members/invitations.ts';
import { createMembers, createPersonNames } from '../people/members/members.ts';
import { createPasswordResets, createResetLinks } from '../people/members/password-resets.ts';
import type { SetUp } from '../people/members/set-up.ts';
import { createSignInMethods } from '../people/members/sign-in-methods.ts';
import { createPasskeyChallenges } from '../people/passkeys/passkey-challenges.ts';
import { createPasskeyProof } from '../people/passkeys/passkey-proof.ts';
import { createPasskeys } from '../people/passkeys/passkeys.ts';
import type { PeopleEvent, RecordEvent } from '../people/people-event.ts';
import { OPERATOR_ACCOUNT } from '../people/roles.ts';
import { createAttempts } from '../people/sign-in/attempts.ts';
import { createAuthEngines, deriveAuthSecret } from '../people/sign-in/auth-engines.ts';
import { createCredentials, createFreshProof, createSpentCodes } from '../people/sign-in/credentials.ts';
import { createServiceLinks } from '../people/sign-in/oidc-links.ts';
import { createFindByPassword, hashPassword, isPassword } from '../people/sign-in/passwords.ts';
import { createSessions } from '../people/sign-in/sessions.ts';
import { createSignIn } from '../people/sign-in/sign-in.ts';
import type { NewAuditEntry } from '../store/ports/audit.ts';
import type { ChangeFeed } from '../store/ports/change-feed.ts';
import type { PeopleStore } from '../store/ports/people.ts';
import type { Log } from '../telemetry/log.ts';

/** A user waits in the console until the email is sent. */
const LINK_MAIL_MS = 8_000;

interface OpenPeopleParts {
  readonly people: PeopleStore;
  readonly changes: ChangeFeed;
  readonly setUp: SetUp;
  readonly directory: KeyDirectory;
  readonly control: Control;
  readonly masterKey: Secret;
  readonly log: Log;
  readonly note: RecordEvent;
  config(): Config;
  suggestModel(): string | null;
  nowMs(): number;
  /** Like `nowMs`, but unaffected by changes of the system clock, which would lengthen or end a wait. */
  steadyNowMs(): number;
  /** Delays a refused sign-in, to hide timing differences. */
  readonly pause?: (ms: number) => Promise<void>;
  /** Default: the configured mail server. */
  readonly sendMail?: SendMail;
}

/** The dependencies of the routes about people, in a running gateway. */
export function openPeople(parts: OpenPeopleParts): PeopleParts {
  const { people, changes, setUp, directory, control, masterKey, log, note, config, nowMs } = parts;
  const secret = deriveAuthSecret(masterKey);
  const onFault = (cause: unknown) =>
    log.error({ cause: String(cause) }, 'the last-seen time of a user could not be stored');
  const onRejected = (cause: string) => log.warn({ cause }, 'sign-in rejected');
  const services = () => config().server.oidc;
  const attempts = createAttempts(parts.steadyNowMs);
  const sessions = createSessions({ people, secret, nowMs, onFault });
  changes.subscribe(sessions.follower);
  const publicUrl = () => config().server.publicUrl;
  const { sendMail = createMailer(() => config().server, { timeoutMs: LINK_MAIL_MS }) } = parts;
  const engines = createAuthEngines({ people, secret, services, publicUrl, nowMs, onRejected });
  const challenges = createPasskeyChallenges(nowMs);
  const passkeyProof = createPasskeyProof({ people, challenges, onRejected, nowMs });
  const proveFresh = createFreshProof({ people, attempts, nowMs });
  const spentCodes = createSpentCodes(nowMs);
  const waysIn = createSignInMethods({ people, services });
  const serviceLinks = createServiceLinks({ people, engines, sessions, proveFresh, waysIn, services, note, nowMs });
  const findByPassword = createFindByPassword({
    people,
    isPassword,
    hashPassword,
    pause: parts.pause ?? Bun.sleep,
    steadyMs: () => performance.now(),
  });
  const shared = {
    people,
    note,
    nowMs,
    workspacesOf: (account: string) =>
      [...directory.workspaces.values()].filter(({ accountId }) => accountId === account).map(({ id }) => id),
  };
  return {
    control,
    people,
    sessions,
    attempts,
    personNames: createPersonNames(people),
    setUp,
    note,
    services,
    publicUrl,
    nowMs,
    accounts: directory.accounts,
    version: manifest.version,
    signIn: createSignIn({
      people,
      engines,
      sessions,
      attempts,
      spentCodes,
      passkeyProof,
      findByPassword,
      serviceLinks,
      note,
      nowMs,
    }),
    serviceLinks,
    credentials: createCredentials({ people, engines, attempts, spentCodes, note, nowMs }),
    passkeys: createPasskeys({ people, sessions, challenges, proveFresh, waysIn, note, nowMs }),
    members: createMembers(shared),
    invitations: createInvitations(shared),
    resets: createPasswordResets({ ...shared, links: createResetLinks(people, nowMs) }),
    mails: createLinkMails({ sendMail, isOn: () => config().server.smtp !== null, nowMs }),
    describeGateway: () => ({
      providers: [...config().providers.values()].map(({ name, kind }) => ({ name, kind: kind.name })),
      model: parts.suggestModel() ?? '',
    }),
    checkWorkspace(id) {
      if ((directory.workspaces.get(id)?.accountId ?? OPERATOR_ACCOUNT) === OPERATOR_ACCOUNT) return;
      throw new ConsoleFailure('invalid', `workspace: ${id} belongs to another account; choose another name`, {
        member: 'workspace',
      });
    },
    async makeWorkspace(id) {
      if (directory.workspaces.get(id)?.accountId === OPERATOR_ACCOUNT) return;
      const reply = await control.run('workspaces.create', { id, account: OPERATOR_ACCOUNT }, FROM_COMMAND_LINE);
      if (!reply.ok) throw new ConsoleFailure('invalid', `workspace: ${reply.message}`, { member: 'workspace' });
    },
  };
}

/** Notes without an account go to the audit trail of the installation. */
export function auditEntryOf({
  act,
  actor,
  account,
  subject,
  before,
  after,
  address,
  atMs,
}: PeopleEvent): NewAuditEntry {
  return {
    atMs,
    account: account ?? OPERATOR_ACCOUNT,
    workspace: null,
    by: { actor: actor === null ? { kind: 'anonymous', id: '', name: '' } : { kind: 'person', ...actor }, address },
    act,
    subject,
    before,
    after,
  };
}

/** Providers and prices belong to the installation. */
export function modelAuditEntryOf(
  { act, actor, subject, before, after, address }: ModelEvent,
  atMs: number,
): NewAuditEntry {
  const by =
    actor.kind === 'anonymous'
      ? { kind: actor.kind, id: '', name: '' }
      : { kind: actor.kind, id: actor.id, name: actor.name };
  return {
    atMs,
    account: OPERATOR_ACCOUNT,
    workspace: null,
    by: { actor: by, address },
    act,
    subject: { kind: act === 'prices.set' ? 'model' : 'provider', id: subject },
    before,
    after,
  };
}
