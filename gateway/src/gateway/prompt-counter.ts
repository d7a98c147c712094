/**
 * Owns the thread that counts prompts, as the request thread sees it: started by the first, anew where it died. What it has
 * no room for is not counted. Knows no tokenizer.
 */
import type { PromptToCount } from './count-prompt.ts';

export interface PromptCounter {
  /** Copies the body to the thread. False: too many wait already, and it will not be counted. */
  count(prompt: PromptToCount, onCounted: (tokens: number | null) => void): boolean;
  close(): void;
}

/** With the largest body that is sampled it bounds what waits. */
const WAITING_MAX = 8;

/** As a literal beside this file, so that `bun build --compile` finds it. */
const PROGRAM = new URL('./count-prompt-worker.ts', import.meta.url);

/** Starts nothing yet. `program`: the thread's, another one only in tests. `onCounted` hears null, too, of what died with the thread. */
export function createPromptCounter(program: URL = PROGRAM): PromptCounter {
  let worker: Worker | null = null;
  const waiting: ((tokens: number | null) => void)[] = [];

  function start(): Worker {
    const started = new Worker(program);
    const lose = () => {
      if (worker !== started) return;
      worker = null;
      started.terminate();
      for (const onCounted of waiting.splice(0)) onCounted(null);
    };
    started.onmessage = ({ data: tokens }: MessageEvent<number | null>) => waiting.shift()?.(tokens);
    started.onerror = lose;
    started.onmessageerror = lose;
    started.addEventListener('close', lose);
    return started;
  }

  return {
    count(prompt, onCounted) {
      if (waiting.length >= WAITING_MAX) return false;
      worker ??= start();
      waiting.push(onCounted);
      worker.postMessage(prompt);
      return true;
    },
    close() {
      worker?.terminate();
      worker = null;
      waiting.length = 0;
    },
  };
}
