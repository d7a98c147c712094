/**
 * Owns the thread that reads what subjects have spent, as the request thread sees it: started before the first question or by it,
 * anew where it died. What is asked while it reads is asked together as soon as it is done. Knows no SQL.
 */
import type { SpendQuestion } from './spend-reader.ts';
import { StoreFailure, type StoreFailureKind } from './store-failure.ts';

export interface SpendRequest {
  /** The database's file. */
  readonly path: string;
  readonly questions: readonly SpendQuestion[];
}

/** Decimal nano-USD in the order of the questions, or why there are none. */
export type SpendReply =
  | { readonly spent: readonly string[] }
  | { readonly failed: { readonly kind: StoreFailureKind; readonly message: string } };

export interface SpendThread {
  /** Starts the thread where it does not run: the first question need not wait for that. */
  prepare(): void;
  /** Nano-USD. Rejects with a StoreFailure where it cannot be read; the next question is tried anew. */
  ask(question: SpendQuestion): Promise<bigint>;
  /** Ends the thread; what is still asked is rejected as `closed`. */
  close(): void;
}

interface Asked {
  readonly question: SpendQuestion;
  readonly resolve: (spent: bigint) => void;
  readonly reject: (failure: StoreFailure) => void;
}

/** Starts nothing yet. `program` is the thread's. */
export function createSpendThread(path: string, program: URL): SpendThread {
  let worker: Worker | null = null;
  let underWay: readonly Asked[] = [];
  let waiting: Asked[] = [];
  let closed = false;

  function next(): void {
    if (underWay.length > 0 || waiting.length === 0) return;
    underWay = waiting;
    waiting = [];
    worker ??= start();
    const questions = underWay.map(({ question }) => question);
    worker.postMessage({ path, questions } satisfies SpendRequest);
  }

  function start(): Worker {
    const started = new Worker(program);
    const lose = (reason: string) => {
      if (worker !== started) return;
      worker = null;
      started.terminate();
      const lost = new StoreFailure('reader-lost', `The thread that reads the database ended (${reason}).`);
      finish((asked) => asked.reject(lost));
    };
    started.onmessage = ({ data: reply }: MessageEvent<SpendReply>) => take(reply);
    started.onerror = (event) => lose(event.message);
    started.onmessageerror = () => lose('a message could not be read');
    started.addEventListener('close', () => lose('it closed'));
    return started;
  }

  function take(reply: SpendReply): void {
    if ('failed' in reply) {
      const failure = new StoreFailure(reply.failed.kind, reply.failed.message);
      finish((asked) => asked.reject(failure));
      return;
    }
    finish((asked, index) => asked.resolve(BigInt(reply.spent[index] ?? '0')));
  }

  function finish(conclude: (asked: Asked, index: number) => void): void {
    const done = underWay;
    underWay = [];
    for (const [index, asked] of done.entries()) conclude(asked, index);
    next();
  }

  const closedFailure = () => new StoreFailure('closed', 'The store has been closed; nothing more is read.');
  return {
    prepare() {
      if (!closed) worker ??= start();
    },
    ask(question) {
      return new Promise((resolve, reject) => {
        if (closed) return reject(closedFailure());
        waiting.push({ question, resolve, reject });
        next();
      });
    },
    close() {
      closed = true;
      worker?.terminate();
      worker = null;
      for (const { reject } of [...underWay, ...waiting]) reject(closedFailure());
      underWay = [];
      waiting = [];
    },
  };
}
