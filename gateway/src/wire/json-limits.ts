/** Owns what a JSON text may be at most, and the defaults. */

/** A text over one of these is refused, never cut. */
export interface JsonScanLimits {
  /** Open objects and arrays, one inside the other. */
  readonly depthMax: number;
  readonly keysPerObjectMax: number;
  /** Bytes of one key between its quotes, as written. */
  readonly keyBytesMax: number;
  /** Values at most this many levels below the root (level 0) are recorded in the outline. */
  readonly outlineDepth: number;
  /** How many values are recorded; bounds the memory of the outline at 24 bytes each. */
  readonly outlineNodesMax: number;
}

/** The gateway's limits; an outline four levels deep reaches `messages[0].content[0]`. */
export const DEFAULT_JSON_SCAN_LIMITS: JsonScanLimits = {
  depthMax: 64,
  keysPerObjectMax: 10_000,
  keyBytesMax: 65_536,
  outlineDepth: 4,
  outlineNodesMax: 1_048_576,
};
