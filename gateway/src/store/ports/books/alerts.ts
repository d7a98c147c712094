/** Defines the store of alerts: the rules of accounts, what they found, and the deliveries owed to receivers. */
import type { NewAuditEntry } from '../audit.ts';

/** The longest pause before a delivery is tried again. */
export const DELIVERY_PAUSE_MS_MAX = 3_600_000;

/** What a rule observes. `threshold` of a rule is in the unit of its event. */
export const ALERT_EVENTS = [
  /** A budget of the account, its workspaces, keys or end users reached a percentage. */
  'budget',
  /** The balance of the prepaid account is below an amount, nano-USD. */
  'balance',
  /** The spend of the day passed a percentage of the usual of this weekday. */
  'spend_anomaly',
  /** A key expires within a number of days. */
  'key_expiring',
  /** An active key was not used for a number of days. */
  'key_unused',
  /** A provider fails. */
  'provider_failing',
  /** A provider refuses a credential, or its quota is used up. */
  'credential_refused',
  /** A model that is served shuts down at its provider within a number of days. */
  'model_retiring',
  /** The journal or the database takes no writes. */
  'ledger_trouble',
  /** An invoice of a provider differs from the records by more than a percentage, on a day and model. */
  'reconciliation',
] as const;
export type AlertEvent = (typeof ALERT_EVENTS)[number];
/** Only rules of the operator's account observe them. */
export const OPERATOR_EVENTS: ReadonlySet<AlertEvent> = new Set([
  'provider_failing',
  'credential_refused',
  'model_retiring',
  'ledger_trouble',
  'reconciliation',
]);

/**
 * `inbox`: in the console only, where the alerts of the other channels appear too. `webhook`: signed JSON. `slack`: the
 * body of an incoming webhook of Slack, which others accept too. `email`: through the configured SMTP server.
 */
export const ALERT_CHANNELS = ['inbox', 'webhook', 'slack', 'email'] as const;
export type AlertChannel = (typeof ALERT_CHANNELS)[number];

export interface AlertRule {
  readonly id: string;
  readonly account: string;
  readonly name: string;
  readonly event: AlertEvent;
  /** In the unit of the event; 0 where it has none. */
  readonly threshold: bigint;
  readonly channel: AlertChannel;
  /**
   * Of a webhook: the origin of its address, which may be a secret as a whole. Of email: the addresses, joined by `, `.
   * Else empty.
   */
  readonly receiver: string;
  /** The address and the signing secret, sealed for this rule and origin; base64. Null: not a webhook. */
  readonly sealed: string | null;
  /** Reports an event that lasts again after this long; null: the default of the event. */
  readonly renotifyMs: number | null;
  /** Minutes of the day in the account's time zone, between which nothing is sent; both null: always sent. */
  readonly quietFrom: number | null;
  readonly quietTo: number | null;
  /** Neither observed nor sent until then, unix ms; null: not muted. */
  readonly mutedUntilMs: number | null;
  readonly createdAtMs: number;
  /** Changed by `saveEvaluated` only. */
  readonly evaluatedAtMs: number;
}

export type DeliveryStatus = 'pending' | 'delivered' | 'failed';

/** The page of the console that mends it. */
export interface AlertRemedy {
  readonly label: string;
  readonly page: string;
}

export interface AlertDelivery {
  /** The receiver recognizes a repeated delivery by it. */
  readonly id: string;
  readonly rule: string;
  readonly account: string;
  /** Identifies what happened, within the rule. */
  readonly event: string;
  /** The sentence. */
  readonly text: string;
  readonly remedy: AlertRemedy | null;
  readonly createdAtMs: number;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  /** When to try next, unix ms. */
  readonly nextAtMs: number;
  /** Of the last attempt; null: none failed. */
  readonly error: string | null;
}

/** A delivery, unless the same event has one that was created after `notAfterMs`; null: unless it has one at all. */
export interface FoundAlert {
  readonly delivery: AlertDelivery;
  readonly notAfterMs: number | null;
}

export interface AlertStore {
  /** The rules of all accounts, oldest first. */
  readRules(): Promise<readonly AlertRule[]>;
  /** Durable when it resolves. Rejects as a conflict where the id exists. */
  createRule(rule: AlertRule, entries: readonly NewAuditEntry[]): Promise<void>;
  /**
   * Replaces all but its account and times. If it only tells the inbox now, its pending deliveries are delivered: that is
   * where they are. Rejects as a conflict where it does not exist.
   */
  changeRule(rule: AlertRule, entries: readonly NewAuditEntry[]): Promise<void>;
  /** Deletes the rule with its deliveries. Rejects as a conflict where it does not exist. */
  deleteRule(id: string, entries: readonly NewAuditEntry[]): Promise<void>;
  /** Keeps that all rules were evaluated then. */
  saveEvaluated(atMs: number): Promise<void>;
  /**
   * Adds deliveries, except those whose id is known or whose rule is gone; those of a rule that only tells the inbox are
   * delivered. Durable when it resolves.
   */
  enqueue(found: readonly FoundAlert[]): Promise<void>;
  /**
   * The pending deliveries of a rule that are due, the earliest first. One that is due after the longest pause was saved
   * before the clock was set back: it is due too.
   */
  readDue(rule: string, nowMs: number, limit: number): Promise<readonly AlertDelivery[]>;
  /** Keeps the result of an attempt. Does nothing where the delivery is gone. */
  saveAttempt(delivery: AlertDelivery): Promise<void>;
  /** The deliveries of a rule, the newest first. */
  readDeliveries(rule: string, limit: number): Promise<readonly AlertDelivery[]>;
  /** The deliveries of all rules of an account, the newest first. */
  readInbox(account: string, limit: number): Promise<readonly AlertDelivery[]>;
  /** Until when a person has seen the deliveries of an account, unix ms; 0: never. */
  readSeen(account: string, person: string): Promise<number>;
  /** The number of an account's deliveries that a person has not seen: those created after their mark. */
  countUnseen(account: string, person: string): Promise<number>;
  /** Marks what was created until then as seen. A mark never goes back. */
  saveSeen(account: string, person: string, atMs: number): Promise<void>;
  /** Deletes the finished deliveries that were created before then. */
  sweepDeliveries(beforeMs: number): Promise<void>;
}
