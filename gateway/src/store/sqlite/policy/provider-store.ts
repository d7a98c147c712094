/**
 * Stores the providers and prices entered in the console, the results of provider tests, and when keys were last used.
 */

import { type CompiledQuery, type Generated, type Kysely, sql } from 'kysely';
import { requestIdFloor } from '../../../lib/request-id.ts';
import type {
  EnteredModel,
  ProviderStore,
  StoredPrice,
  StoredProvider,
  StoredProviderTest,
  StoredRates,
} from '../../ports/providers.ts';
import type { KeyUseStore, StoredKeyUse } from '../../ports/records.ts';
import type { Tables } from '../tables.ts';
import type { Writer } from '../writer/writer.ts';
import type { WriteStatement } from '../writer/writer-messages.ts';

type ProviderTables = {
  provider_entry: {
    readonly name: string;
    readonly kind: string;
    readonly base_url: string;
    /** JSON list. */
    readonly models: string;
    readonly sealed: string | null;
    readonly last4: string | null;
    readonly created_at_ms: number;
    readonly updated_at_ms: number;
  };
  provider_test: {
    readonly provider: string;
    readonly origin: string;
    readonly at_ms: number;
    readonly ok: 0 | 1;
    readonly message: string;
    readonly duration_ms: number;
  };
  model_price: {
    readonly seq: Generated<number>;
    readonly model: string;
    readonly from_ms: number;
    /** JSON object. */
    readonly rates: string | null;
    readonly created_by: string;
    readonly created_at_ms: number;
  };
};

type PriceRow = Omit<ProviderTables['model_price'], 'seq'>;

export function createProviderStore(all: Kysely<Tables>, writer: Pick<Writer, 'write'>): ProviderStore {
  const queries = all.withTables<ProviderTables>();
  return {
    readProviders: () => readProviders(all),
    async readTests() {
      return (await queries.selectFrom('provider_test').selectAll().execute()).map(testOfRow);
    },
    async readPrices() {
      return (await queries.selectFrom('model_price').selectAll().orderBy('seq').execute()).map(priceOfRow);
    },
    saveProvider(provider, isNew) {
      const { name, created_at_ms, ...members } = rowOfProvider(provider);
      const statement = isNew
        ? queries.insertInto('provider_entry').values({ name, created_at_ms, ...members })
        : queries.updateTable('provider_entry').set(members).where('name', '=', name);
      return writer.write([changingOne(statement.compile())]);
    },
    removeProvider: (name) =>
      writer.write([changingOne(queries.deleteFrom('provider_entry').where('name', '=', name).compile())]),
    saveTest(test) {
      const { provider, ...members } = rowOfTest(test);
      const statement = queries
        .insertInto('provider_test')
        .values({ provider, ...members })
        .onConflict((conflict) => conflict.column('provider').doUpdateSet(members));
      return writer.write([changingOne(statement.compile())]);
    },
    addPrice: (price) =>
      writer.write([changingOne(queries.insertInto('model_price').values(rowOfPrice(price)).compile())]),
  };
}

/** The providers in the order in which they were entered. */
export async function readProviders(all: Kysely<Tables>): Promise<readonly StoredProvider[]> {
  const queries = all.withTables<ProviderTables>();
  const found = queries.selectFrom('provider_entry').selectAll().orderBy('created_at_ms').orderBy('name');
  return (await found.execute()).map(providerOfRow);
}

function changingOne({ sql, parameters }: CompiledQuery): WriteStatement {
  return { sql, parameters: parameters as WriteStatement['parameters'], changes: 1 };
}

function rowOfProvider(provider: StoredProvider): ProviderTables['provider_entry'] {
  return {
    name: provider.name,
    kind: provider.kind,
    base_url: provider.baseUrl,
    models: JSON.stringify(provider.models),
    sealed: provider.sealed,
    last4: provider.last4,
    created_at_ms: provider.createdAtMs,
    updated_at_ms: provider.updatedAtMs,
  };
}

function providerOfRow(row: ProviderTables['provider_entry']): StoredProvider {
  return {
    name: row.name,
    kind: row.kind,
    baseUrl: row.base_url,
    models: JSON.parse(row.models) as EnteredModel[],
    sealed: row.sealed,
    last4: row.last4,
    createdAtMs: row.created_at_ms,
    updatedAtMs: row.updated_at_ms,
  };
}

function rowOfTest(test: StoredProviderTest): ProviderTables['provider_test'] {
  return {
    provider: test.provider,
    origin: test.origin,
    at_ms: test.atMs,
    ok: test.ok ? 1 : 0,
    message: test.message,
    duration_ms: test.durationMs,
  };
}

function testOfRow(row: ProviderTables['provider_test']): StoredProviderTest {
  return {
    provider: row.provider,
    origin: row.origin,
    atMs: row.at_ms,
    ok: row.ok === 1,
    message: row.message,
    durationMs: row.duration_ms,
  };
}

function rowOfPrice(price: StoredPrice): PriceRow {
  return {
    model: price.model,
    from_ms: price.fromMs,
    rates: price.rates === null ? null : JSON.stringify(price.rates),
    created_by: price.createdBy,
    created_at_ms: price.createdAtMs,
  };
}

function priceOfRow(row: PriceRow): StoredPrice {
  return {
    model: row.model,
    fromMs: row.from_ms,
    rates: row.rates === null ? null : (JSON.parse(row.rates) as StoredRates),
    createdBy: row.created_by,
    createdAtMs: row.created_at_ms,
  };
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
