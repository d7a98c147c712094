/** Provides a raw socket server for tests of the upstream client, controlled byte by byte. Parses nothing. */

/** One connection as the server sees it. */
export interface RawPeer {
  readonly number: number;
  /** Everything that the client has sent so far. */
  received(): Buffer;
  /** Sends bytes; what the kernel does not accept at once follows automatically. */
  send(bytes: string | Uint8Array): void;
  /** Bytes given to `send` that the kernel has not accepted yet. */
  unsentBytes(): number;
  fin(): void;
  reset(): void;
  pause(): void;
  resume(): void;
  /** How the client left; null while it is connected. */
  left(): 'closed' | null;
}

export interface RawServer {
  readonly url: string;
  readonly peers: readonly RawPeer[];
  /** Resolves once the condition holds; checks again after every event of every connection. Rejects after 3 s. */
  until(holds: () => boolean): Promise<void>;
  stop(): void;
}

const PATIENCE_MS = 3_000;

/** Starts a server; `onBytes` is called for each read of each connection. */
export function startRawServer(onBytes: (peer: RawPeer, bytes: Buffer) => void): RawServer {
  const peers: RawPeer[] = [];
  const looks = new Set<() => void>();
  const changed = () => {
    for (const look of [...looks]) look();
  };
  const sockets = new Map<Bun.Socket<number>, { peer: RawPeer; reads: Buffer[]; unsent: Buffer; gone: boolean }>();
  const flush = (socket: Bun.Socket<number>) => {
    const state = sockets.get(socket);
    if (state === undefined || state.unsent.length === 0) return;
    state.unsent = state.unsent.subarray(Math.max(0, socket.write(state.unsent)));
  };
  const listener = Bun.listen<number>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open(socket) {
        socket.setNoDelay(true);
        const state = { reads: [] as Buffer[], unsent: Buffer.alloc(0), gone: false };
        const peer: RawPeer = {
          number: peers.length + 1,
          received: () => Buffer.concat(state.reads),
          send(bytes) {
            state.unsent = Buffer.concat([state.unsent, Buffer.from(bytes as Uint8Array)]);
            flush(socket);
          },
          unsentBytes: () => state.unsent.length,
          fin: () => socket.end(),
          reset: () => socket.terminate(),
          pause: () => socket.pause(),
          resume: () => socket.resume(),
          left: () => (state.gone ? 'closed' : null),
        };
        const whole = Object.assign(state, { peer });
        sockets.set(socket, whole);
        peers.push(peer);
        changed();
      },
      data(socket, bytes) {
        const state = sockets.get(socket);
        if (state === undefined) return;
        state.reads.push(Buffer.from(bytes));
        onBytes(state.peer, bytes);
        changed();
      },
      drain(socket) {
        flush(socket);
        changed();
      },
      close(socket) {
        const state = sockets.get(socket);
        if (state !== undefined) state.gone = true;
        changed();
      },
    },
  });
  return {
    url: `http://127.0.0.1:${listener.port}`,
    peers,
    until(holds) {
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          looks.delete(look);
          reject(new Error(`waited ${PATIENCE_MS} ms; connections: ${peers.length}`));
        }, PATIENCE_MS);
        function look(): void {
          if (!holds()) return;
          looks.delete(look);
          clearTimeout(timer);
          resolve();
        }
        looks.add(look);
        look();
      });
    },
    stop: () => listener.stop(true),
  };
}
