/** Queues what a socket could not take yet. Does not open, close or listen to the socket. */

/** The part of a socket that an outbox needs: returns the bytes taken, or -1 when closed. */
export interface WritableSocket {
  write(bytes: Uint8Array): number;
}

export interface Outbox {
  /** Writes at once when the queue is empty, else queues. Bytes for a closed socket are dropped. */
  send(bytes: Uint8Array): void;
  /** Call on the socket's `drain`. */
  flush(): void;
  /** True when the socket took everything: the time to produce more. */
  readonly isEmpty: boolean;
}

/** An outbox in front of one socket. */
export function createOutbox(socket: WritableSocket): Outbox {
  const queue: Uint8Array[] = [];

  function flush(): void {
    let next = queue[0];
    while (next !== undefined) {
      const taken = socket.write(next);
      if (taken < 0) {
        queue.length = 0;
        return;
      }
      if (taken < next.length) {
        queue[0] = next.subarray(taken);
        return;
      }
      queue.shift();
      next = queue[0];
    }
  }

  return {
    send(bytes) {
      queue.push(bytes);
      if (queue.length === 1) flush();
    },
    flush,
    get isEmpty() {
      return queue.length === 0;
    },
  };
}
