/** Owns the shapes of one load run: what to send where, and what came of it. */

import type { Protocol } from '../protocol.ts';

/** What a complete, right answer is: one JSON body, or a stream of exactly so many events and the end mark of its format. */
export type ExpectedAnswer =
  | { readonly protocol: Protocol; readonly kind: 'json' }
  | { readonly protocol: Protocol; readonly kind: 'stream'; readonly events: number };

export interface LoadPlan {
  /** Port on 127.0.0.1. */
  readonly port: number;
  readonly path: string;
  /** Headers beside host, content-type and content-length; the subject's credential is among them. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly expect: ExpectedAnswer;
  /** Connections that each send the next call when the last one is answered. */
  readonly connections: number;
  readonly warmupMs: number;
  readonly windowMs: number;
  /** Processes by role whose CPU time over the window is wanted, each with all that it started. */
  readonly watch: Readonly<Record<string, number>>;
}

/** Milliseconds; null where nothing was measured. */
export interface Latency {
  readonly p50: number | null;
  readonly p99: number | null;
}

export interface LoadResult {
  readonly windowMs: number;
  /** Calls that were completely and rightly answered within the window. */
  readonly calls: number;
  /** Events that arrived within the window, of finished and running streams. */
  readonly events: number;
  /** Failures of the whole run, warm-up included, and what the first one was. */
  readonly failures: number;
  readonly firstFailure: string | null;
  /** Connections opened again because the subject had closed an idle one. */
  readonly reconnects: number;
  /** From the request's first byte to the answer's last, of calls that ended within the window. */
  readonly callMs: Latency;
  /** From the request's first byte to the body's first one, on streams to the first event; of those that came within it. */
  readonly firstMs: Latency;
  /** CPU time over the window by role of `watch`, and of the load generator itself as `load`. */
  readonly cpuMs: Readonly<Record<string, number>>;
}
