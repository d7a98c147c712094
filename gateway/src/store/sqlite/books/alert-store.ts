/** Implements the port of alerts over the database. */
import { type Kysely, sql } from 'kysely';
import {
  type AlertDelivery,
  type AlertRule,
  type AlertStore,
  DELIVERY_PAUSE_MS_MAX,
} from '../../ports/books/alerts.ts';
import type { Tables } from '../database/sqlite-dialect.ts';
import { auditStatement } from '../policy/audit-trail.ts';
import { deleteRow, insertRow, readRows, type StoredTable, updateRow } from '../policy/table-rows.ts';
import type { Writer } from '../writer/writer.ts';

const RULES: StoredTable<AlertRule> = {
  name: 'alert_rule',
  key: ['id'],
  fixed: ['account', 'createdAtMs', 'evaluatedAtMs'],
  members: {
    id: 'plain',
    account: 'plain',
    name: 'plain',
    event: 'plain',
    threshold: 'amount',
    channel: 'plain',
    receiver: 'plain',
    sealed: 'plain',
    renotifyMs: 'plain',
    quietFrom: 'plain',
    quietTo: 'plain',
    mutedUntilMs: 'plain',
    createdAtMs: 'plain',
    evaluatedAtMs: 'plain',
  },
};

const DELIVERIES: StoredTable<AlertDelivery> = {
  name: 'alert_delivery',
  key: ['id'],
  fixed: ['rule', 'account', 'event', 'text', 'remedy', 'createdAtMs'],
  members: {
    id: 'plain',
    rule: 'plain',
    account: 'plain',
    event: 'plain',
    text: 'plain',
    remedy: 'json',
    createdAtMs: 'plain',
    status: 'plain',
    attempts: 'plain',
    nextAtMs: 'plain',
    error: 'plain',
  },
};

const NEWEST = 'created_at_ms DESC, id';

export function createAlertStore(queries: Kysely<Tables>, writer: Pick<Writer, 'write'>): AlertStore {
  async function readSeen(account: string, person: string): Promise<number> {
    const { rows } = await sql<{ readonly seen: number }>`SELECT seen_at_ms AS seen FROM alert_seen
      WHERE account = ${account} AND person = ${person}`.execute(queries);
    return rows[0]?.seen ?? 0;
  }

  return {
    readRules: () => readRows(queries, RULES, 'created_at_ms, id'),
    createRule: (rule, entries) => writer.write([insertRow(RULES, rule), ...entries.map(auditStatement)]),
    changeRule: (rule, entries) =>
      writer.write([updateRow(RULES, rule), endPendingOfInbox(rule.id), ...entries.map(auditStatement)]),
    deleteRule: (id, entries) =>
      writer.write([
        { sql: 'DELETE FROM alert_delivery WHERE rule = ?', parameters: [id], changes: null },
        deleteRow(RULES, [id]),
        ...entries.map(auditStatement),
      ]),
    saveEvaluated: (atMs) =>
      writer.write([
        {
          sql: 'UPDATE alert_rule SET evaluated_at_ms = ? WHERE evaluated_at_ms < ?',
          parameters: [atMs, atMs],
          changes: null,
        },
      ]),
    async enqueue(found) {
      const statements = found.map(({ delivery, notAfterMs }) => {
        const { id, rule, event, text, remedy, createdAtMs, status, attempts, nextAtMs, error } = delivery;
        const shownRemedy = remedy === null ? null : JSON.stringify(remedy);
        return {
          sql: `INSERT INTO alert_delivery
              (id, rule, account, event, text, remedy, created_at_ms, status, attempts, next_at_ms, error)
            SELECT ?, id, account, ?, ?, ?, ?, iif(channel = 'inbox', 'delivered', ?), ?, ?, ? FROM alert_rule WHERE id = ?
              AND NOT EXISTS (SELECT 1 FROM alert_delivery WHERE rule = ? AND event = ? AND created_at_ms > ?)
            ON CONFLICT (id) DO NOTHING`,
          parameters: [
            ...[id, event, text, shownRemedy, createdAtMs, status, attempts, nextAtMs, error, rule],
            ...[rule, event, notAfterMs ?? -1],
          ],
          changes: null,
        };
      });
      if (statements.length > 0) await writer.write(statements);
    },
    readDue: (rule, nowMs, limit) =>
      readRows(
        queries,
        DELIVERIES,
        sqlLimit('next_at_ms, id', limit),
        sql`rule = ${rule} AND status = 'pending'
          AND next_at_ms NOT BETWEEN ${nowMs + 1} AND ${nowMs + DELIVERY_PAUSE_MS_MAX}`,
      ),
    saveAttempt: (delivery) =>
      writer.write([{ ...updateRow(DELIVERIES, delivery), changes: null }, endPendingOfInbox(delivery.rule)]),
    readDeliveries: (rule, limit) => readRows(queries, DELIVERIES, sqlLimit(NEWEST, limit), sql`rule = ${rule}`),
    readInbox: (account, limit) => readRows(queries, DELIVERIES, sqlLimit(NEWEST, limit), sql`account = ${account}`),
    readSeen,
    async countUnseen(account, person) {
      const seenAtMs = await readSeen(account, person);
      const { rows } = await sql<{ readonly unseen: number }>`SELECT count(*) AS unseen FROM alert_delivery
        WHERE account = ${account} AND created_at_ms > ${seenAtMs}`.execute(queries);
      return rows[0]?.unseen ?? 0;
    },
    saveSeen: (account, person, atMs) =>
      writer.write([
        {
          sql: `INSERT INTO alert_seen (account, person, seen_at_ms) VALUES (?, ?, ?)
            ON CONFLICT (account, person) DO UPDATE SET seen_at_ms = max(seen_at_ms, excluded.seen_at_ms)`,
          parameters: [account, person, atMs],
          changes: null,
        },
      ]),
    sweepDeliveries: (beforeMs) =>
      writer.write([
        {
          sql: "DELETE FROM alert_delivery WHERE status <> 'pending' AND created_at_ms < ?",
          parameters: [beforeMs],
          changes: null,
        },
      ]),
  };
}

/** Where a rule only tells the inbox, what it still owed a receiver is delivered. */
function endPendingOfInbox(rule: string) {
  return {
    sql: `UPDATE alert_delivery SET status = 'delivered' WHERE rule = ? AND status = 'pending'
      AND (SELECT channel FROM alert_rule WHERE id = ?) = 'inbox'`,
    parameters: [rule, rule],
    changes: null,
  };
}

function sqlLimit(order: string, limit: number): string {
  return `${order} LIMIT ${Math.trunc(limit)}`;
}
