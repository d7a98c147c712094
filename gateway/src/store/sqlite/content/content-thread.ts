/** Owns the life of the thread that keeps content: started when it is first needed, and anew after it died. Knows no content. */
import type { CallContent, ContentCutoff } from '../../ports/content.ts';

type AskedKind = Exclude<ContentRequest['kind'], 'open' | 'close'>;
type AnyAnswer = ContentAnswers[keyof ContentAnswers];

/** Between the loss of a thread and the next one. */
const RETRY_MS = 1_000;
/** For what is under way at the end. */
const CLOSE_MS = 5_000;

export interface ContentThread {
  /** Rejects with words where it could not be done, or the thread died over it. `moved`: memory that is the thread's from now on. */
  ask<Kind extends AskedKind>(
    request: ContentRequest & { readonly kind: Kind },
    moved?: ArrayBuffer[],
  ): Promise<ContentAnswers[Kind]>;
  /** Waits for what was asked before, then ends the thread. */
  close(): Promise<void>;
}

interface Waiting {
  resolve(answer: AnyAnswer): void;
  reject(fault: Error): void;
}

/** `program`: the thread's. `opening`: what each thread is told first. */
export function createContentThread(
  program: URL,
  opening: Extract<ContentRequest, { readonly kind: 'open' }>,
): ContentThread {
  const waiting = new Map<number, Waiting>();
  const running = new Set<Promise<AnyAnswer>>();
  let worker: Worker | null = null;
  let opened: Promise<AnyAnswer> = Promise.resolve(null);
  let lastNumber = 0;
  let lost: { readonly atMs: number; readonly fault: Error } | null = null;
  let isClosed = false;

  /** What whoever waits is told; null: the thread was lost before. */
  function lose(ended: Worker, reason: string): Error | null {
    if (worker !== ended) return null;
    worker = null;
    ended.terminate();
    const fault = new Error(`what was said in calls cannot be kept or read: ${reason}`);
    lost = { atMs: performance.now(), fault };
    for (const { reject } of waiting.values()) reject(fault);
    waiting.clear();
    return fault;
  }

  function start(): Worker {
    if (lost !== null && performance.now() < lost.atMs + RETRY_MS) throw lost.fault;
    const started = new Worker(program);
    started.onmessage = ({ data: reply }: MessageEvent<ContentReply>) => {
      const asked = waiting.get(reply.number);
      waiting.delete(reply.number);
      if ('fault' in reply) asked?.reject(new Error(reply.fault));
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
    // What cannot be opened says why; what is asked behind it would only say that it is not open.
    await opened;
    if (worker !== to) throw lost?.fault ?? new Error('what keeps the content of calls was closed');
    return send(to, request, moved);
  }

  return {
    async ask<Kind extends AskedKind>(request: ContentRequest & { readonly kind: Kind }, moved: ArrayBuffer[] = []) {
      if (isClosed) throw new Error('what keeps the content of calls was closed');
      const asked = askOpened(request, moved);
      running.add(asked);
      try {
        // Each kind is answered in its own shape.
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
      // Each content is kept whole or not at all: a disk that does not answer must not hold up the end of the process.
      await Promise.race([inOrder.catch(() => null), Bun.sleep(CLOSE_MS)]);
      worker = null;
      last.terminate();
    },
  };
}

export type ContentRequest =
  | { readonly kind: 'open'; readonly path: string; readonly key: Uint8Array }
  | { readonly kind: 'keep'; readonly contents: readonly CallContent[]; readonly bytesMax: number }
  | { readonly kind: 'find' | 'read'; readonly account: string; readonly requestId: string }
  /** A step: takes away a bounded number, and answers how many. */
  | { readonly kind: 'sweep'; readonly cutoff: ContentCutoff; readonly bytesMax: number }
  | { readonly kind: 'close' };

/** What each kind of request is answered with. */
export interface ContentAnswers {
  readonly open: null;
  readonly keep: null;
  readonly find: string | null;
  readonly read: CallContent | null;
  readonly sweep: number;
  readonly close: null;
}

export type ContentReply =
  | { readonly number: number; readonly answer: ContentAnswers[keyof ContentAnswers] }
  | { readonly number: number; readonly fault: string };
