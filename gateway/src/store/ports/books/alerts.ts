/** Defines the store of alerts: the rules of accounts, and the deliveries that are owed to their receivers. */
import type { NewAuditEntry } from '../audit.ts';

/** `budget`: a budget of the account reached a percentage. `balance`: its balance is below an amount. */
export const ALERT_EVENTS = ['budget', 'balance'] as const;
/** `webhook`: signed JSON. `slack`: the body of an incoming webhook of Slack, which others accept too. */
export const ALERT_CHANNELS = ['webhook', 'slack'] as const;

export interface AlertRule {
  readonly id: string;
  readonly account: string;
  readonly name: string;
  readonly event: (typeof ALERT_EVENTS)[number];
  /** Of `budget`: percent. Of `balance`: nano-USD. */
  readonly threshold: bigint;
  readonly channel: (typeof ALERT_CHANNELS)[number];
  /** Of the receiver's address. The address itself may be a secret. */
  readonly origin: string;
  /** The address and the signing secret, sealed for this rule and origin; base64. */
  readonly sealed: string;
  readonly createdAtMs: number;
}

export type DeliveryStatus = 'pending' | 'delivered' | 'failed';

export interface AlertDelivery {
  /** The same for the same event: the receiver recognizes a repeated delivery by it. */
  readonly id: string;
  readonly rule: string;
  /** The sentence. */
  readonly text: string;
  readonly createdAtMs: number;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  /** When to try next, unix ms. */
  readonly nextAtMs: number;
  /** Of the last attempt; null: none failed. */
  readonly error: string | null;
}

export interface AlertStore {
  /** The rules of all accounts, oldest first. */
  readRules(): Promise<readonly AlertRule[]>;
  /** Durable when it resolves. Rejects as a conflict where the id exists. */
  createRule(rule: AlertRule, entries: readonly NewAuditEntry[]): Promise<void>;
  /** Deletes the rule with its deliveries. Rejects as a conflict where it does not exist. */
  deleteRule(id: string, entries: readonly NewAuditEntry[]): Promise<void>;
  /** Adds deliveries, except those whose id is known or whose rule is gone. Durable when it resolves. */
  enqueue(deliveries: readonly AlertDelivery[]): Promise<void>;
  /** The pending deliveries of a rule that are due, the earliest first. */
  readDue(rule: string, nowMs: number, limit: number): Promise<readonly AlertDelivery[]>;
  /** Keeps the result of an attempt. Does nothing where the delivery is gone. */
  saveAttempt(delivery: AlertDelivery): Promise<void>;
  /** The deliveries of a rule, the newest first. */
  readDeliveries(rule: string, limit: number): Promise<readonly AlertDelivery[]>;
  /** Deletes the finished deliveries that were created before then. */
  sweepDeliveries(beforeMs: number): Promise<void>;
}
