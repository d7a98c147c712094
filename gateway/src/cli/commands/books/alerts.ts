/** Defines the commands `tollgate alerts …`: flags and output. The operations are in control/. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import { parseUsd } from '../../../billing/money.ts';
import { ALERT_CHANNELS, ALERT_EVENTS } from '../../../store/ports/books/alerts.ts';
import { administer } from '../../administer.ts';
import {
  type CliEnvironment,
  CliFailure,
  makeVisible,
  printObject,
  renderJsonLine,
  renderTable,
} from '../../environment.ts';

/** Events with an option of their own. */
const OWN_FLAGS = { budget: true, balance: true };

interface CreateFlags {
  readonly event?: string;
  readonly threshold?: string;
  readonly account: string;
  readonly budgetPercent?: string;
  readonly balanceBelow?: string;
  readonly channel: string;
  readonly url?: string;
  readonly to?: readonly string[];
  readonly json?: true;
}

const ruleView = z.object({
  id: z.string(),
  account: z.string(),
  name: z.string(),
  event: z.string(),
  shown_threshold: z.string(),
  channel: z.string(),
  receiver: z.string(),
  last_status: z.string().nullable(),
  last_error: z.string().nullable(),
});
const deliveryView = z.object({
  id: z.string(),
  created_at: z.string(),
  status: z.string(),
  attempts: z.number(),
  error: z.string().nullable(),
  text: z.string(),
});

/** Adds `alerts` and its commands to the program. */
export function register(program: Command, environment: CliEnvironment): void {
  const alerts = program.command('alerts').description('send messages when budgets are used up or balances are low');
  alerts
    .command('create')
    .description('create an alert; prints the secret that signs its webhooks, which is shown only once')
    .argument('<name>', 'a name')
    .option('--url <url>', 'public https address that receives the messages of a webhook or Slack')
    .option('--to <address...>', 'recipients of email, at most 10')
    .option('--account <id>', 'the account whose budgets or balance are observed', 'default')
    .option(
      '--budget-percent <n>',
      'when a budget of the account, a workspace or a key reaches this, 1 to 100',
      parsePercent,
    )
    .option('--balance-below <usd>', 'when the balance of the prepaid account is below this', parseAmount)
    .addOption(
      new Option('--event <event>', 'another event').choices(ALERT_EVENTS.filter((one) => !(one in OWN_FLAGS))),
    )
    .option('--threshold <n>', 'of another event: days, or percent of the usual spend', parseCount)
    .addOption(new Option('--channel <channel>', 'where the messages go').choices(ALERT_CHANNELS).default('webhook'))
    .option('--json', 'print JSON')
    .action(async (name: string, given: CreateFlags) => {
      const { budgetPercent, balanceBelow, event: other, threshold, json, ...flags } = given;
      if (threshold !== undefined && other === undefined)
        throw new CliFailure(2, 'expected --threshold with --event only');
      const rules = [
        ...(budgetPercent === undefined ? [] : [{ event: 'budget', threshold: budgetPercent }]),
        ...(balanceBelow === undefined ? [] : [{ event: 'balance', threshold: balanceBelow }]),
        ...(other === undefined ? [] : [{ event: other, ...(threshold === undefined ? {} : { threshold }) }]),
      ];
      const [rule] = rules;
      if (rule === undefined || rules.length > 1)
        throw new CliFailure(2, 'expected one of --budget-percent, --balance-below and --event');
      const made = Object(await administer(environment, 'alerts.create', { ...flags, name, ...rule }));
      printObject(environment, made, json);
    });
  alerts
    .command('list')
    .description('list all alerts, each with the state of its last delivery')
    .option('--json', 'print one JSON object per line')
    .action(async ({ json }: { readonly json?: true }) => {
      const found = z.array(ruleView).parse(await administer(environment, 'alerts.list', {}));
      if (json) return environment.stdout(found.map(renderJsonLine).join(''));
      const rows = found.map((one) =>
        [
          one.id,
          one.name,
          one.account,
          one.event,
          one.shown_threshold,
          one.channel,
          one.receiver,
          one.last_status ?? '',
        ].map(makeVisible),
      );
      const heading = ['ID', 'NAME', 'ACCOUNT', 'EVENT', 'THRESHOLD', 'CHANNEL', 'RECEIVER', 'LAST DELIVERY'];
      environment.stdout(renderTable(heading, rows));
    });
  alerts
    .command('deliveries')
    .description('list the last deliveries of an alert, the newest first')
    .argument('<id>', 'the id of the alert')
    .option('--json', 'print one JSON object per line')
    .action(async (id: string, { json }: { readonly json?: true }) => {
      const found = z.array(deliveryView).parse(await administer(environment, 'alerts.deliveries', { id }));
      if (json) return environment.stdout(found.map(renderJsonLine).join(''));
      const rows = found.map((one) =>
        [one.created_at, one.status, String(one.attempts), one.error ?? '', one.text].map(makeVisible),
      );
      environment.stdout(renderTable(['CREATED', 'STATUS', 'ATTEMPTS', 'ERROR', 'MESSAGE'], rows));
    });
  for (const [verb, description] of [
    ['test', 'send a test message through the running server; its state is in `alerts deliveries`'],
    ['delete', 'delete an alert with its deliveries'],
  ] as const) {
    alerts
      .command(verb)
      .description(description)
      .argument('<id>', 'the id of the alert')
      .option('--json', 'print JSON')
      .action(async (id: string, { json }: { readonly json?: true }) =>
        printObject(environment, Object(await administer(environment, `alerts.${verb}`, { id })), json),
      );
  }
}

function parseCount(text: string): string {
  if (/^[1-9]\d{0,5}$/.test(text)) return text;
  throw new InvalidArgumentError('expected a whole number above 0');
}

function parsePercent(text: string): string {
  if (/^(?:[1-9]\d?|100)$/.test(text)) return text;
  throw new InvalidArgumentError('expected a whole number from 1 to 100');
}

/** Nano-USD. */
function parseAmount(text: string): string {
  const usd = /^\d{1,9}(?:\.\d{1,9})?$/.test(text) ? parseUsd(text, '--balance-below') : 0n;
  if (usd <= 0n) throw new InvalidArgumentError('expected an amount in USD, such as 5.00');
  return usd.toString();
}
