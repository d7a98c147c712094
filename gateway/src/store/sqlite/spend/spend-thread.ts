/** Asks a thread for the spend of subjects. Questions that arrive while it reads are batched into the next request. */
import { createReadingThread } from '../database/reading-thread.ts';
import { errorOf, type Fault } from '../sqlite-fault.ts';
import type { SpendQuestion } from './spend-reader.ts';

export interface SpendRequest {
  /** The path of the database file. */
  readonly path: string;
  readonly questions: readonly SpendQuestion[];
}

/** Decimal nano-USD in the order of the questions, or the failure. */
export type SpendReply = { readonly spent: readonly string[] } | { readonly failed: Fault };

export interface SpendThread {
  /** Starts the thread if it is not running, so that the first question need not wait for that. */
  prepare(): void;
  /** Nano-USD. Rejects with Unavailable where it cannot be read; the next question tries again. */
  ask(question: SpendQuestion): Promise<bigint>;
  /** Ends the thread; pending questions are rejected as `closed`. */
  close(): void;
}

interface Asked {
  readonly question: SpendQuestion;
  readonly resolve: (spent: bigint) => void;
  readonly reject: (cause: unknown) => void;
}

/** Starts no thread yet. `program`: the thread's program. */
export function createSpendThread(path: string, program: URL): SpendThread {
  const thread = createReadingThread<SpendRequest, SpendReply>(program);
  let waiting: Asked[] = [];
  let isAsking = false;

  async function askWaiting(): Promise<void> {
    isAsking = true;
    while (waiting.length > 0) {
      const together = waiting;
      waiting = [];
      try {
        const reply = await thread.ask({ path, questions: together.map(({ question }) => question) });
        if ('failed' in reply) throw errorOf(reply.failed);
        for (const [index, { resolve }] of together.entries()) resolve(BigInt(reply.spent[index] ?? '0'));
      } catch (cause) {
        for (const { reject } of together) reject(cause);
      }
    }
    isAsking = false;
  }

  return {
    prepare: thread.prepare,
    ask: (question) =>
      new Promise((resolve, reject) => {
        waiting.push({ question, resolve, reject });
        if (!isAsking) void askWaiting();
      }),
    close: thread.close,
  };
}
