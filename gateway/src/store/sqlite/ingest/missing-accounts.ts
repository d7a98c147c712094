/**
 * Adds accounts that the journal has and the database does not: they were created after the backup that was restored
 * beside the journal. Their money and requests are in the journal, their settings are lost.
 */
import type { Database } from 'bun:sqlite';
import type { Frame } from '../../ports/journal.ts';

export interface MissingAccounts {
  /** In the transaction of an ingest, before the frames are applied. Returns whether an account was added. */
  add(frames: readonly Frame[]): boolean;
  /** Call after the commit. */
  commit(): void;
  /** Call after a rollback. */
  forget(): void;
  /** The accounts that were added since the opening. */
  added(): readonly string[];
  close(): void;
}

export function openMissingAccounts(database: Database): MissingAccounts {
  const insert = database.prepare(
    'INSERT INTO account (id, created_at_ms, mode, name) VALUES (?1, ?2, ?3, ?1) ON CONFLICT (id) DO NOTHING',
  );
  const known = new Set<string>();
  const added: string[] = [];
  let fresh: string[] = [];
  return {
    add(frames) {
      for (const frame of frames) {
        const found = accountOf(frame);
        if (found === null || known.has(found.id)) continue;
        known.add(found.id);
        const { changes } = insert.run(found.id, found.atMs, found.prepaid ? 'prepaid' : 'postpaid');
        if (changes > 0) fresh.push(found.id);
      }
      return fresh.length > 0;
    },
    commit() {
      added.push(...fresh);
      fresh = [];
    },
    forget() {
      known.clear();
      fresh = [];
    },
    added: () => added,
    close: () => insert.finalize(),
  };
}

/** Where the frame does not tell the mode, the account spends no more than it has. */
function accountOf(frame: Frame): { readonly id: string; readonly atMs: number; readonly prepaid: boolean } | null {
  switch (frame.kind) {
    case 'hold':
      return { id: frame.draft.account, atMs: frame.draft.at_ms, prepaid: frame.prepaid };
    case 'movement':
      return { id: frame.movement.account, atMs: frame.movement.at_ms, prepaid: frame.prepaid };
    case 'end':
      return { id: frame.record.account, atMs: frame.record.at_ms, prepaid: frame.hold?.prepaid ?? true };
    case 'refused':
      return { id: frame.record.account, atMs: frame.record.at_ms, prepaid: true };
    default:
      return null;
  }
}
