/** Defines the store of saved views: named filters, orders and columns of the list of requests. */
import type { NewAuditEntry } from '../audit.ts';

/** Members of the page's address, by name. */
export type ViewSearch = Readonly<Record<string, string>>;

export interface SavedView {
  readonly id: string;
  readonly account: string;
  /** The id of the person who created it. */
  readonly person: string;
  readonly name: string;
  /** For everyone in the account; otherwise for the person alone. */
  readonly isShared: boolean;
  readonly search: ViewSearch;
  readonly createdAtMs: number;
}

export interface SavedViewStore {
  /** The person's own views of the account and all shared ones, by name. */
  readViews(account: string, person: string): Promise<readonly SavedView[]>;
  /** Durable when it resolves, as the other changes. Rejects as a conflict where the id exists. */
  createView(view: SavedView, entries: readonly NewAuditEntry[]): Promise<void>;
  /** Changes name, search and whether it is shared. Rejects as a conflict where it does not exist. */
  changeView(view: SavedView, entries: readonly NewAuditEntry[]): Promise<void>;
  /** Deletes it with its pins. Rejects as a conflict where it does not exist. */
  deleteView(id: string, entries: readonly NewAuditEntry[]): Promise<void>;
  /** The id of the view on the person's home page; null: none, or they may no longer see it. */
  readPinned(account: string, person: string): Promise<string | null>;
  /** Null: none. Pins nothing where the view is gone or belongs to another account. */
  savePinned(account: string, person: string, view: string | null): Promise<void>;
}
