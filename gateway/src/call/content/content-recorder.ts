/** Stores recorded bodies of calls: limits the memory that they use and counts those that were dropped. */
import { Gauge } from '../../admission/capacity.ts';
import type { CallContent, ContentStore } from '../../store/ports/content.ts';

/** Maximum bytes kept per body; longer bodies are truncated and flagged. */
export const KEPT_BODY_BYTES_MAX = 1024 * 1024;
/** For the whole process: bodies being collected, and those waiting for the disk. */
const CONTENT_BYTES_MAX = 128 * 1024 * 1024;
/** Minimum time between two warnings to the operator. */
const REPORT_EVERY_MS = 60_000;

export interface ContentRecorder {
  readonly bytes: Gauge;
  /** Since the process started. */
  readonly counts: { kept: number; dropped: number };
  /**
   * Passes content to the store, and gives `heldBytes` back to `bytes` once it is stored or lost. Never throws, never
   * waits.
   */
  keep(content: CallContent, heldBytes: number): void;
  /** Counts the lost content of a call; `why` is the reason. */
  drop(why: string): void;
}

/** `warn` warns the operator that content was dropped. */
export function createContentRecorder(
  store: Pick<ContentStore, 'save'>,
  warn: (dropped: number, why: string) => void,
  bytesMax = CONTENT_BYTES_MAX,
): ContentRecorder {
  const bytes = new Gauge(bytesMax);
  const counts = { kept: 0, dropped: 0 };
  let unreported = 0;
  let reportedAtMs = Number.NEGATIVE_INFINITY;

  function drop(why: string): void {
    counts.dropped += 1;
    unreported += 1;
    const nowMs = performance.now();
    if (nowMs < reportedAtMs + REPORT_EVERY_MS) return;
    reportedAtMs = nowMs;
    warn(unreported, why);
    unreported = 0;
  }

  return {
    bytes,
    counts,
    keep(content, heldBytes) {
      store.save(content).then(
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
