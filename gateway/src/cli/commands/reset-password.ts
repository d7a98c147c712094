/** Defines the command `tollgate reset-password`: creates a one-time link for a user who forgot their password. */
import type { Command } from 'commander';
import { z } from 'zod';
import type { ConfigSource } from '../../config/load-config.ts';
import { administer } from '../administer.ts';
import { type CliEnvironment, renderJsonLine } from '../environment.ts';

import { readConsolePlace } from './links.ts';

const linkView = z.object({ link: z.string(), expires_at: z.string() });

interface Flags {
  readonly config?: string;
  readonly json?: true;
  readonly account?: string;
  /** Commander's name for `--without-second-factor`. */
  readonly withoutSecondFactor?: true;
}

/** Adds the command. `source` provides the file and the variables. */
export function register(
  program: Command,
  environment: CliEnvironment,
  source: Omit<ConfigSource, 'file'> = { environment: process.env, cwd: process.cwd() },
): void {
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
