/**
 * Schedules the rolling up of records: gathers periodically, writes less often, and rests between steps while there is
 * a backlog.
 */
import type { Writer } from '../writer/writer.ts';

export interface Folding {
  stop(): void;
}

export interface FoldingPace {
  readonly everyMs: number;
  /** Pause between two steps, for waiting writes. */
  readonly restMs: number;
  /**
   * How long gathered sums wait for more: longer means fewer rows rewritten, but more records read by every question.
   */
  readonly gatherMs: number;
}

const PACE: FoldingPace = { everyMs: 2_000, restMs: 20, gatherMs: 15_000 };

/**
 * `onFault` receives a failure once until folding has worked again; not when the disk accepts no writes, which the
 * writer reports.
 */
export function startFolding(
  writer: Pick<Writer, 'fold' | 'writable'>,
  onFault: (cause: unknown) => void,
  pace: FoldingPace = PACE,
): Folding {
  let stopped = false;
  let failed = false;
  let timer = setTimeout(step, pace.everyMs).unref();

  async function step(): Promise<void> {
    let more = false;
    try {
      more = await writer.fold(pace.gatherMs);
      failed = false;
    } catch (cause) {
      if (!failed && !stopped && writer.writable()) onFault(cause);
      failed = true;
    }
    if (!stopped) timer = setTimeout(step, more ? pace.restMs : pace.everyMs).unref();
  }

  return {
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
