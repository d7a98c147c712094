/** Defines the commands `tollgate workspaces …`: flags and output. The operations are in control/. */
import type { Command } from 'commander';
import { z } from 'zod';
import type { Json } from '../../control/command.ts';
import { viewWorkspace } from '../../control/views.ts';
import { administer, withReading } from '../administer.ts';
import { type CliEnvironment, renderJsonLine, renderTable } from '../environment.ts';
import {
  addCapFlags,
  type CapFlags,
  capArguments,
  layeredCapsView,
  orNull,
  parseDaysOr,
  parseListOr,
  parseTags,
  type RemovedLimit,
  readCapsOf,
  renderLayeredCaps,
} from '../flags.ts';

interface Flags extends CapFlags {
  readonly account?: string;
  readonly models?: string[] | RemovedLimit;
  readonly bodies?: string;
  readonly bodiesDays?: number | RemovedLimit;
  readonly requiredTags?: string[];
  readonly json?: true;
}

const workspaceView = z.object({
  id: z.string(),
  account: z.string(),
  models: z.array(z.string()).nullable(),
  bodies: z.string().nullable(),
  bodies_days: z.number().nullable(),
  required_tags: z.array(z.string()),
  ...layeredCapsView,
});
const MODELS_HELP = "models that its keys may use, with * as a wildcard; '*' alone: all models";
const AS_CONFIGURED = 'inherit';
const BODIES_HELP = `requests whose prompts and responses are stored: off, errors, all, or ${AS_CONFIGURED}: as configured`;
const DAYS_HELP = `number of days that prompts and responses are kept, or ${AS_CONFIGURED}: as configured`;
const TAGS_HELP = 'data tags, such as eu, that every target of its requests must carry; or none';
const OF_WORKSPACE = 'for all of its keys';

/** Adds `workspaces` and its commands to the program. */
export function register(program: Command, environment: CliEnvironment): void {
  const workspaces = program
    .command('workspaces')
    .description('create and change workspaces, which set policy for their keys');

  workspaces
    .command('list')
    .description('list all workspaces')
    .option('--json', 'print one JSON object per line')
    .action(async (flags: Flags) => print(environment, await listWorkspaces(environment), flags));

  const create = workspaces
    .command('create')
    .description('create a workspace')
    .argument('<id>', 'workspace id: a-z, 0-9, - and _')
    .option('--account <id>', 'account that pays for its requests (default: default)')
    .option('--models <list>', MODELS_HELP, parseListOr('*'))
    .option('--bodies <calls>', BODIES_HELP)
    .option('--bodies-days <days>', DAYS_HELP, parseDaysOr(AS_CONFIGURED))
    .option('--required-tags <list>', TAGS_HELP, parseTags);
  addCapFlags(create, OF_WORKSPACE)
    .option('--json', 'print JSON')
    .action(async (id: string, flags: Flags) => {
      const given = { id, account: flags.account, ...policy(flags) };
      print(environment, [await administer(environment, 'workspaces.create', given)], flags);
    });

  const set = workspaces
    .command('set')
    .description('change a workspace; omitted settings stay; applies to all of its keys at once')
    .argument('<id>', 'the id of the workspace')
    .option('--models <list>', MODELS_HELP, parseListOr('*'))
    .option('--bodies <calls>', BODIES_HELP)
    .option('--bodies-days <days>', DAYS_HELP, parseDaysOr(AS_CONFIGURED))
    .option('--required-tags <list>', TAGS_HELP, parseTags);
  addCapFlags(set, OF_WORKSPACE)
    .option('--json', 'print JSON')
    .action(async (id: string, flags: Flags, command: Command) => {
      const { json: _, ...changes } = flags;
      if (Object.keys(changes).length === 0)
        command.error(
          'error: nothing to change; expected --models, --bodies, --bodies-days, --required-tags or a limit',
        );
      print(environment, [await administer(environment, 'workspaces.set', { id, ...policy(flags) })], flags);
    });
}

/** Converts the flags to command arguments; flags that were not given are omitted. */
function policy(flags: Flags): object {
  return {
    models: orNull(flags.models),
    bodies: flags.bodies === AS_CONFIGURED ? null : flags.bodies,
    bodies_days: orNull(flags.bodiesDays),
    required_tags: flags.requiredTags,
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
      workspace.required_tags.join(', ') || 'none',
      renderLayeredCaps(workspace),
    ]);
  return renderTable(['ID', 'ACCOUNT', 'MODELS', 'BODIES', 'REQUIRED TAGS', 'LIMITS'], rows);
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
