/** Defines the commands `tollgate keys …`: flags and output. The operations are in control/. */
import { type Command, Option } from 'commander';
import { z } from 'zod';
import type { Json } from '../../control/command.ts';
import { viewKey } from '../../control/views.ts';
import { administer, withReading } from '../administer.ts';
import {
  orNull,
  parseExpiry,
  parseInherited,
  parseList,
  parseListOr,
  parseSpan,
  parseSwitch,
  type RemovedLimit,
} from '../argument-parsers.ts';
import { addCapFlags, type CapFlags, capArguments, layeredCapsView, readCapsOf, renderLayeredCaps } from '../caps.ts';
import { type CliEnvironment, makeVisible, renderFields, renderJsonLine, renderTable } from '../environment.ts';

interface CreateFlags extends CapFlags {
  readonly name: string;
  readonly workspace?: string;
  readonly models?: string[] | RemovedLimit;
  readonly expires?: number | RemovedLimit;
  readonly ip?: string[] | RemovedLimit;
  readonly scopes?: string[];
  readonly strict?: boolean;
  readonly holds?: string | RemovedLimit;
  readonly json?: true;
}

type SetFlags = Partial<CreateFlags>;

const MODELS_HELP = "names of the models the key may use, * stands for any run of characters; '*' alone: all";
const EXPIRES_HELP = 'how long the key works (such as 30d), or never';
const IP_HELP = 'addresses or CIDR ranges the key may be used from, or any';
const SCOPES_HELP = 'what the key may be used for: inference, usage, admin';
const OF_KEY = 'of the key';
const HOLDS_HELP =
  'strict: each call holds its worst case; adaptive: a stream holds slice by slice; inherit: as the account has it';
const STRICT_HELP = 'refuse a call for what a translation between the formats would drop';

/** Adds `keys` and its commands to the program. */
export function register(program: Command, environment: CliEnvironment): void {
  const keys = program.command('keys').description('make and change API keys');

  const create = keys
    .command('create')
    .description('make a key; its secret is shown this once')
    .requiredOption('--name <name>', 'what the key is called')
    .option('--workspace <id>', 'the workspace it belongs to (default: default)')
    .option('--models <list>', MODELS_HELP, parseListOr('*'))
    .option('--expires <span>', EXPIRES_HELP, parseExpiry)
    .option('--ip <list>', IP_HELP, parseListOr('any'))
    .option('--scopes <list>', `${SCOPES_HELP} (default: inference)`, parseList)
    .option('--strict', STRICT_HELP)
    .option('--holds <mode>', HOLDS_HELP, parseInherited);
  addCapFlags(create, OF_KEY)
    .option('--json', 'print JSON')
    .action(async (flags: CreateFlags) => {
      const key = await administer(environment, 'keys.create', { name: flags.name, ...restrictions(flags) });
      printNewKey(environment, key, flags.json === true);
    });

  keys
    .command('list')
    .description('show all keys, never their secrets')
    .option('--json', 'print one JSON object per line')
    .action((flags: { json?: true }) => printKeyList(environment, flags.json === true));

  keys
    .command('rotate')
    .description('give a key a new secret; the old one works until the grace ends')
    .argument('<id>', 'the id of the key')
    .addOption(
      new Option('--grace <span>', 'how long the old secret works on; 0s ends it at once')
        .argParser(parseSpan)
        .default(parseSpan('24h'), '24h'),
    )
    .option('--json', 'print JSON')
    .action(async (id: string, flags: { grace: number; json?: true }) => {
      const key = await administer(environment, 'keys.rotate', { id, grace_ms: flags.grace });
      printNewKey(environment, key, flags.json === true);
    });

  for (const [verb, description] of [
    ['revoke', 'end a key for good'],
    ['disable', 'let a key rest; enable wakes it'],
    ['enable', 'let a disabled key work again'],
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
    .description('change a key; what is not named stays')
    .argument('<id>', 'the id of the key')
    .option('--name <name>', 'what the key is called')
    .option('--workspace <id>', 'the workspace it belongs to')
    .option('--models <list>', MODELS_HELP, parseListOr('*'))
    .option('--expires <span>', EXPIRES_HELP, parseExpiry)
    .option('--ip <list>', IP_HELP, parseListOr('any'))
    .option('--scopes <list>', SCOPES_HELP, parseList)
    .option('--strict <on|off>', STRICT_HELP, parseSwitch)
    .option('--holds <mode>', HOLDS_HELP, parseInherited);
  addCapFlags(set, OF_KEY)
    .option('--json', 'print JSON')
    .action(async (id: string, flags: SetFlags, command: Command) => {
      const { json, ...changes } = flags;
      if (Object.keys(changes).length === 0) {
        command.error(
          'error: nothing to change; expected --name, --workspace, --models, --expires, --ip, --scopes, --strict, --holds or a limit',
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
    `\n  ${key.key}\n\nThis is the only time the key is shown. Keep it where secrets are kept.\n\n`,
    renderFields(describe(key)),
  ];
  if (key.previous_expires_at !== null) {
    const [until] = [key.previous_expires_at, key.expires_at ?? key.previous_expires_at].sort();
    parts.push(`\nThe old secret works until ${until}. To end it now: tollgate keys rotate ${key.id} --grace 0s\n`);
  }
  parts.push(`\nSend it as the header "Authorization: Bearer KEY". To end it: tollgate keys revoke ${key.id}\n`);
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
  if (views.length === 0) return 'There are no keys. Make one: tollgate keys create --name NAME\n';
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
      renderLayeredCaps(key),
    ]);
  return renderTable(['ID', 'NAME', 'WORKSPACE', 'ENDS IN', 'STATE', 'STRICT', 'MODELS', 'LIMITS'], rows);
}

function describe(key: KeyView): [string, string][] {
  return [
    ['id', key.id],
    ['name', key.name],
    ['workspace', key.workspace],
    ['models', listOf(key.models, 'all of the workspace')],
    ['addresses', listOf(key.ips, 'any')],
    ['scopes', key.scopes.join(', ')],
    ['strict', renderSwitch(key.strict)],
    ['holds', key.holds ?? 'as its account'],
    ['limits', renderLayeredCaps(key)],
    ['expires', key.expires_at ?? 'never'],
  ];
}

function stateOf(key: KeyView, nowMs: number): string {
  return key.status === 'active' && key.expires_at !== null && Date.parse(key.expires_at) <= nowMs
    ? 'expired'
    : key.status;
}

function renderSwitch(on: boolean): string {
  return on ? 'on' : 'off';
}

function listOf(list: readonly string[] | null, none: string): string {
  return list === null ? none : list.join(', ');
}
