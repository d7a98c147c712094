/** Deletes expired idempotent runs from the store: at the start, and every five minutes. */
import type { IdempotencyStore } from '../../store/ports/idempotency.ts';

const EVERY_MS = 5 * 60 * 1000;

/** Returns a function that stops it. A failed sweep is reported; the next one also deletes what it left. */
export function startSweeping(
  store: Pick<IdempotencyStore, 'sweep'>,
  onFault: (cause: unknown) => void,
  everyMs = EVERY_MS,
): () => void {
  let isStopped = false;
  let timer: Timer | null = null;
  const sweep = async () => {
    try {
      await store.sweep(Date.now());
    } catch (cause) {
      if (!isStopped) onFault(cause);
    }
    if (!isStopped) timer = setTimeout(sweep, everyMs).unref();
  };
  void sweep();
  return () => {
    isStopped = true;
    if (timer !== null) clearTimeout(timer);
  };
}
