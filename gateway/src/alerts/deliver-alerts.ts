/**
 * Sends due deliveries of alerts to their receivers, at least once, for up to a day. Each rule sends on its own, one
 * delivery after another, so that a dead receiver delays no other.
 */
import { createHmac } from 'node:crypto';
import type { Secret } from '../lib/secret.ts';
import type { AlertDelivery, AlertRule, AlertStore } from '../store/ports/books/alerts.ts';
import type { Fetch } from '../upstream/guarded-fetch.ts';

const BATCH = 50;
const FIRST_PAUSE_MS = 5_000;
const PAUSE_MS_MAX = 3_600_000;
const GIVE_UP_AFTER_MS = 86_400_000;
const TIMEOUT_MS = 10_000;
const ERROR_CHARACTERS_MAX = 200;

export interface AlertSender {
  readonly alerts: Pick<AlertStore, 'readRules' | 'readDue' | 'saveAttempt'>;
  /** Reaches public https addresses only, and those that the operator trusts. Follows no redirects. */
  readonly fetch: Fetch;
  /** Null: they cannot be opened. */
  open(rule: AlertRule): { readonly url: Secret; readonly signing: Secret } | null;
  nowMs(): number;
}

/** Returns a function that starts to send what is due, and resolves when each rule that it started has paused. */
export function createDelivering(sender: AlertSender): () => Promise<void> {
  const sending = new Set<string>();
  return async () => {
    const idle = (await sender.alerts.readRules()).filter(({ id }) => !sending.has(id));
    await Promise.all(
      idle.map(async (rule) => {
        sending.add(rule.id);
        try {
          await sendDue(sender, rule);
        } finally {
          sending.delete(rule.id);
        }
      }),
    );
  };
}

async function sendDue(sender: AlertSender, rule: AlertRule): Promise<void> {
  for (;;) {
    const due = await sender.alerts.readDue(rule.id, sender.nowMs(), BATCH);
    for (const delivery of due) {
      const error = await send(sender, rule, delivery);
      await sender.alerts.saveAttempt(afterAttempt(delivery, error, sender.nowMs()));
      if (error !== null) return;
    }
    if (due.length < BATCH) return;
  }
}

/** The delivery after an attempt; `error` null: it succeeded. */
export function afterAttempt(delivery: AlertDelivery, error: string | null, nowMs: number): AlertDelivery {
  const attempts = delivery.attempts + 1;
  if (error === null) return { ...delivery, attempts, status: 'delivered', error: null };
  const status = nowMs - delivery.createdAtMs >= GIVE_UP_AFTER_MS ? 'failed' : 'pending';
  const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(delivery.attempts, 20), PAUSE_MS_MAX);
  return { ...delivery, attempts, status, nextAtMs: nowMs + pauseMs, error: error.slice(0, ERROR_CHARACTERS_MAX) };
}

/** Null: the receiver confirmed it with a status from 200 to 299. */
async function send(sender: AlertSender, rule: AlertRule, delivery: AlertDelivery): Promise<string | null> {
  const secrets = sender.open(rule);
  if (secrets === null) return 'The address cannot be decrypted: the master key is another one. Create the rule again.';
  const { id, text, createdAtMs } = delivery;
  const body =
    rule.channel === 'slack'
      ? JSON.stringify({ text })
      : JSON.stringify({ id, rule: rule.id, name: rule.name, account: rule.account, text, created_at_ms: createdAtMs });
  const timestamp = Math.floor(sender.nowMs() / 1_000).toString();
  const signature = createHmac('sha256', secrets.signing.reveal()).update(`${timestamp}.${body}`).digest('hex');
  try {
    const reply = await sender.fetch(secrets.url.reveal(), {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'tollgate-delivery': id,
        'tollgate-timestamp': timestamp,
        'tollgate-signature': `sha256=${signature}`,
      },
      body,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await reply.body?.cancel();
    return reply.ok ? null : `${rule.origin} answered ${reply.status}`;
  } catch (fault) {
    const message = fault instanceof Error ? fault.message : String(fault);
    return message.replaceAll(secrets.url.reveal(), rule.origin);
  }
}
