/** Manages a thread with a database of its own: started when first needed, and restarted after it died. */
import { type StoreError, Unavailable } from '../../ports/store-errors.ts';
import { errorOf, type Fault } from '../sqlite-fault.ts';
import { startThread } from './start-thread.ts';

/** A request to a thread. Every thread knows `open` and `close`. */
interface ThreadRequest {
  readonly kind: string;
}
type AskedKind<Request extends ThreadRequest> = Exclude<Request['kind'], 'open' | 'close'>;

export type ThreadReply<Answers> =
  | { readonly number: number; readonly answer: Answers[keyof Answers] }
  | { readonly number: number; readonly fault: Fault };

/** Delay between the loss of a thread and its restart. */
const RETRY_MS = 1_000;
/** How long closing waits for pending requests. */
const CLOSE_MS = 5_000;

export interface StoreThread<Request extends ThreadRequest, Answers> {
  /**
   * Rejects with Unavailable where the request failed or the thread died during it. `moved`: memory transferred to the
   * thread.
   */
  ask<Kind extends AskedKind<Request> & keyof Answers>(
    request: Request & { readonly kind: Kind },
    moved?: ArrayBuffer[],
  ): Promise<Answers[Kind]>;
  /** Waits for earlier requests, then ends the thread. */
  close(): Promise<void>;
}

interface Waiting<Answer> {
  resolve(answer: Answer): void;
  reject(fault: StoreError): void;
}

/**
 * `program`: the thread's program. `opening`: the first request to each thread. `stored`: what it stores, for the
 * operator.
 */
export function createStoreThread<Request extends ThreadRequest, Answers>(
  program: URL,
  opening: Request & { readonly kind: 'open' },
  stored: string,
): StoreThread<Request, Answers> {
  type AnyAnswer = Answers[keyof Answers];
  const waiting = new Map<number, Waiting<AnyAnswer>>();
  const running = new Set<Promise<AnyAnswer>>();
  let worker: Worker | null = null;
  let opened: Promise<unknown> = Promise.resolve();
  let lastNumber = 0;
  let lost: { readonly atMs: number; readonly fault: Unavailable } | null = null;
  let isClosed = false;

  /** Returns the error for waiting requests; null: the thread was lost before. */
  function lose(ended: Worker, reason: string): Unavailable | null {
    if (worker !== ended) return null;
    worker = null;
    ended.terminate();
    const fault = new Unavailable('failed', `${stored} cannot be stored or read: ${reason}`);
    lost = { atMs: performance.now(), fault };
    for (const { reject } of waiting.values()) reject(fault);
    waiting.clear();
    return fault;
  }

  function start(): Worker {
    if (lost !== null && performance.now() < lost.atMs + RETRY_MS) throw lost.fault;
    const started = startThread(program);
    started.onmessage = ({ data: reply }: MessageEvent<ThreadReply<Answers>>) => {
      const asked = waiting.get(reply.number);
      waiting.delete(reply.number);
      if ('fault' in reply) asked?.reject(errorOf(reply.fault));
      else asked?.resolve(reply.answer);
    };
    started.onerror = (event) => lose(started, `its thread failed: ${event.message}`);
    started.addEventListener('close', () => lose(started, 'its thread ended'));
    worker = started;
    opened = send(started, opening, []).catch((fault: Error) => {
      throw lose(started, fault.message) ?? fault;
    });
    return started;
  }

  function send(to: Worker, request: ThreadRequest, moved: ArrayBuffer[]): Promise<AnyAnswer> {
    lastNumber += 1;
    const number = lastNumber;
    return new Promise((resolve, reject) => {
      waiting.set(number, { resolve, reject });
      to.postMessage({ number, request }, moved);
    });
  }

  async function askOpened(request: ThreadRequest, moved: ArrayBuffer[]): Promise<AnyAnswer> {
    const to = worker ?? start();
    // A failed opening explains itself; requests sent after it would only report that the store is not open.
    await opened;
    if (worker !== to) throw lost?.fault ?? closedFailure(stored);
    return send(to, request, moved);
  }

  return {
    async ask<Kind extends AskedKind<Request> & keyof Answers>(
      request: Request & { readonly kind: Kind },
      moved: ArrayBuffer[] = [],
    ) {
      if (isClosed) throw closedFailure(stored);
      const asked = askOpened(request, moved);
      running.add(asked);
      try {
        // Each kind of request has its own kind of answer.
        return (await asked) as Answers[Kind];
      } finally {
        running.delete(asked);
      }
    },
    async close() {
      isClosed = true;
      const last = worker;
      if (last === null) return;
      const inOrder = Promise.allSettled(running).then(() => send(last, { kind: 'close' }, []));
      // Content is stored completely or not at all, and an unresponsive disk must not delay the end of the process.
      await Promise.race([inOrder.catch(() => null), Bun.sleep(CLOSE_MS)]);
      worker = null;
      last.terminate();
    },
  };
}

function closedFailure(stored: string): Unavailable {
  return new Unavailable('closed', `${stored} cannot be stored or read: their store has been closed.`);
}
