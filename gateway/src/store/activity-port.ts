/**
 * Owns the interface through which pages ask what calls of keys and workspaces came to. Bounded questions over records; no
 * line of a call waits for them. Knows no database.
 */
import type { BindingCaps } from './limits-port.ts';
import type { CallRecord } from './ports.ts';

/** Sums over the calls that arrived in one span. Integer nano-USD; calls without a price cost nothing here. */
export interface SpanSums {
  readonly requests: number;
  readonly errors: number;
  readonly cost: bigint;
}

export interface SpanQuestion {
  readonly account: string;
  readonly by: 'key_id' | 'workspace';
  /** Only of these; null: of all in the account. */
  readonly ids: readonly string[] | null;
  /** Unix ms, ascending: a span begins at each but the last, where the last one ends. */
  readonly bounds: readonly number[];
}

export interface ActivityReader {
  /** For each id that had a call: a sum for each span. */
  readSpans(question: SpanQuestion): Promise<ReadonlyMap<string, readonly SpanSums[]>>;
  /** The newest calls of a key that arrived from then on and failed. */
  readErrors(account: string, keyId: string, fromMs: number, limit: number): Promise<readonly FailedCall[]>;
  /** How much calls of each subject were charged in its budget's window, by its id; all of one kind and window. */
  readSpends(bindings: readonly BindingCaps[]): Promise<ReadonlyMap<string, bigint>>;
}

export type FailedCall = Pick<CallRecord, 'request_id' | 'at_ms' | 'status' | 'error' | 'model'>;
