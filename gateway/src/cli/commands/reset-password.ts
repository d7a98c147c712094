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
    .description('print a one-time link to a new password for whoever signs in to the console by an e-mail address')
    .argument('<email>', 'the address that the person signs in by')
    .option('--account <id>', 'an account of the user, where several users have the address')
    .option('--without-second-factor', 'turn the second factor off with it, where the authenticator is lost too')
    .option('--config <file>', 'the configuration (default: TOLLGATE_CONFIG, else tollgate.yaml where there is one)')
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
          : `${made.link}\n\nIt works once, until ${made.expires_at}; a link made before for the same person works no more.\nUsing it ends every session of the person and removes their passkeys. The second factor ${isWithout ? 'is turned off then' : 'stays; see --without-second-factor'}.\n`,
      );
    });
}
