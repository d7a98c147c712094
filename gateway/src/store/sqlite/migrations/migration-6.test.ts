/**
 * Tests that a ledger from before the index became partial continues unchanged, and that queries of the index still
 * find its entries.
 */
import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { outcomeOf } from '../../contracts/ledger-contract.ts';
import { heldCall, settledCall } from '../../contracts/sample-call.ts';
import { databasePath, openWriteConnection } from '../database/connection.ts';
import { migrate } from '../database/migrate.ts';
import { openLedgerBook } from '../ledger/ledger-book.ts';
import { takeEpoch } from '../ledger/ledger-epoch.ts';
import { openUsageMark } from '../rollup/usage-mark.ts';
import { openLedgerRig } from '../testing/open-ledger-rig.ts';
import { temporaryFolders } from '../testing/temporary-folder.ts';
import { createOperationKeeper } from '../writer/keep-operations.ts';
import { keepHold, keepMovement, keepSettlement, type Operation } from '../writer/ledger-operations.ts';
import { keepBatch } from '../writer/writer-database.ts';
import { MIGRATIONS } from './migrations.ts';

const newFolder = temporaryFolders();
const reach = () => undefined;

const latest = MIGRATIONS.at(-1)?.version;

/**
 * A data folder whose database stored the operations before the migration, and was then migrated; `draft` is that of
 * the call that continues. Later migrations are present from the start, because the current statements need their
 * columns.
 */
function folderBroughtTo6(operations: readonly Operation[], draft: readonly unknown[]): string {
  const dataDir = newFolder();
  const database = openWriteConnection(databasePath(dataDir));
  migrate(
    database,
    1,
    MIGRATIONS.filter(({ version }) => version !== 6),
  );
  const epoch = takeEpoch(database, 1);
  const book = openLedgerBook(database, epoch.id, epoch.seal);
  const keeper = createOperationKeeper(database, book, epoch.id, openUsageMark(database), reach);
  expect(keepBatch(database, { book, keeper, reach }, operations, 2)).toEqual([]);
  expect(database.run('UPDATE open_hold SET draft = ?', [JSON.stringify(draft)]).changes).toBe(1);
  keeper.close();
  book.close();
  database.run('PRAGMA user_version = 5');
  migrate(
    database,
    3,
    MIGRATIONS.filter(({ version }) => version <= 6),
  );
  database.run(`PRAGMA user_version = ${latest}`);
  database.close();
  return dataDir;
}

test('a ledger of version 5 holds after the step, and counts nothing twice', async () => {
  const topup = { id: 'm1', account: 'default', amount: 1_000n, note: null, at_ms: 5 };
  const correction = { ...topup, amount: -7n };
  const settlement = settledCall('over', { held: 30n, output: 20 });
  const open = heldCall('open', 9n);
  const { request_id, at_ms, account, ...rest } = open.draft;
  const operations = [
    keepMovement('topup', topup),
    keepMovement('correct', correction),
    keepHold(heldCall('over', 30n)),
    keepSettlement(settlement),
    keepHold(open),
  ];
  const dataDir = folderBroughtTo6(operations, [request_id, at_ms, account, ...Object.values(rest)]);
  const rig = await openLedgerRig(dataDir);
  expect(rig.prove()).toMatchObject({ entries: 7, calls: 2, problem: null });
  expect((await rig.readCalls()).find((record) => record.request_id === 'open')).toMatchObject({
    ...open.draft,
    status: 500,
  });
  const { ledger } = rig;
  await ledger.topup(topup);
  await ledger.correct(correction);
  for (const id of ['over', 'open']) expect(await outcomeOf(ledger.hold(heldCall(id, 30n)))).toBe('conflict');
  expect(await outcomeOf(ledger.settle(settlement))).toBe('conflict');
  expect(await ledger.readBalances()).toMatchObject([
    { available: 963n, held: 0n, charged: 30n, writtenOff: 10n, toppedUp: 1_000n },
  ]);
  expect(rig.prove()).toMatchObject({ entries: 7, calls: 2, problem: null });
  await rig.close();
});

test('an entry of a kind that is looked for by its call or movement is found in the index', () => {
  const database = new Database(':memory:', { strict: true });
  migrate(database, 1);
  const planOf = (kind: string) =>
    database
      .query<{ detail: string }, []>(
        `EXPLAIN QUERY PLAN SELECT amount FROM ledger_entry WHERE ref = 'a' AND kind = '${kind}' AND nth = 0`,
      )
      .get()?.detail;
  for (const kind of ['topup', 'correct', 'absorb']) expect(planOf(kind)).toContain('USING INDEX ledger_entry_once');
  expect(planOf('hold')).toBe('SCAN ledger_entry');
});
