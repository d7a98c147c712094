/** Defines the stores that the domain needs, opened together over the same data. */
import type { AuditTrail } from './audit.ts';
import type { AlertStore } from './books/alerts.ts';
import type { GuardrailStore } from './books/guardrails.ts';
import type { ProviderCallReader, ReconciliationReader, ReconciliationStore } from './books/reconciliation.ts';
import type { AnswerCacheStore } from './cache/answer-cache.ts';
import type { SavedViewStore } from './calls/saved-views.ts';
import type { SessionReader } from './calls/sessions.ts';
import type { WhatIfReader } from './calls/what-if.ts';
import type { ContentStore } from './content.ts';
import type { IdempotencyStore } from './idempotency.ts';
import type { Ledger, StatementReader } from './ledger.ts';
import type { BudgetSpends } from './limits.ts';
import type { PeopleStore } from './people.ts';
import type { PolicyReader, PolicyStore } from './policy.ts';
import type { EnteredReader, ProviderStore } from './providers.ts';
import type { CallReader, CallRecorder, KeyUseStore } from './records.ts';
import type { StoredStateStore } from './stored-state.ts';
import type { UsageReader } from './usage.ts';

/** New data has the account `default` and the workspace `default`. */
export interface Store {
  readonly recorder: CallRecorder;
  readonly ledger: Ledger;
  readonly policies: PolicyStore;
  readonly audit: AuditTrail;
  readonly people: PeopleStore;
  readonly providers: ProviderStore;
  readonly idempotency: IdempotencyStore;
  readonly storedState: StoredStateStore;
  readonly calls: CallReader;
  readonly usage: UsageReader & WhatIfReader & SessionReader;
  readonly keyUses: KeyUseStore;
  readonly statements: StatementReader;
  readonly spends: BudgetSpends;
  readonly content: ContentStore;
  readonly answerCache: AnswerCacheStore;
  readonly reconciliations: ReconciliationStore & ProviderCallReader;
  readonly alerts: AlertStore;
  readonly guardrails: GuardrailStore;
  readonly views: SavedViewStore;
  /** Waits for pending work; later requests are rejected as Unavailable `closed`. */
  close(): Promise<void>;
}

/** What can be read beside a running server, and without one. */
export interface StoreReading
  extends CallReader,
    ProviderCallReader,
    PolicyReader,
    Pick<Ledger, 'readBalances'>,
    EnteredReader {
  readonly reconciliations: ReconciliationReader;
  close(): void;
}

/** Told of each group commit. Runs on the request thread. */
export type OnCommit = (durationMs: number) => void;

export interface StoreHealth {
  /** Age of the oldest written block that is not durable yet, in ms, at most a commit's duration too much; 0: all are. */
  readonly durableLagMs: number;
  /** Blocks on the disk since the beginning of the data folder. */
  readonly durableBlocks: number;
  /** Segments of the journal with blocks, and prepared ones. */
  readonly segments: number;
  readonly spareSegments: number;
  /** For how long the tables have been behind the journal, in ms; 0: they have everything. */
  readonly ingestLagMs: number;
  /** Blocks on the disk that the tables do not have. */
  readonly ingestLagBlocks: number;
}
