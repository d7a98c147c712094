/** Implements the port of reconciliations, and reads the records of calls at providers, over the database. */
import { type Kysely, sql } from 'kysely';
import { requestIdFloor } from '../../../lib/request-id.ts';
import type {
  Finding,
  ProviderCallReader,
  ReconciledDay,
  Reconciliation,
  ReconciliationReader,
  ReconciliationStore,
  ReconciliationSummary,
} from '../../ports/books/reconciliation.ts';
import type { Tables } from '../database/sqlite-dialect.ts';
import { callRecordOfRow } from '../ledger/call-record-row.ts';
import { auditStatement } from '../policy/audit-trail.ts';
import { insertRow, readRows, type StoredTable } from '../policy/table-rows.ts';
import type { Writer } from '../writer/writer.ts';

type Row<Item> = Item & { readonly reconciliation: string; readonly seq: number };

const SUMMARIES: StoredTable<ReconciliationSummary> = {
  name: 'reconciliation',
  key: ['id'],
  fixed: [],
  members: {
    id: 'plain',
    providers: 'plain',
    format: 'plain',
    file: 'plain',
    importedAtMs: 'plain',
    firstDay: 'plain',
    lastDay: 'plain',
    timeZone: 'plain',
    lines: 'plain',
    billed: 'amount',
    recorded: 'amount',
    explained: 'amount',
    findings: 'plain',
  },
};

const DAYS: StoredTable<Row<ReconciledDay>> = {
  name: 'reconciliation_day',
  key: ['reconciliation', 'seq'],
  fixed: [],
  members: {
    reconciliation: 'plain',
    seq: 'plain',
    day: 'plain',
    model: 'plain',
    billedRequests: 'plain',
    recordedRequests: 'plain',
    billed: 'amount',
    recorded: 'amount',
    explained: 'amount',
  },
};

const FINDINGS: StoredTable<Row<Finding>> = {
  name: 'reconciliation_finding',
  key: ['reconciliation', 'seq'],
  fixed: [],
  members: {
    reconciliation: 'plain',
    seq: 'plain',
    day: 'plain',
    model: 'plain',
    cause: 'plain',
    amount: 'amount',
    count: 'plain',
    requestId: 'plain',
    attempt: 'plain',
    providerRequestId: 'plain',
    detail: 'plain',
  },
};

const PAGE = 1_000;

export function createReconciliationStore(queries: Kysely<Tables>, writer: Pick<Writer, 'write'>): ReconciliationStore {
  return {
    save({ days, list, ...summary }, entry) {
      const { id } = summary;
      return writer.write([
        { sql: 'DELETE FROM reconciliation_day WHERE reconciliation = ?', parameters: [id], changes: null },
        { sql: 'DELETE FROM reconciliation_finding WHERE reconciliation = ?', parameters: [id], changes: null },
        { sql: 'DELETE FROM reconciliation WHERE id = ?', parameters: [id], changes: null },
        insertRow(SUMMARIES, summary),
        ...days.map((day, seq) => insertRow(DAYS, { ...day, reconciliation: id, seq })),
        ...list.map((finding, seq) => insertRow(FINDINGS, { ...finding, reconciliation: id, seq })),
        auditStatement(entry),
      ]);
    },
    ...createReconciliationReader(queries),
  };
}

/** The read half of the port. */
export function createReconciliationReader(queries: Kysely<Tables>): ReconciliationReader {
  return {
    list: async (limit) => (await readRows(queries, SUMMARIES, 'imported_at_ms DESC, id')).slice(0, limit),
    async read(id) {
      const [summary] = await readRows(queries, SUMMARIES, 'id', sql`id = ${id}`);
      if (summary === undefined) return null;
      const own = sql`reconciliation = ${id}`;
      const [days, list] = await Promise.all([
        readRows(queries, DAYS, 'seq', own),
        readRows(queries, FINDINGS, 'seq', own),
      ]);
      return { ...summary, days: days.map(withoutPlace), list: list.map(withoutPlace) } satisfies Reconciliation;
    },
  };
}

function withoutPlace<Item>({ reconciliation: _, seq: __, ...item }: Row<Item>): Item {
  return item as Item;
}

export function createProviderCallReader(queries: Kysely<Tables>): ProviderCallReader {
  return {
    async readProviderCalls({ providers, fromMs, toMs, after }) {
      const rows = await queries
        .selectFrom('call_record')
        .selectAll()
        // As text: beyond 2^53 a number would silently lose its last digits.
        .select(sql<string | null>`cast(cost_nano_usd as text)`.as('cost_nano_usd'))
        .where('request_id', '>', after ?? requestIdFloor(fromMs))
        .where('request_id', '<', requestIdFloor(toMs))
        .where(
          sql<boolean>`(provider IN (SELECT value FROM json_each(${JSON.stringify(providers)}))
            OR EXISTS (SELECT 1 FROM json_each(attempts) WHERE value ->> '$.provider' IN (SELECT value FROM json_each(${JSON.stringify(providers)}))))`,
        )
        .orderBy('request_id')
        .limit(PAGE)
        .execute();
      return rows.map(callRecordOfRow);
    },
  };
}
