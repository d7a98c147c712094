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
  readonly connections: number;
  /** Calls that become due per second, whatever is still open; null: each connection sends the next one when the last is answered. */
  readonly callsPerSecond: number | null;
  /** What the stall probe asks for during the window; null: there is none. */
  readonly probePath: string | null;
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

/** What the stall probe saw in the window, in milliseconds. */
export interface Stall {
  readonly probes: number;
  /** The longest wait for an answer; null where none was asked for. */
  readonly longestMs: number | null;
  /** The longest that the load generator itself was late for its next question: what the machine does to any process. */
  readonly ownLateMs: number;
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
  /** From the request's first byte, or from when a paced call was due, to the answer's last; of calls that ended within the window. */
  readonly callMs: Latency;
  /** From the request's first byte to the body's first one, on streams to the first event; of those that came within it. */
  readonly firstMs: Latency;
  /** Null without a probe. */
  readonly stall: Stall | null;
  /** CPU time over the window by role of `watch`, and of the load generator itself as `load`. */
  readonly cpuMs: Readonly<Record<string, number>>;
}
