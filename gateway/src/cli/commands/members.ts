/** Defines `tollgate members verify`: marks the email address of a user as verified. */
import type { Command } from 'commander';
import { z } from 'zod';
import { administer } from '../administer.ts';
import { type CliEnvironment, renderJsonLine } from '../environment.ts';

const verifiedView = z.object({
  person: z.string(),
  name: z.string(),
  account: z.string().nullable(),
  created_at: z.string(),
  has_password: z.boolean(),
  passkeys: z.number(),
  sessions: z.number(),
  restored: z.array(z.string()),
});

interface Flags {
  readonly account?: string;
  readonly json?: true;
}

/** Adds `members` and its command to the program. */
export function register(program: Command, environment: CliEnvironment): void {
  program
    .command('members')
    .description('verify the email addresses of members')
    .command('verify')
    .description('mark an email address as verified, so that its user can join other accounts')
    .argument('<email>', 'email address that the user signs in with')
    .option('--account <id>', 'account whose invitation created the user, if several users have the address')
    .option('--json', 'print JSON')
    .action(async (email: string, flags: Flags) => {
      const given = { email, account: flags.account ?? null };
      const user = verifiedView.parse(await administer(environment, 'person.verify', given));
      environment.stdout(flags.json === true ? renderJsonLine(user) : renderUser(email, user));
    });
}

function renderUser(email: string, user: z.output<typeof verifiedView>): string {
  const ways = [
    ...(user.has_password ? ['a password'] : []),
    ...(user.passkeys > 0 ? [`${user.passkeys} passkeys`] : []),
    ...(user.sessions > 0 ? [`${user.sessions} sessions`] : []),
  ];
  const account = user.account === null ? 'no account' : `the account ${user.account}`;
  const restored = user.restored.length === 0 ? '' : `Restored memberships: ${user.restored.join(', ')}.\n`;
  return `The address ${email} is verified. Its user is ${user.name} (${user.person}), created ${user.created_at} by an invitation of ${account}.\n${restored}These sign-in methods keep working: ${ways.length === 0 ? 'none' : ways.join(', ')}. If someone other than the owner of the address may have set them: tollgate reset-password ${email}\n`;
}
