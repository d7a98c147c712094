/** Defines the commands `tollgate workspaces …`: flags and output. The operations are in control/. */
import type { Command } from 'commander';
import { z } from 'zod';
import type { Json } from '../../control/command.ts';
import { viewWorkspace } from '../../control/views.ts';
import { administer, withReading } from '../administer.ts';
import { orNull, parseDaysOr, parseListOr, type RemovedLimit } from '../argument-parsers.ts';
import { addCapFlags, type CapFlags, capArguments, layeredCapsView, readCapsOf, renderLayeredCaps } from '../caps.ts';
import { type CliEnvironment, renderJsonLine, renderTable } from '../environment.ts';

interface Flags extends CapFlags {
  readonly account?: string;
  readonly models?: string[] | RemovedLimit;
  readonly bodies?: string;
  readonly bodiesDays?: number | RemovedLimit;
  readonly json?: true;
}

const workspaceView = z.object({
  id: z.string(),
  account: z.string(),
  models: z.array(z.string()).nullable(),
  bodies: z.string().nullable(),
  bodies_days: z.number().nullable(),
  ...layeredCapsView,
});
const MODELS_HELP = "names of the models its keys may use, * stands for any run of characters; '*' alone: all";
const AS_CONFIGURED = 'inherit';
const BODIES_HELP = `of which calls what was said is kept: off, errors, all, or ${AS_CONFIGURED}: as the configuration says`;
const DAYS_HELP = `for how many days it is kept, or ${AS_CONFIGURED}: as the configuration says`;
const OF_WORKSPACE = 'of all of its keys';

/** Adds `workspaces` and its commands to the program. */
export function register(program: Command, environment: CliEnvironment): void {
  const workspaces = program
    .command('workspaces')
    .description('make and change workspaces, which hold policy for keys');

  workspaces
    .command('list')
    .description('show all workspaces')
    .option('--json', 'print one JSON object per line')
    .action(async (flags: Flags) => print(environment, await listWorkspaces(environment), flags));

  const create = workspaces
    .command('create')
    .description('make a workspace')
    .argument('<id>', 'its id: a-z, 0-9, - and _')
    .option('--account <id>', 'the account that pays for its calls (default: default)')
    .option('--models <list>', MODELS_HELP, parseListOr('*'))
    .option('--bodies <calls>', BODIES_HELP)
    .option('--bodies-days <days>', DAYS_HELP, parseDaysOr(AS_CONFIGURED));
  addCapFlags(create, OF_WORKSPACE)
    .option('--json', 'print JSON')
    .action(async (id: string, flags: Flags) => {
      const given = { id, account: flags.account, ...policy(flags) };
      print(environment, [await administer(environment, 'workspaces.create', given)], flags);
    });

  const set = workspaces
    .command('set')
    .description('change a workspace; what is not named stays, and it binds all of its keys at once')
    .argument('<id>', 'the id of the workspace')
    .option('--models <list>', MODELS_HELP, parseListOr('*'))
    .option('--bodies <calls>', BODIES_HELP)
    .option('--bodies-days <days>', DAYS_HELP, parseDaysOr(AS_CONFIGURED));
  addCapFlags(set, OF_WORKSPACE)
    .option('--json', 'print JSON')
    .action(async (id: string, flags: Flags, command: Command) => {
      const { json: _, ...changes } = flags;
      if (Object.keys(changes).length === 0)
        command.error('error: nothing to change; expected --models, --bodies, --bodies-days or a limit');
      print(environment, [await administer(environment, 'workspaces.set', { id, ...policy(flags) })], flags);
    });
}

/** Converts the flags to command arguments; flags that were not given are omitted. */
function policy(flags: Flags): object {
  return {
    models: orNull(flags.models),
    bodies: flags.bodies === AS_CONFIGURED ? null : flags.bodies,
    bodies_days: orNull(flags.bodiesDays),
    ...capArguments(flags),
  };
}

function listWorkspaces(environment: CliEnvironment): Promise<readonly Json[]> {
  return withReading(environment, async (reading) => {
    const capsOf = await readCapsOf(reading, 'workspace');
    return (await reading.readWorkspaces()).map((workspace) => viewWorkspace(workspace, capsOf(workspace.id)));
  });
}

function print(environment: CliEnvironment, views: readonly Json[], flags: Flags): void {
  environment.stdout(flags.json ? views.map(renderJsonLine).join('') : renderWorkspaces(views));
}

function renderWorkspaces(views: readonly Json[]): string {
  const rows = views
    .map((view) => workspaceView.parse(view))
    .map((workspace) => [
      workspace.id,
      workspace.account,
      workspace.models === null ? 'all' : workspace.models.join(', '),
      renderBodies(workspace),
      renderLayeredCaps(workspace),
    ]);
  return renderTable(['ID', 'ACCOUNT', 'MODELS', 'BODIES', 'LIMITS'], rows);
}

function renderBodies({
  bodies,
  bodies_days,
}: {
  readonly bodies: string | null;
  readonly bodies_days: number | null;
}) {
  const days = bodies_days === null ? '' : `, ${bodies_days} days`;
  return `${bodies ?? AS_CONFIGURED}${days}`;
}
