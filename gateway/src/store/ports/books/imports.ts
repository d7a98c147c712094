/**
 * Defines what is kept of objects that were imported from another gateway: which object here each became, and what it had
 * spent there. Written with the policy changes of the import (`PolicyStore`). Imported spend counts in budgets, not in the
 * ledger: nothing was charged here.
 */
import type { SubjectKind } from '../limits.ts';

export const IMPORT_KINDS = ['account', 'workspace', 'key', 'end_user'] as const;
export type ImportKind = (typeof IMPORT_KINDS)[number];

export interface ImportedObject {
  /** The program that it comes from, such as `litellm`. */
  readonly source: string;
  readonly kind: ImportKind;
  /** Identifies the object there. Of a key the hash under which it is found here, never one that others could test. */
  readonly foreignId: string;
  readonly subjectKind: SubjectKind;
  /** The id of its subject here. */
  readonly subjectId: string;
  /** Tells whether the object has changed there since its import. */
  readonly digest: string;
  /** Spent there, in integer nano-USD. */
  readonly spent: bigint;
  /** The moment at which the spend counts, unix ms: in the windows of budgets that contain it. */
  readonly spentAtMs: number;
  readonly importedAtMs: number;
}

export interface ImportReader {
  /** The objects of a source with these ids there. */
  readImported(source: string, foreignIds: readonly string[]): Promise<readonly ImportedObject[]>;
}
