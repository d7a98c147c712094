/** Starts and stops the fake provider, and defines the interface for tests in the same process. */

import { parseScript, resetRig, setScript } from './control.ts';
import { type Connection, openConnection } from './http/connection.ts';
import { defaultRecordingsDir } from './recordings.ts';
import type { Rig } from './rig.ts';
import type { Scenario, SlowReading } from './scenario.ts';
import { ServedBook, type ServedCall, type ServedConnection } from './served.ts';

export interface FakeUpstreamSettings {
  /** 0 or absent: any free port of 127.0.0.1. */
  readonly port?: number;
  readonly recordingsDir?: string;
  /** Minimum number of recent calls kept (default 100,000); older ones are counted as `dropped`. */
  readonly keepCallsMax?: number;
}

/** A running fake provider. */
export interface FakeUpstream {
  /** `http://127.0.0.1:PORT`, without a path; each endpoint also works under `/v1`. */
  readonly url: string;
  readonly port: number;
  /**
   * Scripts a model's calls: one scenario for all of them, or a list for successive calls whose last one repeats.
   * @throws Error that names the invalid member.
   */
  script(model: string, scenario: Scenario | readonly Scenario[]): void;
  /** Sets how request bodies are read from now on, on every connection; null is full speed. */
  readSlowly(reading: SlowReading | null): void;
  /** Returns a copy of the calls of one model or of all, in order of arrival. */
  served(model?: string): ServedCall[];
  connections(): ServedConnection[];
  /** Calls evicted because the book was full. */
  dropped(): number;
  /**
   * Resolves with the matching calls once there are `count` of them (default 1). Rejects after `timeoutMs` (default
   * 5,000) with what was there instead.
   */
  waitFor(
    predicate: (call: ServedCall) => boolean,
    patience?: { readonly count?: number; readonly timeoutMs?: number },
  ): Promise<ServedCall[]>;
  /** Resolves once the condition holds; checks after each change in the book. Rejects after `timeoutMs` (5,000). */
  until(holds: () => boolean, timeoutMs?: number): Promise<void>;
  /** Continues the answers that their scenario holds now. */
  release(): void;
  /** Removes scripts, calls and closed connections. */
  reset(): void;
  /** Closes the port and every connection. */
  stop(): Promise<void>;
}

function summary(calls: readonly ServedCall[]): string {
  const lines = calls
    .slice(-10)
    .map((call) => `${call.model} ${call.endpoint} ${call.finished} ${call.bytesSent} bytes`);
  return `${calls.length} calls: ${lines.join('; ')}`;
}

async function untilTrue(book: ServedBook, holds: () => boolean, timeoutMs: number, what: string): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`waited ${timeoutMs} ms for ${what} at the fake upstream; ${summary(book.calls())}`));
    }, timeoutMs);
  });
  try {
    await Promise.race([book.waitUntil(holds), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Starts a fake provider on 127.0.0.1. */
export async function startFakeUpstream(settings: FakeUpstreamSettings = {}): Promise<FakeUpstream> {
  const book = new ServedBook(settings.keepCallsMax ?? 100_000);
  const recordingsDir = settings.recordingsDir ?? defaultRecordingsDir();
  const rig: Rig = { book, recordingsDir, scripts: new Map(), prepared: new Map(), slowReading: null, said: 0 };
  const open = new Set<Bun.Socket<Connection | null>>();
  let connections = 0;
  const listener = Bun.listen<Connection | null>({
    hostname: '127.0.0.1',
    port: settings.port ?? 0,
    socket: {
      open(socket) {
        socket.setNoDelay(true);
        connections += 1;
        open.add(socket);
        socket.data = openConnection(rig, socket, connections);
      },
      data: (socket, bytes) => socket.data?.received(bytes),
      drain: (socket) => socket.data?.drained(),
      close(socket) {
        open.delete(socket);
        socket.data?.closed();
      },
      error(socket, error) {
        // Bun calls this only for exceptions of the handlers above: a bug of the rig must not pass as a network fault.
        socket.terminate();
        queueMicrotask(() => Promise.reject(error));
      },
    },
  });
  return {
    url: `http://127.0.0.1:${listener.port}`,
    port: listener.port,
    script: (model, scenario) => setScript(rig, model, parseScript(scenario)),
    readSlowly: (reading) => {
      rig.slowReading = reading;
    },
    served: (model) => book.calls(model),
    connections: () => book.connections(),
    dropped: () => book.dropped,
    waitFor: async (predicate, { count = 1, timeoutMs = 5_000 } = {}) => {
      await untilTrue(book, () => book.count(predicate) >= count, timeoutMs, `${count} matching calls`);
      return book.calls().filter(predicate);
    },
    until: (holds, timeoutMs = 5_000) => untilTrue(book, holds, timeoutMs, 'a condition'),
    release: () => book.release(),
    reset: () => resetRig(rig),
    stop: async () => {
      listener.stop(true);
      for (const socket of open) socket.terminate();
    },
  };
}
