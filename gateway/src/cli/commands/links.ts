/**
 * Defines the command `tollgate setup-link`: creates a new one-time link to set up the console, until a user has done
 * so.
 */
import type { Command } from 'commander';
import { z } from 'zod';
import { renderConfigProblem } from '../../config/file/config-problem.ts';
import { type ConfigSource, loadConfig } from '../../config/load-config.ts';
import { administer } from '../administer.ts';
import { type CliEnvironment, CliFailure, renderJsonLine } from '../environment.ts';

const linkView = z.object({ link: z.string(), expires_at: z.string() });

/** Adds the command. `source` provides the file and the variables. */
export function register(
  program: Command,
  environment: CliEnvironment,
  source: Omit<ConfigSource, 'file'> = { environment: process.env, cwd: process.cwd() },
): void {
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
export function readConsolePlace(source: ConfigSource): { readonly console: boolean; readonly base_url: string } {
  const { config, problems } = loadConfig(source);
  if (config === null) throw new CliFailure(1, problems.map(renderConfigProblem).join('\n'));
  const { console, publicUrl, host, port } = config.server;
  return { console, base_url: publicUrl ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}` };
}
