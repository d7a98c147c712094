/** Defines the commands `tollgate keys …`: flags and output. The operations are in control/. */
import { type Command, Option } from 'commander';
import { z } from 'zod';
import type { Json } from '../../control/command.ts';
import { viewKey } from '../../control/views.ts';
import { administer, withReading } from '../administer.ts';
import { type CliEnvironment, makeVisible, renderFields, renderJsonLine, renderTable } from '../environment.ts';
import {
  addCapFlags,
  type CapFlags,
  capArguments,
  layeredCapsView,
  orNull,
  parseExpiry,
  parseInherited,
  parseList,
  parseListOr,
  parseSpan,
  parseSwitch,
  parseTag,
  parseTags,
  type RemovedLimit,
  readCapsOf,
  renderLayeredCaps,
} from '../flags.ts';

interface CreateFlags extends CapFlags {
  readonly name: string;
  readonly workspace?: string;
  readonly models?: string[] | RemovedLimit;
  readonly expires?: number | RemovedLimit;
  readonly ip?: string[] | RemovedLimit;
  readonly scopes?: string[];
  readonly strict?: boolean;
  readonly holds?: string | RemovedLimit;
  readonly requiredTags?: string[];
  readonly tag?: Readonly<Record<string, string | null>>;
  readonly json?: true;
}

type SetFlags = Partial<CreateFlags>;

const MODELS_HELP = "models that the key may use, with * as a wildcard; '*' alone: all models";
const EXPIRES_HELP = 'time until the key expires (such as 30d), or never';
const IP_HELP = 'addresses or CIDR ranges that may use the key, or any';
const SCOPES_HELP = 'scopes of the key: inference, usage, admin';
const OF_KEY = 'for the key';
const HOLDS_HELP =
  'strict: reserve the maximum cost of each request; adaptive: reserve streams in slices; inherit: use the account’s setting';
const REQUIRED_TAGS_HELP =
  'data tags, such as eu, that every target of its requests must carry besides those of its workspace; or none';
const TAG_HELP = 'a tag to sort keys by, such as team=web; repeat it for each';
const STRICT_HELP = 'reject requests with members that a translation between formats would drop';

/** Adds `keys` and its commands to the program. */
export function register(program: Command, environment: CliEnvironment): void {
  const keys = program.command('keys').description('create and change API keys');

  const create = keys
    .command('create')
    .description('create an API key; its secret is shown only once')
    .requiredOption('--name <name>', 'name of the key')
    .option('--workspace <id>', 'workspace of the key (default: default)')
    .option('--models <list>', MODELS_HELP, parseListOr('*'))
    .option('--expires <span>', EXPIRES_HELP, parseExpiry)
    .option('--ip <list>', IP_HELP, parseListOr('any'))
    .option('--scopes <list>', `${SCOPES_HELP} (default: inference)`, parseList)
    .option('--strict', STRICT_HELP)
    .option('--holds <mode>', HOLDS_HELP, parseInherited)
    .option('--required-tags <list>', REQUIRED_TAGS_HELP, parseTags)
    .option('--tag <name=value>', TAG_HELP, parseTag);
  addCapFlags(create, OF_KEY)
    .option('--json', 'print JSON')
    .action(async (flags: CreateFlags) => {
      const key = await administer(environment, 'keys.create', { name: flags.name, ...restrictions(flags) });
      printNewKey(environment, key, flags.json === true);
    });

  keys
    .command('list')
    .description('list all API keys, without their secrets')
    .option('--json', 'print one JSON object per line')
    .action((flags: { json?: true }) => printKeyList(environment, flags.json === true));

  keys
    .command('rotate')
    .description('replace the secret of a key; the old one works until the grace period ends')
    .argument('<id>', 'the id of the key')
    .addOption(
      new Option('--grace <span>', 'how long the old secret keeps working; 0s: it stops at once')
        .argParser(parseSpan)
        .default(parseSpan('24h'), '24h'),
    )
    .option('--json', 'print JSON')
    .action(async (id: string, flags: { grace: number; json?: true }) => {
      const key = await administer(environment, 'keys.rotate', { id, grace_ms: flags.grace });
      printNewKey(environment, key, flags.json === true);
    });

  for (const [verb, description] of [
    ['revoke', 'revoke a key permanently'],
    ['disable', 'disable a key until it is enabled'],
    ['enable', 'enable a disabled key'],
  ] as const) {
    keys
      .command(verb)
      .description(description)
      .argument('<id>', 'the id of the key')
      .option('--json', 'print JSON')
      .action(async (id: string, flags: { json?: true }) => {
        printKeyState(environment, await administer(environment, `keys.${verb}`, { id }), flags.json === true);
      });
  }

  const set = keys
    .command('set')
    .description('change a key; omitted settings stay')
    .argument('<id>', 'the id of the key')
    .option('--name <name>', 'name of the key')
    .option('--workspace <id>', 'workspace of the key')
    .option('--models <list>', MODELS_HELP, parseListOr('*'))
    .option('--expires <span>', EXPIRES_HELP, parseExpiry)
    .option('--ip <list>', IP_HELP, parseListOr('any'))
    .option('--scopes <list>', SCOPES_HELP, parseList)
    .option('--strict <on|off>', STRICT_HELP, parseSwitch)
    .option('--holds <mode>', HOLDS_HELP, parseInherited)
    .option('--required-tags <list>', REQUIRED_TAGS_HELP, parseTags)
    .option('--tag <name=value>', `${TAG_HELP}; without a value it is removed`, parseTag);
  addCapFlags(set, OF_KEY)
    .option('--json', 'print JSON')
    .action(async (id: string, flags: SetFlags, command: Command) => {
      const { json, ...changes } = flags;
      if (Object.keys(changes).length === 0) {
        command.error(
          'error: nothing to change; expected --name, --workspace, --models, --expires, --ip, --scopes, --strict, --holds, --required-tags, --tag or a limit',
        );
      }
      const given = { id, name: flags.name, ...restrictions(flags) };
      printKeyState(environment, await administer(environment, 'keys.set', given), json === true);
    });
}

/** Converts the flags to command arguments; flags that were not given are omitted. */
function restrictions(flags: SetFlags): object {
  return {
    workspace: flags.workspace,
    models: orNull(flags.models),
    expires_in_ms: orNull(flags.expires),
    ips: orNull(flags.ip),
    scopes: flags.scopes,
    strict: flags.strict,
    holds: orNull(flags.holds),
    required_tags: flags.requiredTags,
    tags: flags.tag,
    ...capArguments(flags),
  };
}

/** A view of a key; see control/views.ts. */
const keyView = z.object({
  id: z.string(),
  key: z.string().optional(),
  name: z.string(),
  workspace: z.string(),
  last4: z.string(),
  models: z.array(z.string()).nullable(),
  ips: z.array(z.string()).nullable(),
  scopes: z.array(z.string()),
  strict: z.boolean(),
  holds: z.string().nullable(),
  required_tags: z.array(z.string()),
  tags: z.record(z.string(), z.string()),
  status: z.string(),
  expires_at: z.string().nullable(),
  previous_expires_at: z.string().nullable(),
  ...layeredCapsView,
});
type KeyView = z.infer<typeof keyView>;

/** Prints a key with its secret. */
function printNewKey(environment: CliEnvironment, result: Json, asJson: boolean): void {
  environment.stdout(asJson ? renderJsonLine(result) : renderNewKey(keyView.parse(result)));
}

function renderNewKey(key: KeyView): string {
  const parts = [
    `\n  ${key.key}\n\nThis is the only time that the key is shown. Store it safely.\n\n`,
    renderFields(describe(key)),
  ];
  if (key.previous_expires_at !== null) {
    const [until] = [key.previous_expires_at, key.expires_at ?? key.previous_expires_at].sort();
    parts.push(`\nThe old secret works until ${until}. To revoke it now: tollgate keys rotate ${key.id} --grace 0s\n`);
  }
  parts.push(`\nSend it in the header "Authorization: Bearer KEY". To revoke it: tollgate keys revoke ${key.id}\n`);
  return parts.join('');
}

/** Prints a key after a change. */
function printKeyState(environment: CliEnvironment, result: Json, asJson: boolean): void {
  environment.stdout(asJson ? renderJsonLine(result) : renderKeyState(keyView.parse(result), environment.nowMs()));
}

function renderKeyState(key: KeyView, nowMs: number): string {
  return `The key ${makeVisible(key.name)} is ${stateOf(key, nowMs)}.\n${renderFields(describe(key))}`;
}

/** Prints all keys, in order of creation. */
async function printKeyList(environment: CliEnvironment, asJson: boolean): Promise<void> {
  const views = await withReading(environment, async (reading) => {
    const capsOf = await readCapsOf(reading, 'key');
    return (await reading.readKeys()).map((key) => viewKey(key, capsOf(key.id)));
  });
  environment.stdout(asJson ? views.map(renderJsonLine).join('') : renderKeyTable(views, environment.nowMs()));
}

function renderKeyTable(views: readonly Json[], nowMs: number): string {
  if (views.length === 0) return 'No API keys. Create one: tollgate keys create --name NAME\n';
  const rows = views
    .map((view) => keyView.parse(view))
    .map((key) => [
      key.id,
      key.name,
      key.workspace,
      `…${key.last4}`,
      stateOf(key, nowMs),
      renderSwitch(key.strict),
      listOf(key.models, 'all'),
      renderTags(key.tags),
      renderLayeredCaps(key),
    ]);
  return renderTable(['ID', 'NAME', 'WORKSPACE', 'LAST 4', 'STATE', 'STRICT', 'MODELS', 'TAGS', 'LIMITS'], rows);
}

function describe(key: KeyView): [string, string][] {
  return [
    ['id', key.id],
    ['name', key.name],
    ['workspace', key.workspace],
    ['models', listOf(key.models, 'all models of the workspace')],
    ['addresses', listOf(key.ips, 'any')],
    ['scopes', key.scopes.join(', ')],
    ['strict', renderSwitch(key.strict)],
    ['holds', key.holds ?? 'inherit'],
    ['required tags', key.required_tags.join(', ') || 'none'],
    ['tags', renderTags(key.tags)],
    ['limits', renderLayeredCaps(key)],
    ['expires', key.expires_at ?? 'never'],
  ];
}

function stateOf(key: KeyView, nowMs: number): string {
  return key.status === 'active' && key.expires_at !== null && Date.parse(key.expires_at) <= nowMs
    ? 'expired'
    : key.status;
}

function renderTags(tags: KeyView['tags']): string {
  const listed = Object.entries(tags).map(([name, value]) => `${name}=${value}`);
  return listed.join(', ') || 'none';
}

function renderSwitch(on: boolean): string {
  return on ? 'on' : 'off';
}

function listOf(list: readonly string[] | null, none: string): string {
  return list === null ? none : list.join(', ');
}
