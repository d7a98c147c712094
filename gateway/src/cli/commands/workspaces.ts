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
  parseSpan,
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
  readonly cache?: string;
  /** In ms. */
  readonly cacheTtl?: number;
  readonly clearCache?: true;
  readonly json?: true;
}

const workspaceView = z.object({
  id: z.string(),
  account: z.string(),
  models: z.array(z.string()).nullable(),
  bodies: z.string().nullable(),
  bodies_days: z.number().nullable(),
  required_tags: z.array(z.string()),
  cache: z.string(),
  cache_seconds: z.number().nullable(),
  ...layeredCapsView,
});
const MODELS_HELP = "models that its keys may use, with * as a wildcard; '*' alone: all models";
const AS_CONFIGURED = 'inherit';
const BODIES_HELP = `requests whose prompts and responses are stored: off, errors, all, or ${AS_CONFIGURED}: as configured`;
const DAYS_HELP = `number of days that prompts and responses are kept, or ${AS_CONFIGURED}: as configured`;
const TAGS_HELP = 'data tags, such as eu, that every target of its requests must carry; or none';
const CACHE_HELP =
  'requests that may be answered from the cache: off, request (those whose header x-tollgate-cache asks for it) or all';

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

  for (const [verb, description, id] of [
    ['create', 'create a workspace', 'workspace id: a-z, 0-9, - and _'],
    ['set', 'change a workspace; omitted settings stay; applies to all of its keys at once', 'the id of the workspace'],
  ] as const) {
    const command = workspaces.command(verb).description(description).argument('<id>', id);
    if (verb === 'create') command.option('--account <id>', 'account that pays for its requests (default: default)');
    command
      .option('--models <list>', MODELS_HELP, parseListOr('*'))
      .option('--bodies <calls>', BODIES_HELP)
      .option('--bodies-days <days>', DAYS_HELP, parseDaysOr(AS_CONFIGURED))
      .option('--required-tags <list>', TAGS_HELP, parseTags)
      .option('--cache <requests>', CACHE_HELP)
      .option('--cache-ttl <span>', 'how long a cached answer is used, such as 10m (default: 1h)', parseSpan);
    if (verb === 'set') command.option('--clear-cache', 'use no answer that was cached before now');
    addCapFlags(command, 'for all of its keys')
      .option('--json', 'print JSON')
      .action(async (id: string, flags: Flags, self: Command) => {
        const { json: _, ...changes } = flags;
        if (verb === 'set' && Object.keys(changes).length === 0)
          self.error(
            'error: nothing to change; expected --models, --bodies, --bodies-days, --required-tags, --cache, --cache-ttl, --clear-cache or a limit',
          );
        const given = { id, ...(verb === 'create' && { account: flags.account }), ...policy(flags) };
        print(environment, [await administer(environment, `workspaces.${verb}`, given)], flags);
      });
  }
}

/** Converts the flags to command arguments; flags that were not given are omitted. */
function policy(flags: Flags): object {
  return {
    models: orNull(flags.models),
    bodies: flags.bodies === AS_CONFIGURED ? null : flags.bodies,
    bodies_days: orNull(flags.bodiesDays),
    required_tags: flags.requiredTags,
    cache: flags.cache,
    cache_seconds: flags.cacheTtl === undefined ? undefined : flags.cacheTtl / 1_000,
    ...(flags.clearCache && { clear_cache: true }),
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
      renderCache(workspace),
      renderLayeredCaps(workspace),
    ]);
  return renderTable(['ID', 'ACCOUNT', 'MODELS', 'BODIES', 'REQUIRED TAGS', 'CACHE', 'LIMITS'], rows);
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

function renderCache({ cache, cache_seconds }: Pick<z.infer<typeof workspaceView>, 'cache' | 'cache_seconds'>): string {
  return cache_seconds === null ? cache : `${cache}, ${cache_seconds} s`;
}
