/** Owns the command that makes a new one-time link to set the console up with. */
import { z } from 'zod';
import { CommandFailure, type ControlCommand, defineCommand } from './command.ts';

const link = defineCommand(
  /** Where no server runs: what its configuration says. */
  z.strictObject({ console: z.boolean(), base_url: z.string().max(2_048) }),
  async ({ setUp }, given) => {
    const { console: isServed, baseUrl } = setUp.served() ?? { console: given.console, baseUrl: given.base_url };
    if (!isServed) {
      throw new CommandFailure('The console is off (server.console). Turn it on, then ask for a link again.');
    }
    const made = await setUp.makeLink();
    if (made === null) {
      throw new CommandFailure(
        'The console was set up already. Sign in there, or have an owner or admin invite you at /app/members.',
      );
    }
    return { link: `${baseUrl}/app/setup?token=${made.token}`, expires_at: new Date(made.expiresAtMs).toISOString() };
  },
);

export const SETUP_COMMANDS: readonly (readonly [name: string, command: ControlCommand])[] = [['setup.link', link]];
