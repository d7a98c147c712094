/** Defines the commands for users of the console. */
import { z } from 'zod';
import { CommandFailure, type ControlCommand, defineCommand } from './command.ts';

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
    await policies.keep(
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
