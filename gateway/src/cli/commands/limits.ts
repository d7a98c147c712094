/** Defines the commands `tollgate limits …`: flags and output. The operations are in control/. */
import type { Command } from 'commander';
import { z } from 'zod';
import { readEntered } from '../../config/console-entries.ts';
import type { Json } from '../../control/command.ts';
import { callControl } from '../../control/control-client.ts';
import { viewRules } from '../../control/views.ts';
import { administer, findModelNames, withReading } from '../administer.ts';
import { type CliEnvironment, CliFailure, renderJsonLine, renderTable } from '../environment.ts';
import { addCapFlags, type CapFlags, capArguments, capsView, renderCaps } from '../flags.ts';

interface SetFlags extends CapFlags {
  readonly account?: string;
  readonly workspace?: string;
  readonly endUser?: string;
  readonly model?: string;
  readonly layer?: string;
  readonly json?: true;
}

const ruleView = z.object({
  kind: z.string(),
  id: z.string(),
  account: z.string().nullable(),
  layer: z.enum(['operator', 'account']),
  binds: z.boolean().nullish(),
  ...capsView,
});

/** Adds `limits` and its commands to the program. */
export function register(program: Command, environment: CliEnvironment): void {
  const limits = program.command('limits').description('limit accounts, workspaces, end users and models');

  limits
    .command('list')
    .description('list all limits, including those of keys')
    .option('--json', 'print one JSON object per line')
    .action(async (flags: { json?: true }) => {
      print(environment, await listRules(environment), flags.json === true);
    });

  const set = limits
    .command('set')
    .description('set the limits of one of --account, --workspace, --end-user or --model; omitted limits stay')
    .option('--account <id>', 'an account; with --end-user: the account of the end user (default: default)')
    .option('--workspace <id>', 'a workspace')
    .option(
      '--end-user <name>',
      "an end user as clients name them; '*': each end user without limits of their own, and all requests without an end user together",
    )
    .option('--model <name>', 'a model by any of its public names; applies to all of its names')
    .option('--layer <layer>', "operator (default), or account: the account's own limits; the lower limit applies");
  addCapFlags(set, 'for all of its requests')
    .option('--json', 'print JSON')
    .action(async (flags: SetFlags) => {
      const given = {
        account: flags.account,
        workspace: flags.workspace,
        end_user: flags.endUser,
        model: flags.model,
        layer: flags.layer,
        ...capArguments(flags),
      };
      print(environment, [await administer(environment, 'limits.set', given)], flags.json === true);
    });
}

/** From the running server, which knows the served models; without one, from the store. */
async function listRules(environment: CliEnvironment): Promise<readonly Json[]> {
  const reply = await callControl(environment.dataDir, 'limits.list', {}).catch((fault: unknown) => {
    throw new CliFailure(1, fault instanceof Error ? fault.message : String(fault));
  });
  if (reply === 'no-server') {
    return withReading(environment, async (reading) =>
      viewRules(await reading.readLimitRules(), findModelNames(await readEntered(reading))),
    );
  }
  if (!reply.ok) throw new CliFailure(1, reply.message);
  return z.array(z.json()).parse(reply.result);
}

function print(environment: CliEnvironment, views: readonly Json[], asJson: boolean): void {
  environment.stdout(asJson ? views.map(renderJsonLine).join('') : renderRules(views));
}

function renderRules(views: readonly Json[]): string {
  if (views.length === 0) return 'No limits. Set some: tollgate limits set --help\n';
  const rows = views
    .map((view) => ruleView.parse(view))
    .map((rule) => [
      rule.kind.replace('_', ' '),
      rule.id,
      rule.account ?? '-',
      rule.layer,
      rule.binds === false ? `${renderCaps(rule)}; has no effect: no such model is served` : renderCaps(rule),
    ]);
  return renderTable(['OF', 'ID', 'ACCOUNT', 'SET BY', 'LIMITS'], rows);
}
