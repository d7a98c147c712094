/** Owns when records are rolled up: gathered now and then, written less often, and step after step with rests between while there is much to do. */
import type { Writer } from '../writer/writer.ts';

export interface Folding {
  stop(): void;
}

export interface FoldingPace {
  readonly everyMs: number;
  /** Between two steps, for what waits to be kept. */
  readonly restMs: number;
  /** How long what is gathered waits for more: fewer rows are written anew, and more records are read by every question. */
  readonly gatherMs: number;
}

const PACE: FoldingPace = { everyMs: 2_000, restMs: 20, gatherMs: 15_000 };

/** `onFault` is told a failure once, until it has worked again; not of a disk that takes nothing, which the writer tells. */
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
