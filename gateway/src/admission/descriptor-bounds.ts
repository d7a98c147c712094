/** Owns what the limit of file descriptors allows: how many calls, and from where on connections are closed. */

export interface DescriptorBounds {
  /** Calls that may be open at once. */
  readonly callsMax: number;
  /** From here on idle connections are closed, and slow bodies ended. */
  readonly shortFrom: number;
  /** Down to here. */
  readonly enoughBelow: number;
  /** All that there are. */
  readonly most: number;
  /** Kept back for connections to providers. */
  readonly spares: number;
}

/** The client's socket, and the upstream's. */
const DESCRIPTORS_PER_CALL = 2;
const RESERVE_MIN = 64;
const RESERVE_MAX = 512;
/** For the database, threads, the console's visitors and the refusals of calls. */
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
