/**
 * Defines what is kept of reconciliations: a provider's export compared with the records, per day and model, and the
 * findings that explain the differences. Belongs to the operator: providers bill the installation.
 */
import type { NewAuditEntry } from '../audit.ts';
import type { CallRecord } from '../records.ts';

/**
 * Why an export and the records differ. `missing_call`: billed, and there is no record. `double`: billed twice.
 * `wrong_tier`: billed at the price of another tier. `retried_attempt`: an attempt that did not answer its request, which
 * the operator pays. `cut_stream`: the end of a stream was not reported, so its usage is an estimate. `other_day`: the
 * provider counts the request to another day. `price`: the same usage at another price. `usage`: another usage.
 * `not_billed`: recorded, and not in the export. `unpriced`: the record has no price.
 */
export const CAUSES = [
  'missing_call',
  'double',
  'wrong_tier',
  'retried_attempt',
  'cut_stream',
  'other_day',
  'price',
  'usage',
  'not_billed',
  'unpriced',
] as const;
export type Cause = (typeof CAUSES)[number];

/** Amounts in integer nano-USD. */
export interface Finding {
  readonly day: string;
  readonly model: string;
  readonly cause: Cause;
  /** Its part of the difference: positive where the provider bills more. */
  readonly amount: bigint;
  /** Requests that it concerns. */
  readonly count: number;
  /** The request of this gateway, and its attempt from 1; null: none is known. */
  readonly requestId: string | null;
  readonly attempt: number | null;
  /** The provider's id; null: not stated. */
  readonly providerRequestId: string | null;
  /** In a sentence. */
  readonly detail: string;
}

/** One model on one day. A number of requests or an amount of null: the export does not state it. */
export interface ReconciledDay {
  readonly day: string;
  readonly model: string;
  readonly billedRequests: number | null;
  readonly recordedRequests: number;
  readonly billed: bigint | null;
  readonly recorded: bigint;
  /** The sum of its findings. */
  readonly explained: bigint;
}

export interface ReconciliationSummary {
  readonly id: string;
  /** Names of providers of the configuration, joined by commas. */
  readonly providers: string;
  readonly format: string;
  readonly file: string;
  readonly importedAtMs: number;
  /** The first and the last day of the export. */
  readonly firstDay: string;
  readonly lastDay: string;
  /** The IANA time zone in which the days of records were counted. */
  readonly timeZone: string;
  readonly lines: number;
  readonly billed: bigint;
  readonly recorded: bigint;
  readonly explained: bigint;
  readonly findings: number;
}

export interface Reconciliation extends ReconciliationSummary {
  readonly days: readonly ReconciledDay[];
  readonly list: readonly Finding[];
}

export interface ReconciliationReader {
  /** The newest imports first, at most `limit`. */
  list(limit: number): Promise<readonly ReconciliationSummary[]>;
  /** Null: it does not exist. */
  read(id: string): Promise<Reconciliation | null>;
}

export interface ReconciliationStore extends ReconciliationReader {
  /** Keeps a reconciliation, or replaces the one with its id, with the audit entry. Durable when it resolves. */
  save(reconciliation: Reconciliation, entry: NewAuditEntry): Promise<void>;
}

export interface ProviderCallReader {
  /**
   * The records of calls that had an attempt at one of these providers and arrived from `fromMs` to before `toMs` (unix
   * ms), oldest first, in pages: `after` is the last request id of the page before. An empty page ends them.
   */
  readProviderCalls(query: {
    readonly providers: readonly string[];
    readonly fromMs: number;
    readonly toMs: number;
    readonly after: string | null;
  }): Promise<readonly CallRecord[]>;
}
