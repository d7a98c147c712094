/**
 * Defines the commands for the gateway's address and for one-time links into the console: to set it up, and to set a
 * new password.
 */
import { z } from 'zod';
import { CommandFailure, type ConsoleLinks, type ControlCommand, defineCommand } from './command.ts';

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
    await policies.keep([], [entry]);
    return { link: `${baseUrl}/app/reset/${made.token}`, expires_at };
  },
);

/** Null: no server is running. */
const address = defineCommand(z.strictObject({}), async ({ links }) => ({ base_url: links.served()?.baseUrl ?? null }));

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
  ['server.address', address],
  ['setup.link', setUp],
  ['person.reset_link', reset],
];
