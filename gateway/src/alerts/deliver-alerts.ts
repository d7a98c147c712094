/**
 * Sends due deliveries of alerts to their receivers, at least once, for a day and at least ten times. Each rule sends on
 * its own, one delivery after another, so that a dead receiver delays no other.
 */
import type { Secret } from '../lib/secret.ts';
import type { MailResult, SendMail } from '../mail/mailer.ts';
import {
  type AlertDelivery,
  type AlertRule,
  type AlertStore,
  DELIVERY_PAUSE_MS_MAX,
} from '../store/ports/books/alerts.ts';
import type { Fetch } from '../upstream/guarded-fetch.ts';
import { signPost } from '../upstream/signed-post.ts';
import { isMuted } from './evaluate-alerts.ts';

const BATCH = 50;
const FIRST_PAUSE_MS = 5_000;
const GIVE_UP_AFTER_MS = 86_400_000;
/** Over 40 minutes: while the server was stopped, or the rule muted, the day may have passed without an attempt. */
const ATTEMPTS_MIN = 10;
const TIMEOUT_MS = 10_000;
const ERROR_CHARACTERS_MAX = 200;
const SUBJECT_CHARACTERS_MAX = 140;
const DAY_MINUTES = 1_440;

export interface AlertSender {
  readonly alerts: Pick<AlertStore, 'readRules' | 'readDue' | 'saveAttempt'>;
  /** Reaches public https addresses only and, for rules of the operator, those that the operator trusts. No redirects. */
  fetchFor(rule: AlertRule): Fetch;
  readonly sendMail: SendMail;
  /** Null: they cannot be opened. */
  open(rule: AlertRule): { readonly url: Secret; readonly signing: Secret } | null;
  /** Minutes since midnight in the time zone of the rule's account. */
  minuteOf(rule: AlertRule, nowMs: number): number;
  /** The prefix of the console's pages; null: it is not served. */
  consoleUrl(): string | null;
  nowMs(): number;
}

/** Returns a function that starts to send what is due, and resolves when each rule that it started has paused. */
export function createDelivering(sender: AlertSender): () => Promise<void> {
  const sending = new Set<string>();
  const unsaved = new Map<string, AlertDelivery>();
  return async () => {
    const rules = await sender.alerts.readRules();
    const idle = rules.filter((rule) => !sending.has(rule.id) && maySend(sender, rule));
    await Promise.all(
      idle.map(async ({ id }) => {
        sending.add(id);
        try {
          await sendDue(sender, id, unsaved);
        } finally {
          sending.delete(id);
        }
      }),
    );
  };
}

function maySend(sender: AlertSender, rule: AlertRule): boolean {
  return rule.channel !== 'inbox' && !isMuted(rule, sender.nowMs()) && !isQuiet(sender, rule);
}

function isQuiet(sender: AlertSender, rule: AlertRule): boolean {
  const { quietFrom, quietTo } = rule;
  if (quietFrom === null || quietTo === null) return false;
  const minute = sender.minuteOf(rule, sender.nowMs());
  return quietFrom < quietTo ? quietFrom <= minute && minute < quietTo : quietFrom <= minute || minute < quietTo;
}

/** `unsaved`: deliveries after an attempt that the store did not take, such as while the disk is full. */
async function sendDue(sender: AlertSender, id: string, unsaved: Map<string, AlertDelivery>): Promise<void> {
  for (;;) {
    const due = await sender.alerts.readDue(id, sender.nowMs(), BATCH);
    for (const delivery of due) {
      // A slow receiver gives time to delete or mute the rule, or to remove a recipient.
      const rule = (await sender.alerts.readRules()).find((one) => one.id === id);
      if (rule === undefined || !maySend(sender, rule)) return;
      const after = unsaved.get(delivery.id) ?? (await send(sender, rule, delivery));
      unsaved.set(delivery.id, after);
      await sender.alerts.saveAttempt(after);
      unsaved.delete(delivery.id);
      if (after.status !== 'delivered') return;
    }
    if (due.length < BATCH) return;
  }
}

/** The delivery after an attempt. */
async function send(sender: AlertSender, rule: AlertRule, delivery: AlertDelivery): Promise<AlertDelivery> {
  const { isSent, problem } = await (rule.channel === 'email' ? mail : post)(sender, rule, delivery);
  const after = afterAttempt(delivery, isSent ? null : (problem ?? ''), sender.nowMs(), quietMsOf(rule));
  return isSent ? { ...after, error: problem } : after;
}

/** The delivery after an attempt; `error` null: it succeeded. `quietMs`: the time in a day in which nothing is sent. */
export function afterAttempt(
  delivery: AlertDelivery,
  error: string | null,
  nowMs: number,
  quietMs: number,
): AlertDelivery {
  const attempts = delivery.attempts + 1;
  if (error === null) return { ...delivery, attempts, status: 'delivered', error: null };
  const isOver = attempts >= ATTEMPTS_MIN && nowMs - delivery.createdAtMs >= GIVE_UP_AFTER_MS + quietMs;
  const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(delivery.attempts, 20), DELIVERY_PAUSE_MS_MAX);
  const status = isOver ? 'failed' : 'pending';
  return { ...delivery, attempts, status, nextAtMs: nowMs + pauseMs, error: error.slice(0, ERROR_CHARACTERS_MAX) };
}

function quietMsOf({ quietFrom, quietTo }: AlertRule): number {
  return quietFrom === null || quietTo === null ? 0 : ((quietTo - quietFrom + DAY_MINUTES) % DAY_MINUTES) * 60_000;
}

type Post = (sender: AlertSender, rule: AlertRule, delivery: AlertDelivery) => Promise<MailResult>;

const mail: Post = async (sender, rule, { id, text, remedy, createdAtMs }) => {
  const consoleUrl = sender.consoleUrl();
  const place = consoleUrl === null ? '' : ` Change it on ${consoleUrl}/app/alerts.`;
  return sender.sendMail({
    to: rule.receiver.split(', '),
    subject: text.length > SUBJECT_CHARACTERS_MAX ? `${text.slice(0, SUBJECT_CHARACTERS_MAX)}…` : text,
    paragraphs: [text],
    link: linkOf(remedy, consoleUrl),
    footer: `Sent for the alert “${rule.name}” of the account ${rule.account}.${place}`,
    id,
    createdAtMs,
  });
};

/** A receiver confirms with a status from 200 to 299. */
const post: Post = async (sender, rule, delivery) => {
  const failed = (problem: string) => ({ isSent: false, problem });
  const secrets = sender.open(rule);
  if (secrets === null)
    return failed('The address cannot be decrypted: the master key is another one. Create the rule again.');
  const body = renderBody(rule, delivery, sender.consoleUrl());
  try {
    const reply = await sender.fetchFor(rule)(secrets.url.reveal(), {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'tollgate-delivery': delivery.id,
        ...signPost(secrets.signing, body, sender.nowMs()),
      },
      body,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await reply.body?.cancel();
    return reply.ok ? { isSent: true, problem: null } : failed(`${rule.receiver} answered ${reply.status}`);
  } catch (fault) {
    const message = fault instanceof Error ? fault.message : String(fault);
    return failed(message.replaceAll(secrets.url.reveal(), rule.receiver));
  }
};

function linkOf(remedy: AlertDelivery['remedy'], consoleUrl: string | null) {
  return remedy === null || consoleUrl === null ? null : { label: remedy.label, url: `${consoleUrl}${remedy.page}` };
}

function renderBody(rule: AlertRule, delivery: AlertDelivery, consoleUrl: string | null): string {
  const { id, text, remedy, createdAtMs } = delivery;
  const link = linkOf(remedy, consoleUrl);
  if (rule.channel === 'slack') {
    const action = link === null ? '' : ` <${link.url}|${escapeSlack(link.label)}>`;
    return JSON.stringify({ text: `${escapeSlack(text)}${action}` });
  }
  const { id: ruleId, name, account, event } = rule;
  return JSON.stringify({ id, rule: ruleId, name, account, event, text, remedy: link, created_at_ms: createdAtMs });
}

/** Names in a text must not address a channel: https://docs.slack.dev/messaging/formatting-message-text (2026-11-24). */
function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
