/** Defines the limits of JSON texts and their defaults. */

/** A text over one of these limits is refused, never truncated. */
export interface JsonScanLimits {
  /** Nesting depth of open objects and arrays. */
  readonly depthMax: number;
  readonly keysPerObjectMax: number;
  /** Bytes of one key between its quotes, as written. */
  readonly keyBytesMax: number;
  /** Values at most this many levels below the root (level 0) are recorded; reading deeper ones scans their container again. */
  readonly outlineDepth: number;
  /** Maximum recorded values; bounds the memory of the outline at 24 bytes each. */
  readonly outlineNodesMax: number;
}

/** The gateway's limits; an outline five levels deep reaches the members of `messages[0].content[0]`. */
export const DEFAULT_JSON_SCAN_LIMITS: JsonScanLimits = {
  depthMax: 64,
  keysPerObjectMax: 10_000,
  keyBytesMax: 65_536,
  outlineDepth: 5,
  outlineNodesMax: 1_048_576,
};
