/** Defines the commands for users of the console and for their one-time links. */
import { z } from 'zod';
import { CommandFailure, type ConsoleLinks, type ControlCommand, defineCommand } from './command.ts';

const verify = defineCommand(
  z.strictObject({ email: z.string().max(254), account: z.string().max(128).nullable().default(null) }),
  async ({ users, policies, act, by, nowMs }, { email, account }) => {
    const found = JSON.stringify(email);
    const outcome = await users.verifyEmail(email, account).catch((fault: Error) => {
      if ('kind' in fault && fault.kind === 'invalid') throw new CommandFailure(fault.message, 'usage');
      throw fault;
    });
    if (outcome.kind === 'unknown') {
      const where = account === null ? '' : ` in the account ${JSON.stringify(account)}`;
      throw new CommandFailure(`No user has the address ${found}${where}. The page /app/members lists the addresses.`);
    }
    if (outcome.kind === 'verified') {
      throw new CommandFailure(
        `The address ${found} is already verified for the user ${outcome.person}. An address has one verified user.`,
      );
    }
    if (outcome.kind === 'several') {
      throw new CommandFailure(
        `Several users have the address ${found}, in the accounts ${outcome.accounts.join(', ')}. Choose the one that its owner uses: --account ${outcome.accounts[0]}`,
      );
    }
    const { person, email: address, restored, ...user } = outcome.user;
    const subject = { kind: 'person', id: person };
    const entry = { atMs: nowMs(), workspace: null, by, subject, before: null };
    // Changes to a user in all accounts go to the audit trail of the installation's account.
    await policies.save(
      [],
      [
        { ...entry, account: 'default', act, after: { email: address, account: user.account } },
        ...restored.map((of) => ({ ...entry, account: of, act: 'member.restore', after: { email: address } })),
      ],
    );
    return {
      person,
      name: user.name,
      account: user.account,
      created_at: new Date(user.createdAtMs).toISOString(),
      has_password: user.hasPassword,
      passkeys: user.passkeyCount,
      sessions: user.sessionCount,
      restored,
    };
  },
);

export const USER_COMMANDS: readonly (readonly [name: string, command: ControlCommand])[] = [['person.verify', verify]];

/** If no server runs: the settings of its configuration. */
const place = { console: z.boolean(), base_url: z.string().max(2_048) };

const setUp = defineCommand(z.strictObject(place), async ({ links }, given) => {
  const baseUrl = requireConsole(links, given);
  const made = await links.makeSetUp();
  if (made === null) {
    throw new CommandFailure(
      'The console is already set up. Sign in, or ask an owner or admin to invite you at /app/members. If you forgot your password: tollgate reset-password EMAIL',
    );
  }
  return { link: `${baseUrl}/app/setup?token=${made.token}`, expires_at: new Date(made.expiresAtMs).toISOString() };
});

const reset = defineCommand(
  z.strictObject({
    ...place,
    email: z.string().max(254),
    account: z.string().max(128).nullable().default(null),
    without_second_factor: z.boolean().default(false),
  }),
  async ({ links, policies, act, by, nowMs }, given) => {
    const baseUrl = requireConsole(links, given);
    const found = await links.makeReset(given.email, given.account, given.without_second_factor);
    if (found.kind === 'several') {
      throw new CommandFailure(
        `Several users have the address ${JSON.stringify(given.email)}, in the accounts ${found.accounts.join(', ')}. Choose one: --account ${found.accounts[0]}`,
      );
    }
    if (found.kind === 'unknown') {
      const where = given.account === null ? '' : ` in the account ${JSON.stringify(given.account)}`;
      throw new CommandFailure(
        `No user has the address ${JSON.stringify(given.email)}${where}. The page /app/members lists the addresses. If the console is not set up yet: tollgate setup-link`,
      );
    }
    const made = found.link;
    const expires_at = new Date(made.expiresAtMs).toISOString();
    const after = { expires_at, ...(given.without_second_factor ? { second_factor: 'off' } : {}) };
    const subject = { kind: 'person', id: made.person };
    // Changes to a user in all accounts go to the audit trail of the installation.
    const entry = { atMs: nowMs(), account: 'default', workspace: null, by, act, subject, before: null, after };
    // The entry is stored before anyone gets the link.
    await policies.save([], [entry]);
    return { link: `${baseUrl}/app/reset/${made.token}`, expires_at };
  },
);

/** Null: no server is running. */
const address = defineCommand(z.strictObject({}), async ({ links }) => {
  const served = links.served();
  return { base_url: served?.baseUrl ?? null, local_url: served?.localUrl ?? null };
});

/** The prefix of links. @throws CommandFailure if the console is not served. */
function requireConsole(
  { served }: ConsoleLinks,
  given: { readonly console: boolean; readonly base_url: string },
): string {
  const { console: isServed, baseUrl } = served() ?? { console: given.console, baseUrl: given.base_url };
  if (isServed) return baseUrl;
  throw new CommandFailure('The console is off (server.console). Turn it on, then run this command again.');
}

export const LINK_COMMANDS: readonly (readonly [name: string, command: ControlCommand])[] = [
  ['setup.link', setUp],
  ['person.reset_link', reset],
];

/** It needs no data, so that a server that is busy with them answers health checks too. */
export const ADDRESS_COMMANDS: readonly (readonly [name: string, command: ControlCommand])[] = [
  ['server.address', address],
];
