/** Defines the commands for rules of alerts. Sending is in `alerts/`, by the running server. */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { formatNanoUsd } from '../billing/money.ts';
import { checkConsoleAddress } from '../config/console-providers.ts';
import { Secret } from '../lib/secret.ts';
import { ALERT_CHANNELS, ALERT_EVENTS, type AlertRule } from '../store/ports/books/alerts.ts';
import { givenId } from './arguments.ts';
import { CommandFailure, type CommandRun, type ControlCommand, defineCommand, findAccount } from './command.ts';
import { auditChange } from './policy-changes.ts';

/** Bounds the deliveries that run at a time. */
const RULES_MAX = 50;
const SHOWN_DELIVERIES = 20;

const create = defineCommand(
  z.strictObject({
    account: givenId.default('default'),
    name: z.string().min(1).max(100),
    event: z.enum(ALERT_EVENTS),
    threshold: z
      .string()
      .regex(/^[1-9]\d{0,17}$/)
      .transform(BigInt),
    channel: z.enum(ALERT_CHANNELS),
    url: z.url({ protocol: /^https?$/ }).max(2_000),
  }),
  async (run, { url: text, ...given }) => {
    findAccount(run, given.account);
    if ((await run.alerts.readRules()).length >= RULES_MAX) {
      throw new CommandFailure(`There are ${RULES_MAX} rules, the maximum. Delete one: tollgate alerts delete ID`);
    }
    const url = new URL(text);
    if (url.username !== '' || url.password !== '') {
      throw new CommandFailure('url: found a user name or password, expected an address without them', 'usage');
    }
    const served = await run.routing.served();
    const fault = checkConsoleAddress({ url: text, origin: url.origin }, served?.config.server.privateOrigins ?? []);
    if (fault !== null) {
      throw new CommandFailure(`url: found ${fault.found}, expected ${fault.expected}. ${fault.advice}`, 'usage');
    }
    const id = `alr_${randomBytes(12).toString('hex')}`;
    const signing = new Secret(`whsec_${randomBytes(32).toString('hex')}`);
    const sealed = run.routing.seal({ provider: ALERT_BINDING, name: id }, url.origin, {
      url: new Secret(text),
      signing,
    });
    const rule: AlertRule = { ...given, id, origin: url.origin, sealed, createdAtMs: run.nowMs() };
    const entries = auditRule(run, rule, null, viewRule(rule));
    await run.alerts.createRule(rule, entries);
    return { ...viewRule(rule), signing_secret: signing.reveal() };
  },
);

/** No provider has a name with a space, so nothing else is sealed for it. */
export const ALERT_BINDING = 'alert rule';

const list = defineCommand(z.strictObject({}), async ({ alerts }) =>
  Promise.all(
    (await alerts.readRules()).map(async (rule) => {
      const [last] = await alerts.readDeliveries(rule.id, 1);
      return { ...viewRule(rule), last_status: last?.status ?? null, last_error: last?.error ?? null };
    }),
  ),
);

const remove = defineCommand(z.strictObject({ id: z.string() }), async (run, { id }) => {
  const rule = await findRule(run, id);
  await run.alerts.deleteRule(id, auditRule(run, rule, viewRule(rule), null));
  return { id };
});

const sendTest = defineCommand(z.strictObject({ id: z.string() }), async (run, { id }) => {
  const rule = await findRule(run, id);
  const nowMs = run.nowMs();
  const delivery = `dlv_${randomBytes(16).toString('hex')}`;
  const text = `This is a test of the alert ${rule.name}.`;
  const row = { id: delivery, rule: id, text, createdAtMs: nowMs, nextAtMs: nowMs, attempts: 0, error: null };
  await run.alerts.enqueue([{ ...row, status: 'pending' }]);
  return { id: delivery };
});

const deliveries = defineCommand(z.strictObject({ id: z.string() }), async (run, { id }) => {
  await findRule(run, id);
  return (await run.alerts.readDeliveries(id, SHOWN_DELIVERIES)).map((one) => ({
    id: one.id,
    created_at: new Date(one.createdAtMs).toISOString(),
    status: one.status,
    attempts: one.attempts,
    error: one.error,
    text: one.text,
  }));
});

async function findRule({ alerts }: CommandRun, id: string): Promise<AlertRule> {
  const rule = (await alerts.readRules()).find((one) => one.id === id);
  if (rule === undefined) {
    throw new CommandFailure(
      `There is no alert with the id ${JSON.stringify(id.slice(0, 60))}. List them: tollgate alerts list`,
    );
  }
  return rule;
}

function viewRule({ id, account, name, event, threshold, channel, origin }: AlertRule) {
  const limit = event === 'budget' ? `${threshold}%` : `${formatNanoUsd(threshold)} USD`;
  return { id, account, name, event, threshold: limit, channel, receiver: origin };
}

type Shown = ReturnType<typeof viewRule> | null;

function auditRule(run: CommandRun, { id, account }: AlertRule, before: Shown, after: Shown) {
  return auditChange(run, { account, workspace: null, subject: { kind: 'alert', id }, before, after });
}

export const ALERT_COMMANDS: readonly (readonly [name: string, command: ControlCommand])[] = [
  ['alerts.create', create],
  ['alerts.list', list],
  ['alerts.delete', remove],
  ['alerts.test', sendTest],
  ['alerts.deliveries', deliveries],
];
