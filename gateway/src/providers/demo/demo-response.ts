/** Owns the playing of a demo reply as a web `Response`, so that it is delivered as any upstream's is. Makes no content. */
import type { DemoRecord, DemoReply } from './demo-call.ts';

/** Waits; ends early, without an error, when the signal aborts. Tests hand in one that does not wait. */
export type Pause = (ms: number, signal: AbortSignal) => Promise<void>;

/**
 * The reply as a `Response`. A stream's records are pulled one by one, each after its pause: a reader that stops reading
 * stops the model, and an abort errors the body with the signal's reason, as an aborted `fetch` does.
 */
export function demoResponse(reply: DemoReply, signal: AbortSignal, pause: Pause = pauseFor): Response {
  const headers = new Headers(reply.headers.map(([name, value]): [string, string] => [name, value]));
  if (reply.kind === 'json') return new Response(reply.body, { status: reply.status, headers });
  return new Response(playRecords(reply.records, signal, pause), { status: reply.status, headers });
}

function playRecords(
  records: Iterable<DemoRecord>,
  signal: AbortSignal,
  pause: Pause,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const iterator = records[Symbol.iterator]();
  let open = true;
  return new ReadableStream({
    async pull(controller) {
      const next = iterator.next();
      if (next.done === true) return controller.close();
      if (next.value.pauseMs > 0) await pause(next.value.pauseMs, signal);
      if (signal.aborted) return controller.error(signal.reason);
      if (open) controller.enqueue(next.value.bytes);
    },
    cancel() {
      open = false;
      iterator.return?.();
    },
  });
}

function pauseFor(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const finish = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', finish);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    signal.addEventListener('abort', finish);
  });
}
