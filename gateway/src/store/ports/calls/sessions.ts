/** Defines the lists of sessions: the conversations, or runs of agents, that calls say they are turns of. */
import type { CallsQuestion } from '../usage.ts';

/** Only calls that name a session count. */
export interface SessionsQuestion extends CallsQuestion {
  /** Sessions of a page, the one with the newest call first. */
  readonly limit: number;
}

/** The calls of one session that the question covers. Unix ms; tokens. */
export interface SessionSums {
  readonly session: string;
  /** The first arrival and the last end. */
  readonly firstMs: number;
  readonly endMs: number;
  /** The newest call. */
  readonly lastId: string;
  readonly requests: number;
  /** Calls that the client or the gateway's side made fail; not those that the client left. */
  readonly errors: number;
  /** Nano-USD; without `unpriced` calls. */
  readonly cost: bigint;
  readonly unpriced: number;
  /** With those of caches. */
  readonly input: number;
  readonly cacheRead: number;
  readonly output: number;
  /** Requested models and the names of keys, sorted. */
  readonly models: readonly string[];
  readonly keys: readonly string[];
}

export interface SessionsPage {
  readonly sessions: readonly SessionSums[];
  /** As `beforeId`; null: no more sessions. */
  readonly next: string | null;
}

/** Rejects as `UsageReader`. */
export interface SessionReader {
  readSessions(question: SessionsQuestion): Promise<SessionsPage>;
}
