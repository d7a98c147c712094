/** Defines the commands for rules of alerts. Sending is in `alerts/`, by the running server. */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { formatNanoUsd } from '../billing/money.ts';
import { isMailAddress } from '../config/file/mail-address.ts';
import type { Secret } from '../lib/secret.ts';
import {
  ALERT_CHANNELS,
  ALERT_EVENTS,
  type AlertEvent,
  type AlertRule,
  OPERATOR_EVENTS,
} from '../store/ports/books/alerts.ts';
import { asRead, givenId } from './arguments.ts';
import { CommandFailure, type CommandRun, type ControlCommand, defineCommand, findAccount } from './command.ts';
import { hookAddress, sealHook } from './hooks.ts';
import { auditChange, OPERATOR_ACCOUNT, refuseStale } from './policy-changes.ts';

/** Bound the deliveries that run at a time. */
const RULES_MAX = 500;
const RULES_PER_ACCOUNT_MAX = 20;
const RECIPIENTS_MAX = 10;
const SHOWN_DELIVERIES = 20;
const HOUR_MS = 3_600_000;
/** Between tests, which send requests to servers of others. */
const TEST_PAUSE_MS = 5_000;

const DAYS = { from: 1n, to: 365n, expected: 'a number of days from 1 to 365' };
/** The thresholds that events accept, and how they are shown. Null: the event has none. */
const THRESHOLDS: Readonly<
  Record<AlertEvent, { readonly from: bigint; readonly to: bigint; readonly expected: string } | null>
> = {
  budget: { from: 1n, to: 100n, expected: 'a percentage from 1 to 100' },
  balance: { from: 1n, to: 10n ** 18n, expected: 'an amount in nano-USD above 0' },
  spend_anomaly: { from: 110n, to: 10_000n, expected: 'a percentage from 110 to 10000' },
  key_expiring: DAYS,
  key_unused: DAYS,
  provider_failing: null,
  credential_refused: null,
  model_retiring: DAYS,
  ledger_trouble: null,
  reconciliation: { from: 1n, to: 100n, expected: 'a percentage from 1 to 100' },
};

const minuteOfDay = z
  .string()
  .regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, 'expected a time of day such as 22:00')
  .transform((text) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3)));

const settings = {
  name: z.string().trim().min(1, 'enter a name').max(100, 'at most 100 characters'),
  threshold: z
    .string()
    .regex(/^\d{1,19}$/, 'expected a whole number')
    .transform(BigInt),
  renotify_hours: z.int().min(1).max(720).nullable(),
  quiet: z.strictObject({ from: minuteOfDay, to: minuteOfDay }).nullable(),
};
const receiver = {
  channel: z.enum(ALERT_CHANNELS),
  url: hookAddress.nullish(),
  /** The recipients of email. */
  to: z.array(z.string().trim()).nullish(),
};

const create = defineCommand(
  z.strictObject({
    account: givenId.default('default'),
    event: z.enum(ALERT_EVENTS),
    ...settings,
    threshold: settings.threshold.default(0n),
    renotify_hours: settings.renotify_hours.default(null),
    quiet: settings.quiet.default(null),
    ...receiver,
  }),
  async (run, given) => {
    const { account, name, event, threshold, channel } = given;
    findAccount(run, account);
    if (OPERATOR_EVENTS.has(event) && account !== OPERATOR_ACCOUNT) {
      throw new CommandFailure(
        `event: found ${event}, which only alerts of the account ${OPERATOR_ACCOUNT} observe; choose another event`,
        'usage',
      );
    }
    const rules = await run.alerts.readRules();
    if (rules.length >= RULES_MAX || rules.filter((one) => one.account === account).length >= RULES_PER_ACCOUNT_MAX) {
      throw new CommandFailure(
        `The account has ${RULES_PER_ACCOUNT_MAX} alerts, or the server ${RULES_MAX}: the maximum. Delete one: tollgate alerts delete ID`,
      );
    }
    checkThreshold(event, threshold);
    const id = `alr_${randomBytes(12).toString('hex')}`;
    const { signing, ...sent } = await chooseReceiver(run, { id, account }, given);
    const nowMs = run.nowMs();
    const rule: AlertRule = {
      ...{ id, account, name, event, threshold, channel },
      ...sent,
      renotifyMs: given.renotify_hours === null ? null : given.renotify_hours * HOUR_MS,
      quietFrom: given.quiet?.from ?? null,
      quietTo: given.quiet?.to ?? null,
      mutedUntilMs: null,
      createdAtMs: nowMs,
      evaluatedAtMs: nowMs,
    };
    await run.alerts.createRule(rule, auditRule(run, rule, null, viewAlert(rule)));
    return { ...viewAlert(rule), signing_secret: signing?.reveal() ?? null };
  },
);

const set = defineCommand(
  z.strictObject({
    id: z.string(),
    name: settings.name.optional(),
    threshold: settings.threshold.optional(),
    renotify_hours: settings.renotify_hours.optional(),
    quiet: settings.quiet.optional(),
    channel: receiver.channel.optional(),
    url: receiver.url,
    to: receiver.to,
    /** Null: no longer muted. */
    muted_until: z.iso.datetime().nullable().optional(),
    before: asRead,
  }),
  async (run, { id, name, threshold, renotify_hours, quiet, channel, url, to, muted_until, before: read }) => {
    const before = await findRule(run, id);
    refuseStale(before.name, viewAlert(before), read);
    if (threshold !== undefined) checkThreshold(before.event, threshold);
    if (channel === undefined && (url !== undefined || to !== undefined)) {
      throw new CommandFailure(
        `channel: found nothing, expected the channel of the ${url === undefined ? 'recipients' : 'url'}`,
        'usage',
      );
    }
    const sent = channel === undefined ? null : await chooseReceiver(run, before, { channel, url, to });
    const rule: AlertRule = {
      ...before,
      name: name ?? before.name,
      threshold: threshold ?? before.threshold,
      ...(channel === undefined || sent === null ? {} : { channel, receiver: sent.receiver, sealed: sent.sealed }),
      renotifyMs:
        renotify_hours === undefined ? before.renotifyMs : renotify_hours === null ? null : renotify_hours * HOUR_MS,
      ...(quiet === undefined ? {} : { quietFrom: quiet?.from ?? null, quietTo: quiet?.to ?? null }),
      mutedUntilMs:
        muted_until === undefined ? before.mutedUntilMs : muted_until === null ? null : Date.parse(muted_until),
    };
    // An address may change within its origin, which is all that is shown of it.
    const after = sent?.sealed == null ? viewAlert(rule) : { ...viewAlert(rule), address: 'replaced' };
    const entries = auditRule(run, rule, viewAlert(before), after);
    if (entries.length > 0) await run.alerts.changeRule(rule, entries);
    return { ...viewAlert(rule), signing_secret: sent?.signing?.reveal() ?? null };
  },
);

function checkThreshold(event: AlertEvent, threshold: bigint): void {
  const range = THRESHOLDS[event];
  const [from, to] = range === null ? [0n, 0n] : [range.from, range.to];
  if (from <= threshold && threshold <= to) return;
  throw new CommandFailure(
    `threshold: found ${threshold}, expected ${range?.expected ?? `none: the event ${event} has no threshold`}`,
    'usage',
  );
}

type Receiver = Pick<AlertRule, 'receiver' | 'sealed'> & { readonly signing: Secret | null };

interface GivenReceiver {
  readonly channel: AlertRule['channel'];
  readonly url?: string | null | undefined;
  readonly to?: readonly string[] | null | undefined;
}

/** Checks where a rule sends to, and seals the address of a webhook, which gets a new secret that signs it. */
async function chooseReceiver(
  run: CommandRun,
  { id, account }: Pick<AlertRule, 'id' | 'account'>,
  { channel, url: text, to }: GivenReceiver,
): Promise<Receiver> {
  if (channel !== 'email' && to != null) {
    throw new CommandFailure(`to: found recipients, expected none for the channel ${channel}`, 'usage');
  }
  if (channel === 'inbox' || channel === 'email') {
    if (text != null)
      throw new CommandFailure(`url: found an address, expected none for the channel ${channel}`, 'usage');
    const receiver = channel === 'inbox' ? '' : await checkRecipients(run, to ?? []);
    return { receiver, sealed: null, signing: null };
  }
  if (text == null) throw new CommandFailure('url: found nothing, expected the address of the webhook', 'usage');
  const hook = await sealHook(run, 'alert rule', { id, account }, text);
  return { ...hook, signing: channel === 'webhook' ? hook.signing : null };
}

async function checkRecipients(run: CommandRun, to: readonly string[]): Promise<string> {
  const bad = to.find((address) => !isMailAddress(address));
  if (bad !== undefined) {
    throw new CommandFailure(
      `to: found ${JSON.stringify(bad.slice(0, 60))}, expected an email address such as ada@example.com`,
      'usage',
    );
  }
  const recipients = [...new Set(to)];
  if (recipients.length === 0 || recipients.length > RECIPIENTS_MAX) {
    throw new CommandFailure(
      `to: found ${recipients.length} recipients, expected 1 to ${RECIPIENTS_MAX} email addresses`,
      'usage',
    );
  }
  // Null: it is not known here.
  const served = await run.routing.served();
  if (served !== null && served.config.server.smtp === null) {
    throw new CommandFailure(
      'channel: found email, which needs a mail server; set server.smtp in the configuration file',
      'usage',
    );
  }
  return recipients.join(', ');
}

const list = defineCommand(z.strictObject({}), async ({ alerts }) =>
  Promise.all(
    (await alerts.readRules()).map(async (rule) => {
      const [last] = await alerts.readDeliveries(rule.id, 1);
      return { ...viewAlert(rule), last_status: last?.status ?? null, last_error: last?.error ?? null };
    }),
  ),
);

const remove = defineCommand(z.strictObject({ id: z.string() }), async (run, { id }) => {
  const rule = await findRule(run, id);
  await run.alerts.deleteRule(id, auditRule(run, rule, viewAlert(rule), null));
  return { id };
});

/** A rule without recipients tells the inbox only. */
const removeRecipient = defineCommand(
  z.strictObject({ account: givenId, address: z.string() }),
  async (run, { account, address }) => {
    for (const before of await run.alerts.readRules()) {
      if (before.account !== account || before.channel !== 'email') continue;
      const left = before.receiver.split(', ').filter((one) => one.toLowerCase() !== address);
      const channel = left.length === 0 ? 'inbox' : 'email';
      const rule: AlertRule = { ...before, channel, receiver: left.join(', ') };
      const entries = auditRule(run, rule, viewAlert(before), viewAlert(rule));
      if (entries.length > 0) await run.alerts.changeRule(rule, entries);
    }
    return {};
  },
);

const sendTest = defineCommand(z.strictObject({ id: z.string() }), async (run, { id }) => {
  const rule = await findRule(run, id);
  const nowMs = run.nowMs();
  if (rule.mutedUntilMs !== null && nowMs < rule.mutedUntilMs) {
    throw new CommandFailure('The alert is muted, so that nothing is sent. Unmute it first.');
  }
  const [last] = await run.alerts.readDeliveries(id, 1);
  if (last !== undefined && nowMs - last.createdAtMs < TEST_PAUSE_MS) {
    throw new CommandFailure(
      'A message was created within the last 5 seconds. Look at its result, or test again soon.',
    );
  }
  const name = `dlv_${randomBytes(16).toString('hex')}`;
  const delivery = {
    ...{ id: name, rule: id, account: rule.account, event: JSON.stringify(['test', name]) },
    text: `This is a test of the alert ${rule.name}.`,
    remedy: null,
    createdAtMs: nowMs,
    status: rule.channel === 'inbox' ? ('delivered' as const) : ('pending' as const),
    ...{ attempts: 0, nextAtMs: nowMs, error: null },
  };
  await run.alerts.enqueue([{ delivery, notAfterMs: null }]);
  return { id: name };
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

/** Renders a rule, without its address and secret. */
export function viewAlert(rule: AlertRule) {
  const { id, account, name, event, threshold, channel, renotifyMs, quietFrom, quietTo, mutedUntilMs } = rule;
  return {
    ...{ id, account, name, event, channel, receiver: rule.receiver },
    threshold: threshold.toString(),
    shown_threshold: showThreshold(event, threshold),
    renotify_hours: renotifyMs === null ? null : renotifyMs / HOUR_MS,
    quiet: quietFrom === null || quietTo === null ? null : { from: showMinute(quietFrom), to: showMinute(quietTo) },
    muted_until: mutedUntilMs === null ? null : new Date(mutedUntilMs).toISOString(),
    created_at: new Date(rule.createdAtMs).toISOString(),
  };
}

function showThreshold(event: AlertEvent, threshold: bigint): string {
  if (event === 'balance') return `${formatNanoUsd(threshold)} USD`;
  const range = THRESHOLDS[event];
  if (range === null) return '';
  return range === DAYS ? `${threshold} days` : `${threshold}%`;
}

function showMinute(minute: number): string {
  return `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;
}

type Shown = (ReturnType<typeof viewAlert> & { readonly address?: string }) | null;

function auditRule(run: CommandRun, { id, account }: AlertRule, before: Shown, after: Shown) {
  return auditChange(run, { account, workspace: null, subject: { kind: 'alert', id }, before, after });
}

export const ALERT_COMMANDS: readonly (readonly [name: string, command: ControlCommand])[] = [
  ['alerts.create', create],
  ['alerts.set', set],
  ['alerts.list', list],
  ['alerts.delete', remove],
  ['alerts.removeRecipient', removeRecipient],
  ['alerts.test', sendTest],
  ['alerts.deliveries', deliveries],
];
