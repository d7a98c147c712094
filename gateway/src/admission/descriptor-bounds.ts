/** Derives from the file descriptor limit how many calls may be open, and when idle connections are closed. */

export interface DescriptorBounds {
  /** Maximum number of open calls. */
  readonly callsMax: number;
  /** From here on idle connections are closed and slow bodies are ended. */
  readonly shortFrom: number;
  /** Closing stops below this. */
  readonly enoughBelow: number;
  /** All available descriptors. */
  readonly most: number;
  /** Reserved for connections to providers. */
  readonly spares: number;
}

/** The client's socket and the upstream's. */
const DESCRIPTORS_PER_CALL = 2;
const RESERVE_MIN = 64;
const RESERVE_MAX = 512;
/** For the database, threads, console users and rejected calls. */
const RESERVE_PART = 8;

/** `openFilesMax`: null where there is no limit. */
export function boundsOfDescriptors(openFilesMax: number | null): DescriptorBounds {
  if (openFilesMax === null) {
    return {
      callsMax: Number.POSITIVE_INFINITY,
      shortFrom: Number.POSITIVE_INFINITY,
      enoughBelow: Number.POSITIVE_INFINITY,
      most: Number.POSITIVE_INFINITY,
      spares: 0,
    };
  }
  const reserve = Math.min(Math.max(RESERVE_MIN, Math.floor(openFilesMax / RESERVE_PART)), RESERVE_MAX);
  return {
    callsMax: Math.max(1, Math.floor((openFilesMax - reserve) / DESCRIPTORS_PER_CALL)),
    shortFrom: Math.floor(openFilesMax * 0.8),
    enoughBelow: Math.floor(openFilesMax * 0.7),
    most: openFilesMax,
    spares: reserve / 4,
  };
}
