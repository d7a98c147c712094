/** Manages the thread that stores content: started when first needed, and restarted after it died. */
import type { QueryWord } from '../../../lib/query/call-query.ts';
import type { CallContent, ContentCutoff, ContentMatches, ContentRange } from '../../ports/content.ts';
import { type StoreError, Unavailable } from '../../ports/store-errors.ts';
import { errorOf, type Fault } from '../sqlite-fault.ts';

type AskedKind = Exclude<ContentRequest['kind'], 'open' | 'close'>;
type AnyAnswer = ContentAnswers[keyof ContentAnswers];

/** Delay between the loss of a thread and its restart. */
const RETRY_MS = 1_000;
/** How long closing waits for pending requests. */
const CLOSE_MS = 5_000;

export interface ContentThread {
  /**
   * Rejects with Unavailable where the request failed or the thread died during it. `moved`: memory transferred to the
   * thread.
   */
  ask<Kind extends AskedKind>(
    request: ContentRequest & { readonly kind: Kind },
    moved?: ArrayBuffer[],
  ): Promise<ContentAnswers[Kind]>;
  /** Waits for earlier requests, then ends the thread. */
  close(): Promise<void>;
}

interface Waiting {
  resolve(answer: AnyAnswer): void;
  reject(fault: StoreError): void;
}

/** `program`: the thread's program. `opening`: the first request to each thread. */
export function createContentThread(
  program: URL,
  opening: Extract<ContentRequest, { readonly kind: 'open' }>,
): ContentThread {
  const waiting = new Map<number, Waiting>();
  const running = new Set<Promise<AnyAnswer>>();
  let worker: Worker | null = null;
  let opened: Promise<AnyAnswer> = Promise.resolve(null);
  let lastNumber = 0;
  let lost: { readonly atMs: number; readonly fault: Unavailable } | null = null;
  let isClosed = false;

  /** Returns the error for waiting requests; null: the thread was lost before. */
  function lose(ended: Worker, reason: string): Unavailable | null {
    if (worker !== ended) return null;
    worker = null;
    ended.terminate();
    const fault = new Unavailable('failed', `The bodies of calls cannot be stored or read: ${reason}`);
    lost = { atMs: performance.now(), fault };
    for (const { reject } of waiting.values()) reject(fault);
    waiting.clear();
    return fault;
  }

  function start(): Worker {
    if (lost !== null && performance.now() < lost.atMs + RETRY_MS) throw lost.fault;
    const started = new Worker(program, { smol: true });
    started.onmessage = ({ data: reply }: MessageEvent<ContentReply>) => {
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

  function send(to: Worker, request: ContentRequest, moved: ArrayBuffer[]): Promise<AnyAnswer> {
    lastNumber += 1;
    const number = lastNumber;
    return new Promise((resolve, reject) => {
      waiting.set(number, { resolve, reject });
      to.postMessage({ number, request }, moved);
    });
  }

  async function askOpened(request: ContentRequest, moved: ArrayBuffer[]): Promise<AnyAnswer> {
    const to = worker ?? start();
    // A failed opening explains itself; requests sent after it would only report that the store is not open.
    await opened;
    if (worker !== to) throw lost?.fault ?? closedFailure();
    return send(to, request, moved);
  }

  return {
    async ask<Kind extends AskedKind>(request: ContentRequest & { readonly kind: Kind }, moved: ArrayBuffer[] = []) {
      if (isClosed) throw closedFailure();
      const asked = askOpened(request, moved);
      running.add(asked);
      try {
        // Each kind of request has its own kind of answer.
        return (await asked) as ContentAnswers[Kind];
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

function closedFailure(): Unavailable {
  return new Unavailable('closed', 'The store of the bodies of calls has been closed.');
}

export type ContentRequest =
  | { readonly kind: 'open'; readonly path: string; readonly key: Uint8Array }
  | { readonly kind: 'keep'; readonly contents: readonly CallContent[]; readonly bytesMax: number }
  | { readonly kind: 'find' | 'read'; readonly account: string; readonly requestId: string }
  | { readonly kind: 'list'; readonly range: ContentRange; readonly limit: number }
  | {
      readonly kind: 'search';
      readonly account: string;
      readonly requestIds: readonly string[];
      readonly words: readonly QueryWord[];
      readonly timeMs: number;
    }
  /** One step: deletes a bounded number of calls, and returns how many. */
  | { readonly kind: 'sweep'; readonly cutoff: ContentCutoff; readonly bytesMax: number }
  | { readonly kind: 'close' };

/** The answer to each kind of request. */
export interface ContentAnswers {
  readonly open: null;
  readonly keep: null;
  readonly find: string | null;
  readonly read: CallContent | null;
  readonly list: readonly string[];
  readonly search: ContentMatches;
  readonly sweep: number;
  readonly close: null;
}

export type ContentReply =
  | { readonly number: number; readonly answer: ContentAnswers[keyof ContentAnswers] }
  | { readonly number: number; readonly fault: Fault };
