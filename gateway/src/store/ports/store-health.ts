/** Defines what a store reports about itself to telemetry. */

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
