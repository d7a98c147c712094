/** Implements the port of alerts over the database. */
import { type Kysely, sql } from 'kysely';
import type { AlertDelivery, AlertRule, AlertStore } from '../../ports/books/alerts.ts';
import type { Tables } from '../database/sqlite-dialect.ts';
import { auditStatement } from '../policy/audit-trail.ts';
import { deleteRow, insertRow, readRows, type StoredTable, updateRow } from '../policy/table-rows.ts';
import type { Writer } from '../writer/writer.ts';

const RULES: StoredTable<AlertRule> = {
  name: 'alert_rule',
  key: ['id'],
  fixed: [],
  members: {
    id: 'plain',
    account: 'plain',
    name: 'plain',
    event: 'plain',
    threshold: 'amount',
    channel: 'plain',
    origin: 'plain',
    sealed: 'plain',
    createdAtMs: 'plain',
  },
};

const DELIVERIES: StoredTable<AlertDelivery> = {
  name: 'alert_delivery',
  key: ['id'],
  fixed: ['rule', 'text', 'createdAtMs'],
  members: {
    id: 'plain',
    rule: 'plain',
    text: 'plain',
    createdAtMs: 'plain',
    status: 'plain',
    attempts: 'plain',
    nextAtMs: 'plain',
    error: 'plain',
  },
};

export function createAlertStore(queries: Kysely<Tables>, writer: Pick<Writer, 'write'>): AlertStore {
  return {
    readRules: () => readRows(queries, RULES, 'created_at_ms, id'),
    createRule: (rule, entries) => writer.write([insertRow(RULES, rule), ...entries.map(auditStatement)]),
    deleteRule: (id, entries) =>
      writer.write([
        { sql: 'DELETE FROM alert_delivery WHERE rule = ?', parameters: [id], changes: null },
        deleteRow(RULES, [id]),
        ...entries.map(auditStatement),
      ]),
    async enqueue(deliveries) {
      const statements = deliveries.map(({ id, rule, text, createdAtMs, status, attempts, nextAtMs, error }) => ({
        sql: `INSERT INTO alert_delivery (id, rule, text, created_at_ms, status, attempts, next_at_ms, error)
          SELECT ?, id, ?, ?, ?, ?, ?, ? FROM alert_rule WHERE id = ? ON CONFLICT (id) DO NOTHING`,
        parameters: [id, text, createdAtMs, status, attempts, nextAtMs, error, rule],
        changes: null,
      }));
      if (statements.length > 0) await writer.write(statements);
    },
    readDue: (rule, nowMs, limit) =>
      readRows(
        queries,
        DELIVERIES,
        sqlLimit('next_at_ms, id', limit),
        sql`rule = ${rule} AND status = 'pending' AND next_at_ms <= ${nowMs}`,
      ),
    saveAttempt: (delivery) => writer.write([{ ...updateRow(DELIVERIES, delivery), changes: null }]),
    readDeliveries: (rule, limit) =>
      readRows(queries, DELIVERIES, sqlLimit('created_at_ms DESC, id', limit), sql`rule = ${rule}`),
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

function sqlLimit(order: string, limit: number): string {
  return `${order} LIMIT ${Math.trunc(limit)}`;
}
