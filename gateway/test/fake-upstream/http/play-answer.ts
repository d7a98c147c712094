/** Executes a plan on a socket: writes with back-pressure, turns, waits. */

import { existsSync, readFileSync } from 'node:fs';
import type { Step, WriteStep } from '../answer/plan-answer.ts';
import { countPart, type OpenCall, type ServedBook } from '../served.ts';

/** The part of a socket that playing an answer needs. */
export interface PlayedOn {
  /**
   * Hands `length` bytes from `from` on to the kernel and returns how many it took; negative if the socket is closed.
   */
  write(bytes: Uint8Array, from: number, length: number): number;
  readonly localPort: number;
  readonly remotePort: number;
}

/** How a plan ended: the plan's own end, or `gone` if the socket closed during it. */
export type Played = Extract<Step, { do: 'end' }>['how'] | 'gone';

/** One answer being played. */
export interface Player {
  /** Call when the socket can take bytes again. */
  readonly drained: () => void;
  /** Call when the socket has closed. */
  readonly gone: () => void;
}

/** A reset drops what the peer has not acknowledged; up to this many bytes a new loopback window holds them all. */
const SURELY_DELIVERED_BYTES = 32_768;
const DELIVERY_WAIT_MS = 2_000;

/** Number of body bytes among the first `written` bytes of a step. */
function bodyOf(step: WriteStep, written: number): number {
  return Math.min(Math.max(written - step.bodyFrom, 0), step.bodyBytes);
}

/** Counts the body bytes from `before` to `after` of a step, and the parts that ended among them. */
function countSent(call: OpenCall, step: WriteStep, before: number, after: number): void {
  call.bytesSent += after - before;
  for (const end of step.ends) if (end.at > before && end.at <= after) countPart(call, end.part);
}

/**
 * Executes the steps. `onPlayed` is called exactly once, in a later turn or at once. A null call is not counted (the
 * rig's own routes).
 */
export function playAnswer(
  socket: PlayedOn,
  steps: Iterable<Step>,
  call: OpenCall | null,
  book: ServedBook,
  onPlayed: (how: Played) => void,
): Player {
  const iterator = steps[Symbol.iterator]();
  let pending: WriteStep | null = null;
  let written = 0;
  let timer: ReturnType<typeof setTimeout> | null = null;
  let over = false;

  const finish = (how: Played): void => {
    if (over) return;
    over = true;
    if (timer !== null) clearTimeout(timer);
    iterator.return?.();
    onPlayed(how);
  };

  /** Writes the rest of the step; false if the kernel takes no more for now. */
  const write = (step: WriteStep): boolean => {
    const taken = socket.write(step.wire, written, step.wire.byteLength - written);
    if (taken < 0) {
      finish('gone');
      return false;
    }
    const before = bodyOf(step, written);
    written += taken;
    const after = bodyOf(step, written);
    if (call !== null) countSent(call, step, before, after);
    if (written < step.wire.byteLength) {
      pending = step;
      return false;
    }
    pending = null;
    written = 0;
    if (call !== null && step.ends.length > 0) book.changed();
    return true;
  };

  const resetOnceDelivered = (waitedMs: number): void => {
    const queued = unacknowledgedBytes(socket.localPort, socket.remotePort);
    if (queued === 0 || waitedMs >= DELIVERY_WAIT_MS) finish('rst');
    else timer = setTimeout(() => resetOnceDelivered(waitedMs + 2), 2);
  };

  const pump = (): void => {
    if (over || (pending !== null && !write(pending))) return;
    for (;;) {
      const next = iterator.next();
      if (over) return;
      const step: Step = next.done === true ? { do: 'end', how: 'keep' } : next.value;
      if (step.do === 'write') {
        if (!write(step)) return;
      } else if (step.do === 'turn') {
        // The first immediate still runs in this turn of the loop, before sockets are polled again.
        setImmediate(() => setImmediate(pump));
        return;
      } else if (step.do === 'hold') {
        book.held.add(pump);
        return;
      } else if (step.do === 'wait') {
        timer = setTimeout(pump, step.ms);
        return;
      } else if (step.how === 'rst' && call !== null && call.bytesSent > SURELY_DELIVERED_BYTES) {
        resetOnceDelivered(0);
        return;
      } else {
        finish(step.how);
        return;
      }
    }
  };

  pump();
  return {
    drained: () => {
      if (pending !== null) pump();
    },
    gone: () => finish('gone'),
  };
}

const TABLE = '/proc/net/tcp';

function portHex(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, '0');
}

/** Bytes of a loopback connection that the peer has not acknowledged; 0 if the system does not report it. */
function unacknowledgedBytes(localPort: number, remotePort: number): number {
  if (!existsSync(TABLE)) return 0;
  const entry = new RegExp(`:${portHex(localPort)} [0-9A-F]{8}:${portHex(remotePort)} [0-9A-F]{2} ([0-9A-F]{8}):`);
  const queued = entry.exec(readFileSync(TABLE, 'latin1'))?.[1];
  return queued === undefined ? 0 : Number.parseInt(queued, 16);
}
