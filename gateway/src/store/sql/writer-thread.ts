/** Owns the writer thread's life as the request thread sees it: every request gets its reply, though the thread dies. */
import { StoreFailure } from './store-failure.ts';
import { failedReply, type WriterReply, type WriterRequest } from './writer-messages.ts';

export interface WriterThread {
  /** Sends a request; `onReply` is called exactly once, in the order of the requests. */
  request(message: WriterRequest, onReply: (reply: WriterReply) => void): void;
  /** Ends the thread; requests under way are answered as lost, and `onLost` is not called. */
  end(): void;
}

/**
 * Starts the thread. Messages to a dead worker vanish without a word, so its end is watched for however it comes:
 * requests under way are answered with `writer-lost`, then `onLost` is called.
 */
export function startWriterThread(program: URL, onLost: (failure: StoreFailure) => void): WriterThread {
  const worker = new Worker(program);
  const waiting: ((reply: WriterReply) => void)[] = [];
  let lost: StoreFailure | null = null;

  function lose(reason: string): StoreFailure {
    lost = new StoreFailure('writer-lost', `The thread that writes the database ended (${reason}).`);
    worker.terminate();
    const reply = failedReply(lost);
    for (const onReply of waiting.splice(0)) onReply(reply);
    return lost;
  }
  function loseUnasked(reason: string): void {
    if (lost === null) onLost(lose(reason));
  }
  worker.onmessage = ({ data: reply }: MessageEvent<WriterReply>) => waiting.shift()?.(reply);
  worker.onerror = (event) => loseUnasked(event.message);
  worker.onmessageerror = () => loseUnasked('a message could not be read');
  worker.addEventListener('close', () => loseUnasked('it closed'));

  return {
    request(message, onReply) {
      if (lost !== null) return onReply(failedReply(lost));
      waiting.push(onReply);
      worker.postMessage(message);
    },
    end() {
      if (lost === null) lose('it was told to');
    },
  };
}
