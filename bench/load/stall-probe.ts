/**
 * Probes for stalls over a separate connection: requests something that the thread serving calls answers itself, again
 * a millisecond after each answer. A long wait means that the thread was busy or not scheduled.
 */
import { createMessageReader } from '../http/message-reader.ts';
import type { Stall } from './load-plan.ts';

export interface StallProbe {
  /** Stops the probe. A pending answer counts with its wait so far. */
  stop(): Stall;
}

const PAUSE_MS = 1;

/** Starts immediately. Any complete answer counts, whatever its status; `fail` is called when the connection breaks. */
export function startStallProbe(port: number, path: string, fail: (reason: string) => void): StallProbe {
  const request = Buffer.from(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`);
  let socket: Bun.Socket<undefined> | null = null;
  let sentAt: number | null = null;
  let stopped = false;
  let probes = 0;
  let longestMs: number | null = null;
  let ownLateMs = 0;

  function noteWait(): void {
    if (sentAt !== null) longestMs = Math.max(longestMs ?? 0, performance.now() - sentAt);
    sentAt = null;
  }

  function ask(): void {
    if (stopped) return;
    sentAt = performance.now();
    socket?.write(request);
  }

  function onAnswer(): void {
    noteWait();
    probes += 1;
    const pausedAt = performance.now();
    setTimeout(() => {
      ownLateMs = Math.max(ownLateMs, performance.now() - pausedAt - PAUSE_MS);
      ask();
    }, PAUSE_MS);
  }

  function end(reason: string): void {
    if (stopped) return;
    noteWait();
    stopped = true;
    fail(`the stall probe: ${reason}`);
  }

  const reader = createMessageReader({ onHead() {}, onBody() {}, onEnd: onAnswer }, 'refuse');
  Bun.connect<undefined>({
    hostname: '127.0.0.1',
    port,
    socket: {
      open(opened) {
        socket = opened;
        if (stopped) opened.terminate();
        else ask();
      },
      data(from, bytes) {
        try {
          reader.push(bytes);
        } catch (error) {
          end(String(error));
          from.terminate();
        }
      },
      close: () => end('the connection closed'),
      error: (_, error) => end(error.message),
    },
  }).catch((error: unknown) => end(`connect to 127.0.0.1:${port}: ${String(error)}`));

  return {
    stop() {
      if (!stopped) noteWait();
      stopped = true;
      socket?.terminate();
      return { probes, longestMs, ownLateMs };
    },
  };
}
