/** Defines the commands `tollgate guardrails …`: flags and output. The operations are in control/. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import { GUARDRAIL_ACTIONS, GUARDRAIL_CHECKS, GUARDRAIL_SIDES } from '../../../store/ports/books/guardrails.ts';
import { administer } from '../../administer.ts';
import {
  type CliEnvironment,
  CliFailure,
  makeVisible,
  printObject,
  readNamedFile,
  renderJsonLine,
  renderTable,
} from '../../environment.ts';

const ruleView = z.object({
  id: z.string(),
  account: z.string(),
  workspace: z.string().nullable(),
  name: z.string(),
  check: z.string(),
  items: z.array(z.string()),
  side: z.string(),
  action: z.string().nullable(),
  fails_open: z.boolean(),
  receiver: z.string(),
  timeout_ms: z.number().nullable(),
  enabled: z.boolean(),
  created_at: z.string(),
});
const trialView = z.object({
  outcome: z.enum(['passed', 'masked', 'blocked', 'unchecked']),
  text: z.string(),
  findings: z.array(z.object({ name: z.string(), count: z.number() })),
  message: z.string().nullable(),
});

interface RuleFlags {
  readonly name?: string;
  readonly workspace?: string;
  readonly allWorkspaces?: true;
  readonly item?: readonly string[];
  readonly items?: string;
  readonly side?: string;
  readonly action?: string;
  readonly failsOpen?: true;
  readonly failsClosed?: true;
  readonly url?: string;
  readonly timeoutMs?: number;
  readonly enable?: true;
  readonly disable?: true;
  readonly json?: true;
}

/** Adds `guardrails` and its commands to the program. */
export function register(program: Command, environment: CliEnvironment): void {
  const guardrails = program
    .command('guardrails')
    .description('check requests and answers: mask secrets and personal data, block terms, call your own service');
  const create = guardrails
    .command('create')
    .description('create a guardrail; prints the secret that signs what a hook gets, which is shown only once')
    .argument('<name>', 'a name')
    .addOption(new Option('--check <check>', 'what is checked').choices(GUARDRAIL_CHECKS).makeOptionMandatory())
    .option('--account <id>', 'the account whose requests are checked', 'default');
  addRuleFlags(create).action(
    async (name: string, flags: RuleFlags & { readonly account: string; readonly check: string }) => {
      const { account, check } = flags;
      const given = { ...argumentsOf(flags), account, check, name };
      printObject(environment, Object(await administer(environment, 'guardrails.create', given)), flags.json);
    },
  );
  const set = guardrails
    .command('set')
    .description('change a guardrail; a new address replaces the signing secret, which is printed')
    .argument('<id>', 'the id of the guardrail')
    .option('--name <name>', 'another name')
    .option('--all-workspaces', 'check the requests of all workspaces of the account');
  addRuleFlags(set)
    .option('--fails-closed', 'refuse what could not be checked')
    .option('--enable', 'apply it again')
    .action(async (id: string, flags: RuleFlags) => {
      const { name } = flags;
      const given = { ...argumentsOf(flags), ...(name === undefined ? {} : { name }) };
      if (Object.keys(given).length === 0)
        throw new CliFailure(2, 'expected at least one option that changes something');
      printObject(environment, Object(await administer(environment, 'guardrails.set', { ...given, id })), flags.json);
    });
  guardrails
    .command('list')
    .description('list all guardrails, the oldest first')
    .option('--json', 'print one JSON object per line')
    .action(async ({ json }: { readonly json?: true }) => {
      const found = z.array(ruleView).parse(await administer(environment, 'guardrails.list', {}));
      if (json) return environment.stdout(found.map(renderJsonLine).join(''));
      const rows = found.map((one) =>
        [
          one.id,
          one.name,
          one.workspace === null ? one.account : `${one.account}/${one.workspace}`,
          one.check,
          one.side,
          one.action ?? one.receiver,
          one.fails_open ? 'open' : 'closed',
          one.enabled ? 'yes' : 'no',
        ].map(makeVisible),
      );
      environment.stdout(
        renderTable(['ID', 'NAME', 'APPLIES TO', 'CHECK', 'SIDE', 'ACTION', 'FAILS', 'ENABLED'], rows),
      );
    });
  guardrails
    .command('test')
    .description('run a guardrail on a text through the running server, also a disabled one; a hook is called')
    .argument('<id>', 'the id of the guardrail')
    .argument('<text>', 'the text')
    .addOption(new Option('--side <side>', 'as which text').choices(['request', 'answer']))
    .option('--json', 'print one JSON object')
    .action(async (id: string, text: string, { json, side }: { readonly json?: true; readonly side?: string }) => {
      const given = { id, text, ...(side === undefined ? {} : { side }) };
      const trial = trialView.parse(await administer(environment, 'guardrails.test', given));
      if (json) return environment.stdout(renderJsonLine(trial));
      const found = trial.findings.map(({ name, count }) => `${name} (${count})`).join(', ');
      const lines = [
        `outcome: ${trial.outcome}`,
        ...(found === '' ? [] : [`found: ${found}`]),
        ...(trial.message === null ? [] : [`message: ${trial.message}`]),
        ...(trial.outcome === 'masked' ? [`text: ${trial.text}`] : []),
      ];
      environment.stdout(lines.map((line) => `${makeVisible(line)}\n`).join(''));
    });
  guardrails
    .command('delete')
    .description('delete a guardrail; later requests are not checked by it')
    .argument('<id>', 'the id of the guardrail')
    .option('--json', 'print JSON')
    .action(async (id: string, { json }: { readonly json?: true }) =>
      printObject(environment, Object(await administer(environment, 'guardrails.delete', { id })), json),
    );
}

function addRuleFlags(command: Command): Command {
  return command
    .option('--workspace <id>', 'only the requests of this workspace')
    .option('--item <item...>', 'detectors by name (none: all of the check), or terms')
    .option('--items <file>', 'a file with one detector or term per line')
    .addOption(new Option('--side <side>', 'which texts are checked (default: request)').choices(GUARDRAIL_SIDES))
    .addOption(new Option('--action <action>', 'what happens to what was found').choices(GUARDRAIL_ACTIONS))
    .option('--fails-open', 'let text pass that could not be checked')
    .option('--url <url>', 'of a hook: public https address')
    .option('--timeout-ms <ms>', 'of a hook: how long it may take, 100 to 10000', parseMs)
    .option('--disable', 'do not apply it')
    .option('--json', 'print JSON');
}

/** The arguments of the commands; without those that were not given. */
function argumentsOf(flags: RuleFlags): object {
  if (flags.failsOpen && flags.failsClosed) throw new CliFailure(2, 'expected one of --fails-open and --fails-closed');
  if (flags.enable && flags.disable) throw new CliFailure(2, 'expected one of --enable and --disable');
  if (flags.workspace !== undefined && flags.allWorkspaces) {
    throw new CliFailure(2, 'expected one of --workspace and --all-workspaces');
  }
  const items = [...(flags.item ?? []), ...(flags.items === undefined ? [] : readLines(flags.items))];
  const given = {
    workspace: flags.allWorkspaces ? null : flags.workspace,
    items: flags.item === undefined && flags.items === undefined ? undefined : items,
    side: flags.side,
    action: flags.action,
    fails_open: flags.failsOpen ? true : flags.failsClosed ? false : undefined,
    url: flags.url,
    timeout_ms: flags.timeoutMs,
    enabled: flags.enable ? true : flags.disable ? false : undefined,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** The lines of a file that are not blank. */
function readLines(file: string): readonly string[] {
  return readNamedFile('--items', file)
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '');
}

function parseMs(text: string): number {
  if (/^\d{3,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('expected a whole number from 100 to 10000');
}
