/** Owns the commands `tollgate workspaces …`: their flags, and what they print. What they do is in control/. */
import type { Command } from 'commander';
import { z } from 'zod';
import type { Json } from '../control/command.ts';
import { viewWorkspace } from '../control/views.ts';
import { administer } from './administer.ts';
import { type Lifted, orNull, parseListOr } from './argument-parsers.ts';
import type { CliEnvironment } from './cli-environment.ts';
import { renderJsonLine, renderTable } from './output.ts';
import { withReading } from './with-reading.ts';

interface Flags {
  readonly models?: string[] | Lifted;
  readonly json?: true;
}

const workspaceView = z.object({ id: z.string(), account: z.string(), models: z.array(z.string()).nullable() });
const MODELS_HELP = "names of the models its keys may use, * stands for any run of characters; '*' alone: all";

/** Adds `workspaces` and its commands to the program. */
export function register(program: Command, environment: CliEnvironment): void {
  const workspaces = program
    .command('workspaces')
    .description('make and change workspaces, which hold policy for keys');

  workspaces
    .command('list')
    .description('show all workspaces')
    .option('--json', 'print one JSON object per line')
    .action(async (flags: Flags) => {
      const found = await withReading(environment, (reading) => reading.readWorkspaces());
      print(environment, found.map(viewWorkspace), flags);
    });

  workspaces
    .command('create')
    .description('make a workspace')
    .argument('<id>', 'its id: a-z, 0-9, - and _')
    .option('--models <list>', MODELS_HELP, parseListOr('*'))
    .option('--json', 'print JSON')
    .action(async (id: string, flags: Flags) => {
      print(
        environment,
        [await administer(environment, 'workspaces.create', { id, models: orNull(flags.models) })],
        flags,
      );
    });

  workspaces
    .command('set')
    .description('change a workspace; it binds all of its keys at once')
    .argument('<id>', 'the id of the workspace')
    .requiredOption('--models <list>', MODELS_HELP, parseListOr('*'))
    .option('--json', 'print JSON')
    .action(async (id: string, flags: Flags) => {
      print(
        environment,
        [await administer(environment, 'workspaces.set', { id, models: orNull(flags.models) })],
        flags,
      );
    });
}

function print(environment: CliEnvironment, views: readonly Json[], flags: Flags): void {
  environment.stdout(flags.json ? views.map(renderJsonLine).join('') : renderWorkspaces(views));
}

function renderWorkspaces(views: readonly Json[]): string {
  const rows = views
    .map((view) => workspaceView.parse(view))
    .map(({ id, account, models }) => [id, account, models === null ? 'all' : models.join(', ')]);
  return renderTable(['ID', 'ACCOUNT', 'MODELS'], rows);
}
