/**
 * Serves the routes about an account's members and invitations: lists, invites, changes and removes them, and creates
 * reset links.
 */

import { ConsoleFailure } from '../../errors/console-failure.ts';
import type { Invitation } from '../../people/members/invitations.ts';
import { type Granter, holds, type Member } from '../../people/members/members.ts';
import { addressSubject } from '../../people/sign-in/attempts.ts';
import { cameByHttps } from '../../people/sign-in/auth-cookies.ts';
import type { ConsoleRoute, Reply } from '../contract/contract.ts';
import { type Tenancy, tenancyOf } from '../kernel/actor.ts';
import type { ConsoleCall, Handlers } from '../kernel/handlers.ts';
import { runCommand } from '../policy/policy-parts.ts';
import { addressOf, type PeopleParts } from './people-parts.ts';
import { viewNewSession } from './sign-in.ts';

type MembersReply = Reply<'GET /accounts/{account}/members'>;

export function memberHandlers(parts: PeopleParts) {
  const { members, invitations, resets, mails, control } = parts;
  const linkOf = (
    { arrival }: Pick<ConsoleCall<ConsoleRoute>, 'arrival'>,
    page: 'invitations' | 'reset',
    token: string,
  ) => `${addressOf(parts, cameByHttps(arrival), arrival.headers.get('host') ?? '')}/app/${page}/${token}`;
  return {
    'GET /accounts/{account}/members': async ({ tenancy }) => ({
      members: (await members.list(tenancy.account, tenancy.workspaces)).map((one) => viewMember(one, tenancy)),
      invitations: (await invitations.list(tenancy.account, tenancy.workspaces)).map((one) =>
        viewInvitation(one, tenancy),
      ),
      sends_email: mails.isOn(),
    }),
    'POST /accounts/{account}/invitations': async (call) => {
      const { email, role, workspaces, send } = call.body;
      const giver = giverOf(call);
      const made = await invitations.create(giver, email, { role, workspaces });
      const link = linkOf(call, 'invitations', made.token);
      const { account } = call.tenancy;
      const sent =
        send === false
          ? null
          : await mails.send(account, made.invitation.email, {
              subject: 'Invitation to a Tollgate account',
              paragraphs: [
                `${shownName(giver)} invites you to the account ${account} with the role ${role}.`,
                'The link works once, for seven days.',
              ],
              link: { label: 'Accept invitation', url: link },
            });
      return { invitation: viewInvitation(made.invitation, call.tenancy), link, sent };
    },
    'DELETE /accounts/{account}/invitations/{invitation}': async (call) => {
      await invitations.withdraw(giverOf(call), call.path.invitation);
      return {};
    },
    'PATCH /accounts/{account}/members/{person}': async (call) =>
      viewMember(await members.change(giverOf(call), call.path.person, call.body), call.tenancy),
    'DELETE /accounts/{account}/members/{person}': async (call) => {
      await members.remove(giverOf(call), call.path.person, ({ account, of }) =>
        runCommand(control, call, 'alerts.removeRecipient', { account, address: of.email }),
      );
      return {};
    },
    'POST /accounts/{account}/members/{person}/reset-link': async (call) => {
      const rightsIn = (account: string) => tenancyOf(call.actor, account);
      const giver = giverOf(call);
      const { token, expiresAtMs } = await resets.makeLink({ ...giver, rightsIn }, call.path.person);
      const link = linkOf(call, 'reset', token);
      const { account } = call.tenancy;
      const of =
        call.body.send === false
          ? undefined
          : (await members.list(account, null)).find(({ person }) => person === call.path.person)?.of;
      const sent =
        of === undefined
          ? null
          : await mails.send(account, of.email, {
              subject: 'Link to a new Tollgate password',
              paragraphs: [
                `${shownName(giver)} of the account ${account} created a link with which you set a new password for ${of.email}.`,
                'The link works once, for one hour. It signs you out everywhere and removes your passkeys.',
              ],
              link: { label: 'Set a new password', url: link },
            });
      return { link, expires_at: new Date(expiresAtMs).toISOString(), sent };
    },
  } satisfies Partial<Handlers>;
}

function giverOf({
  actor,
  tenancy,
  address,
}: Pick<ConsoleCall<ConsoleRoute>, 'actor' | 'tenancy' | 'address'>): Granter {
  if (actor.kind !== 'person')
    throw new ConsoleFailure('forbidden', 'this needs a signed-in user; an API key cannot do it');
  const { id, name, grants: memberships } = actor;
  const { account, workspaces } = tenancy;
  return { id, name, address, account, workspaces, memberships, may: (permission) => tenancy.may(permission) };
}

/** A name must not become the message. */
function shownName({ name }: Pick<Granter, 'name'>): string {
  return name.length > 60 ? `${name.slice(0, 60)}…` : name;
}

/** The workspaces that the caller has too, and whether there are others. */
function viewWorkspaces(theirs: readonly string[] | null, { workspaces: mine }: Pick<Tenancy, 'workspaces'>) {
  const seen = theirs?.filter((workspace) => mine === null || mine.includes(workspace)) ?? null;
  return { workspaces: seen, elsewhere: !holds(mine, theirs) };
}

function viewMember(
  { person, of, role, workspaces, joinedAtMs }: Member,
  tenancy: Tenancy,
): MembersReply['members'][number] {
  return {
    person,
    name: of.name,
    email: of.email,
    email_verified: of.email_verified === 1,
    role,
    ...viewWorkspaces(workspaces, tenancy),
    second_factor: of.second_factor === 1,
    joined_at: new Date(joinedAtMs).toISOString(),
    seen_at: of.seen_at_ms === null ? null : new Date(of.seen_at_ms).toISOString(),
  };
}

function viewInvitation(invitation: Invitation, tenancy: Tenancy): MembersReply['invitations'][number] {
  const { id, email, role, workspaces, invitedBy, expiresAtMs } = invitation;
  return {
    id,
    email,
    role,
    ...viewWorkspaces(workspaces, tenancy),
    invited_by: invitedBy,
    expires_at: new Date(expiresAtMs).toISOString(),
  };
}

const NOTHING = { valid: false, account: null, role: null, email: null, invited_by: null } as const;

export function invitationHandlers(parts: PeopleParts) {
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
  } satisfies Partial<Handlers>;
}

export function resetHandlers({ resets, attempts }: PeopleParts) {
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
  } satisfies Partial<Handlers>;
}
