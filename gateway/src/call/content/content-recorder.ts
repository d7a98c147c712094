/** Owns what the line needs to keep what was said in calls: the store, the memory it may take, and the count of what was not kept. */
import { Gauge } from '../../admission/capacity.ts';
import type { CallContent, ContentStore } from '../../store/ports/content.ts';

/** Of each body of a call. What is longer is kept up to here, and says so. */
export const KEPT_BODY_BYTES_MAX = 1024 * 1024;
/** Of the whole process: bodies that are gathered, and those that wait for the disk. */
const CONTENT_BYTES_MAX = 128 * 1024 * 1024;
/** The operator is told at most so often. */
const TELL_MS = 60_000;

export interface ContentDesk {
  readonly bytes: Gauge;
  /** Since the start. */
  readonly counts: { kept: number; dropped: number };
  /** Hands content over to the store, and gives `heldBytes` back to `bytes` once it is kept or lost. Never throws, never waits. */
  keep(content: CallContent, heldBytes: number): void;
  /** The content of a call is lost, and why. */
  drop(why: string): void;
}

/** `tell`: how the operator hears that content was not kept. */
export function createContentDesk(
  store: Pick<ContentStore, 'keep'>,
  tell: (dropped: number, why: string) => void,
  bytesMax = CONTENT_BYTES_MAX,
): ContentDesk {
  const bytes = new Gauge(() => bytesMax);
  const counts = { kept: 0, dropped: 0 };
  let untold = 0;
  let toldAtMs = Number.NEGATIVE_INFINITY;

  function drop(why: string): void {
    counts.dropped += 1;
    untold += 1;
    const nowMs = performance.now();
    if (nowMs < toldAtMs + TELL_MS) return;
    toldAtMs = nowMs;
    tell(untold, why);
    untold = 0;
  }

  return {
    bytes,
    counts,
    keep(content, heldBytes) {
      store.keep(content).then(
        () => {
          bytes.give(heldBytes);
          counts.kept += 1;
        },
        (cause: unknown) => {
          bytes.give(heldBytes);
          drop(cause instanceof Error ? cause.message : String(cause));
        },
      );
    },
    drop,
  };
}
