/** Owns the commands `tollgate keys …`: their flags, and what they print. What they do is in control/. */
import { type Command, Option } from 'commander';
import { administer } from './administer.ts';
import {
  type Lifted,
  orNull,
  parseExpiry,
  parseInherited,
  parseList,
  parseListOr,
  parseSpan,
  parseSwitch,
} from './argument-parsers.ts';
import { addCapFlags, type CapFlags, capArguments } from './cap-flags.ts';
import type { CliEnvironment } from './cli-environment.ts';
import { printKeyList, printKeyState, printNewKey } from './print-keys.ts';

interface CreateFlags extends CapFlags {
  readonly name: string;
  readonly workspace?: string;
  readonly models?: string[] | Lifted;
  readonly expires?: number | Lifted;
  readonly ip?: string[] | Lifted;
  readonly scopes?: string[];
  readonly strict?: boolean;
  readonly holds?: string | Lifted;
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

/** The flags in the words of the command's arguments; what was not given stays out. */
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
