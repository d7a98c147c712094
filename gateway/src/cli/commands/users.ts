/** Defines the commands for users of the console: `setup-link`, `reset-password` and `members verify`. */
import type { Command } from 'commander';
import { z } from 'zod';
import { renderConfigProblem } from '../../config/file/config-problem.ts';
import { type ConfigSource, loadConfig } from '../../config/load-config.ts';
import { administer } from '../administer.ts';
import { type CliEnvironment, CliFailure, renderJsonLine } from '../environment.ts';

const linkView = z.object({ link: z.string(), expires_at: z.string() });

/** Adds the commands to the program. `source` provides the file and the variables. */
export function register(
  program: Command,
  environment: CliEnvironment,
  source: Place = { environment: process.env, cwd: process.cwd() },
): void {
  registerSetupLink(program, environment, source);
  registerResetPassword(program, environment, source);
  registerMembers(program, environment);
}

type Place = Omit<ConfigSource, 'file'>;

function registerSetupLink(program: Command, environment: CliEnvironment, source: Place): void {
  program
    .command('setup-link')
    .description('print a new one-time setup link for a console that is not set up yet')
    .option('--config <file>', 'the configuration file (default: TOLLGATE_CONFIG, else tollgate.yaml if it exists)')
    .option('--json', 'print JSON')
    .action(async (flags: { config?: string; json?: true }) => {
      const place = readConsolePlace({ ...source, file: flags.config });
      const made = linkView.parse(await administer(environment, 'setup.link', place));
      environment.stdout(
        flags.json === true
          ? renderJsonLine(made)
          : `${made.link}\n\nIt works once, until ${made.expires_at}. Earlier links no longer work.\n`,
      );
    });
}

/** For the commands that create links. `console`: whether it is served. @throws CliFailure for a file with errors. */
function readConsolePlace(source: ConfigSource): { readonly console: boolean; readonly base_url: string } {
  const { config, problems } = loadConfig(source);
  if (config === null) throw new CliFailure(1, problems.map(renderConfigProblem).join('\n'));
  const { console, publicUrl, host, port } = config.server;
  return { console, base_url: publicUrl ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}` };
}

interface Flags {
  readonly config?: string;
  readonly json?: true;
  readonly account?: string;
  /** Commander's name for `--without-second-factor`. */
  readonly withoutSecondFactor?: true;
}

function registerResetPassword(program: Command, environment: CliEnvironment, source: Place): void {
  program
    .command('reset-password')
    .description('print a one-time password reset link for a user of the console')
    .argument('<email>', 'email address of the user')
    .option('--account <id>', 'an account of the user, if several users have the address')
    .option('--without-second-factor', 'also turn the second factor off, for a lost authenticator')
    .option('--config <file>', 'the configuration file (default: TOLLGATE_CONFIG, else tollgate.yaml if it exists)')
    .option('--json', 'print JSON')
    .action(async (email: string, flags: Flags) => {
      const isWithout = flags.withoutSecondFactor === true;
      const given = {
        ...readConsolePlace({ ...source, file: flags.config }),
        email,
        account: flags.account ?? null,
        without_second_factor: isWithout,
      };
      const made = linkView.parse(await administer(environment, 'person.reset_link', given));
      environment.stdout(
        flags.json === true
          ? renderJsonLine(made)
          : `${made.link}\n\nIt works once, until ${made.expires_at}. Earlier links of this user no longer work.\nUsing it ends all sessions of the user and removes their passkeys. The second factor ${isWithout ? 'is turned off' : 'stays; see --without-second-factor'}.\n`,
      );
    });
}

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

function registerMembers(program: Command, environment: CliEnvironment): void {
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
