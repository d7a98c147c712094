/**
 * Stores the providers and prices entered in the console, the results of provider tests, and when keys were last used.
 */

import { type Kysely, sql } from 'kysely';
import { requestIdFloor } from '../../../lib/request-id.ts';
import type { ProviderStore, StoredPrice, StoredProvider, StoredProviderTest } from '../../ports/providers.ts';
import type { KeyUseStore, StoredKeyUse } from '../../ports/records.ts';
import type { Tables } from '../database/sqlite-dialect.ts';
import type { Writer } from '../writer/writer.ts';
import { deleteRow, insertRow, readRows, type StoredTable, updateRow, upsertRow } from './table-rows.ts';

const PROVIDERS: StoredTable<StoredProvider> = {
  name: 'provider_entry',
  key: ['name'],
  fixed: ['createdAtMs'],
  members: {
    name: 'plain',
    kind: 'plain',
    baseUrl: 'plain',
    models: 'json',
    sealed: 'plain',
    last4: 'plain',
    createdAtMs: 'plain',
    updatedAtMs: 'plain',
  },
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

export function createProviderStore(queries: Kysely<Tables>, writer: Pick<Writer, 'write'>): ProviderStore {
  return {
    readProviders: () => readProviders(queries),
    readTests: () => readRows(queries, TESTS, 'provider'),
    readPrices: () => readRows(queries, PRICES, 'seq'),
    saveProvider: (provider, isNew) =>
      writer.write([isNew ? insertRow(PROVIDERS, provider) : updateRow(PROVIDERS, provider)]),
    removeProvider: (name) => writer.write([deleteRow(PROVIDERS, [name])]),
    saveTest: (test) => writer.write([upsertRow(TESTS, test)]),
    addPrice: (price) => writer.write([insertRow(PRICES, price)]),
  };
}

/** The providers in order of creation. */
export function readProviders(queries: Kysely<Tables>): Promise<readonly StoredProvider[]> {
  return readRows(queries, PROVIDERS, 'created_at_ms, name');
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
