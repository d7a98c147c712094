/** Implements the port of saved views over the database. */
import { type Kysely, sql } from 'kysely';
import type { SavedView, SavedViewStore } from '../../ports/calls/saved-views.ts';
import type { Tables } from '../database/sqlite-dialect.ts';
import { auditStatement } from '../policy/audit-trail.ts';
import { deleteRow, insertRow, readRows, type StoredTable, updateRow } from '../policy/table-rows.ts';
import type { Writer } from '../writer/writer.ts';

const VIEWS: StoredTable<SavedView> = {
  name: 'saved_view',
  key: ['id'],
  fixed: ['account', 'person', 'createdAtMs'],
  members: {
    id: 'plain',
    account: 'plain',
    person: 'plain',
    name: 'plain',
    isShared: 'flag',
    search: 'json',
    createdAtMs: 'plain',
  },
};

export function createSavedViewStore(queries: Kysely<Tables>, writer: Pick<Writer, 'write'>): SavedViewStore {
  return {
    readViews: (account, person) =>
      readRows(
        queries,
        VIEWS,
        'name COLLATE NOCASE, id',
        sql`account = ${account} AND (is_shared = 1 OR person = ${person})`,
      ),
    createView: (view, entries) => writer.write([insertRow(VIEWS, view), ...entries.map(auditStatement)]),
    changeView: (view, entries) => writer.write([updateRow(VIEWS, view), ...entries.map(auditStatement)]),
    deleteView: (id, entries) =>
      writer.write([
        { sql: 'DELETE FROM pinned_view WHERE view = ?', parameters: [id], changes: null },
        deleteRow(VIEWS, [id]),
        ...entries.map(auditStatement),
      ]),
    async readPinned(account, person) {
      const { rows } = await sql<{ readonly view: string }>`SELECT view FROM pinned_view
        JOIN saved_view ON id = view AND saved_view.account = pinned_view.account
          AND (is_shared = 1 OR saved_view.person = pinned_view.person)
        WHERE pinned_view.account = ${account} AND pinned_view.person = ${person}`.execute(queries);
      return rows[0]?.view ?? null;
    },
    savePinned: (account, person, view) =>
      writer.write([
        {
          sql: 'DELETE FROM pinned_view WHERE account = ? AND person = ?',
          parameters: [account, person],
          changes: null,
        },
        {
          sql: `INSERT INTO pinned_view (account, person, view)
            SELECT account, ?, id FROM saved_view WHERE id = ? AND account = ? AND (is_shared = 1 OR person = ?)`,
          parameters: [person, view, account, person],
          changes: null,
        },
      ]),
  };
}
