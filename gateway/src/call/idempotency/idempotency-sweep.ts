/** Owns when runs under idempotency keys that are no longer remembered are taken away: at the start, and every few minutes. */
import type { IdempotencyStore } from '../../store/ports/idempotency.ts';

const EVERY_MS = 5 * 60 * 1000;

/** Answers what stops it. A sweep that fails is told of; the next one does its work too. */
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
