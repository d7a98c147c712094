/** Builds the delivery of something that a rule found. */
import { createHash } from 'node:crypto';
import { formatNanoUsd } from '../billing/money.ts';
import type { AlertRemedy, AlertRule, FoundAlert } from '../store/ports/books/alerts.ts';

export const DAY_MS = 86_400_000;

/** `2026-11-25 00:00 UTC`. */
export function shownTime(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** Nano-USD: `$0.50`, with all digits, at least two decimals. */
export function shownUsd(amount: bigint): string {
  const [whole = '', fraction = ''] = formatNanoUsd(amount).split('.');
  return `${whole.startsWith('-') ? '-' : ''}$${whole.replace('-', '')}.${fraction.padEnd(2, '0')}`;
}

interface Finding {
  /** Identifies what happened, within the rule. */
  readonly event: readonly (string | number | bigint)[];
  readonly text: string;
  readonly remedy: AlertRemedy;
  /** Reports it again if it lasts this long and the rule says nothing else; null: once. */
  readonly repeatMs: number | null;
}

/** The rule for what has ended: it does not last, so it is not reported again. */
export function once(rule: AlertRule): AlertRule {
  return { ...rule, renotifyMs: null };
}

/** The id follows from rule, event and time of repetition, so that finding it again after a crash gives the same id. */
export function foundAlert(rule: AlertRule, { event, text, remedy, repeatMs }: Finding, nowMs: number): FoundAlert {
  const againMs = rule.renotifyMs ?? repeatMs;
  const name = JSON.stringify(event.map(String));
  const turn = againMs === null ? 0 : Math.floor(nowMs / againMs);
  const digest = createHash('sha256').update(JSON.stringify([rule.id, name, turn]));
  return {
    delivery: {
      id: `dlv_${digest.digest('hex').slice(0, 32)}`,
      rule: rule.id,
      account: rule.account,
      event: name,
      text,
      remedy,
      createdAtMs: nowMs,
      status: rule.channel === 'inbox' ? 'delivered' : 'pending',
      attempts: 0,
      nextAtMs: nowMs,
      error: null,
    },
    notAfterMs: againMs === null ? null : nowMs - againMs,
  };
}
