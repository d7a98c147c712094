/** Defines the plan and the result of one load run. */

import type { Protocol } from '../protocol.ts';

/**
 * A complete, correct answer: one JSON body, or a stream with an exact number of events and the end mark of its format.
 */
export type ExpectedAnswer =
  | { readonly protocol: Protocol; readonly kind: 'json' }
  | { readonly protocol: Protocol; readonly kind: 'stream'; readonly events: number };

export interface LoadPlan {
  /** Port on 127.0.0.1. */
  readonly port: number;
  readonly path: string;
  /** Headers in addition to host, content-type and content-length; includes the subject's credential. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly expect: ExpectedAnswer;
  readonly connections: number;
  /**
   * Calls that become due per second, regardless of open ones; null: each connection sends the next call once the last
   * is answered.
   */
  readonly callsPerSecond: number | null;
  /**
   * Port of a server that needs no credential and is called for a second before, so that the generator's own code is
   * compiled when it calls a subject that is not; null: not needed.
   */
  readonly rehearsalPort: number | null;
  readonly warmupMs: number;
  readonly windowMs: number;
  /** Processes by role whose CPU time over the window is measured, each with its descendants. */
  readonly watch: Readonly<Record<string, number>>;
}

/** Milliseconds; null when nothing was measured. */
export interface Latency {
  readonly p50: number | null;
  readonly p99: number | null;
  readonly longest: number | null;
}

export interface LoadResult {
  readonly windowMs: number;
  /** Calls that were answered completely and correctly within the window. */
  readonly calls: number;
  /** Events that arrived within the window, from finished and running streams. */
  readonly events: number;
  /** Failures of the whole run including warm-up, and a description of the first. */
  readonly failures: number;
  readonly firstFailure: string | null;
  /** Connections reopened because the subject had closed an idle one. */
  readonly reconnects: number;
  /**
   * From the request's first byte, or from when a paced call was due, to the answer's last byte; for calls that ended
   * within the window.
   */
  readonly callMs: Latency;
  /**
   * From the request's first byte to the body's first byte, on streams to the first event; for those that arrived
   * within the window.
   */
  readonly firstMs: Latency;
  /** CPU time over the window by role of `watch`, and of the load generator itself as `load`. */
  readonly cpuMs: Readonly<Record<string, number>>;
}
