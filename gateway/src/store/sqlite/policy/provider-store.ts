/**
 * Stores operators' entries (providers, credentials, routes, prices), the results of provider tests, and when keys were
 * last used.
 */

import { type Kysely, sql } from 'kysely';
import { requestIdFloor } from '../../../lib/request-id.ts';
import type {
  EnteredReader,
  ProviderChange,
  ProviderStore,
  StoredCredential,
  StoredOutOfRotation,
  StoredPrice,
  StoredProvider,
  StoredProviderTest,
  StoredRoute,
} from '../../ports/providers.ts';
import type { KeyUseStore, StoredKeyUse } from '../../ports/records.ts';
import type { Tables } from '../database/sqlite-dialect.ts';
import type { Writer } from '../writer/writer.ts';
import type { WriteStatement } from '../writer/writer-messages.ts';
import { auditStatement } from './audit-trail.ts';
import { deleteRow, insertRow, readRows, type StoredTable, updateRow, upsertRow } from './table-rows.ts';

const PROVIDERS: StoredTable<StoredProvider> = {
  name: 'provider_entry',
  key: ['name'],
  fixed: ['createdAtMs'],
  members: {
    name: 'plain',
    kind: 'plain',
    baseUrl: 'plain',
    settings: 'json',
    models: 'json',
    createdAtMs: 'plain',
    updatedAtMs: 'plain',
  },
};

const CREDENTIALS: StoredTable<StoredCredential> = {
  name: 'provider_credential',
  key: ['provider', 'name'],
  fixed: ['createdAtMs'],
  members: {
    provider: 'plain',
    name: 'plain',
    sealed: 'plain',
    last4: 'plain',
    weight: 'plain',
    organisation: 'plain',
    models: 'json',
    createdAtMs: 'plain',
    updatedAtMs: 'plain',
  },
};

const ROUTES: StoredTable<StoredRoute> = {
  name: 'route_entry',
  key: ['model'],
  fixed: ['createdAtMs'],
  members: { model: 'plain', definition: 'json', createdAtMs: 'plain', updatedAtMs: 'plain' },
};

const OUT_OF_ROTATION: StoredTable<StoredOutOfRotation> = {
  name: 'out_of_rotation',
  key: ['kind', 'owner', 'name'],
  fixed: ['sinceMs'],
  members: { kind: 'plain', owner: 'plain', name: 'plain', sinceMs: 'plain' },
};

const TESTS: StoredTable<StoredProviderTest> = {
  name: 'provider_test',
  key: ['provider'],
  fixed: [],
  members: {
    provider: 'plain',
    origin: 'plain',
    atMs: 'plain',
    ok: 'flag',
    message: 'plain',
    durationMs: 'plain',
  },
};

/** The table's own key is the order of creation. */
const PRICES: StoredTable<StoredPrice> = {
  name: 'model_price',
  key: [],
  fixed: [],
  members: { model: 'plain', fromMs: 'plain', rates: 'json', createdBy: 'plain', createdAtMs: 'plain' },
};

/** The part of the port that another process reads too. */
export function createEnteredReader(queries: Kysely<Tables>): EnteredReader {
  return {
    readProviders: () => readRows(queries, PROVIDERS, 'created_at_ms, name'),
    readCredentials: () => readRows(queries, CREDENTIALS, 'provider, created_at_ms, name'),
    readRoutes: () => readRows(queries, ROUTES, 'created_at_ms, model'),
    readOutOfRotation: () => readRows(queries, OUT_OF_ROTATION, 'kind, owner, name'),
  };
}

export function createProviderStore(queries: Kysely<Tables>, writer: Pick<Writer, 'write'>): ProviderStore {
  return {
    ...createEnteredReader(queries),
    readTests: () => readRows(queries, TESTS, 'provider'),
    readPrices: () => readRows(queries, PRICES, 'seq'),
    save: (changes, entries = []) => writer.write([...changes.map(statementOf), ...entries.map(auditStatement)]),
  };
}

function statementOf(change: ProviderChange): WriteStatement {
  switch (change.of) {
    case 'provider':
      if ('removed' in change) return deleteRow(PROVIDERS, [change.removed]);
      return putRow(PROVIDERS, change.provider, change.isNew);
    case 'credential':
      if ('removed' in change) return deleteRow(CREDENTIALS, [change.removed.provider, change.removed.name]);
      return putRow(CREDENTIALS, change.credential, change.isNew);
    case 'route':
      if ('removed' in change) return deleteRow(ROUTES, [change.removed]);
      return putRow(ROUTES, change.route, change.isNew);
    case 'out_of_rotation': {
      if ('out' in change) return upsertRow(OUT_OF_ROTATION, change.out);
      const { kind, owner, name } = change.back;
      return { ...deleteRow(OUT_OF_ROTATION, [kind, owner, name]), changes: null };
    }
    case 'price':
      return insertRow(PRICES, change.price);
    case 'test':
      return upsertRow(TESTS, change.test);
  }
}

function putRow<Item extends object>(table: StoredTable<Item>, item: Item, isNew: boolean): WriteStatement {
  return isNew ? insertRow(table, item) : updateRow(table, item);
}

/** One statement for all keys: one statement each for ten thousand keys would hold up the writer. */
const KEEP = `INSERT INTO key_use (hash, at_ms, client)
  SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?) WHERE true
  ON CONFLICT (hash) DO UPDATE SET at_ms = excluded.at_ms, client = excluded.client`;
/** Deletes secrets that are no longer valid. */
const FORGET =
  'DELETE FROM key_use WHERE hash NOT IN (SELECT hash FROM api_key) AND hash NOT IN (SELECT previous_hash FROM api_key WHERE previous_hash IS NOT NULL)';

/** `workerQueries`: queries that may take long. */
export function createKeyUseStore(
  queries: Kysely<Tables>,
  workerQueries: Kysely<Tables>,
  writer: Pick<Writer, 'write'>,
): KeyUseStore {
  return {
    async save(uses) {
      if (uses.length === 0) return;
      const list = JSON.stringify(uses.map(({ hash, atMs, client }) => [hash, atMs, client]));
      await writer.write([
        { sql: KEEP, parameters: [list], changes: uses.length },
        { sql: FORGET, parameters: [], changes: null },
      ]);
    },
    async read() {
      const { rows } = await sql<StoredKeyUse>`SELECT hash, at_ms AS "atMs", client FROM key_use`.execute(queries);
      return rows;
    },
    async readNewestCalls(fromMs) {
      const { rows } = await sql<{ readonly key_id: string; readonly at_ms: number }>`
        SELECT key_id, max(at_ms) AS at_ms FROM call_record
        WHERE request_id >= ${requestIdFloor(Math.max(0, fromMs))} AND at_ms >= ${fromMs} GROUP BY key_id`.execute(
        workerQueries,
      );
      return new Map(rows.map(({ key_id, at_ms }) => [key_id, at_ms]));
    },
  };
}
