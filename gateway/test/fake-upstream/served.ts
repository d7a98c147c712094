/** Owns the ground truth: what reached the fake provider and what of its answer left. Other suites check their books against it. */
import type { BodyPart, WireUsage } from './body-part.ts';
import type { FakeRequest } from './parse-request.ts';
import type { Endpoint } from './protocol.ts';
import type { CutHow } from './scenario.ts';

/**
 * How a call ended: `open` still running; `complete` every byte handed to the kernel; `cut` ended by a scripted fault;
 * `stalled` silent for ever by script; `client-left` the other side closed before the end.
 */
export type Finished = 'open' | 'complete' | 'cut' | 'stalled' | 'client-left';

/** One call that arrived in full. Times are milliseconds since the rig started, with fractions. */
export interface ServedCall {
  readonly number: number;
  /** The model the request named; null where its body names none. */
  readonly model: string | null;
  readonly endpoint: Endpoint;
  readonly stream: boolean;
  readonly connection: number;
  /** 1 for the first call on its connection. */
  readonly callOnConnection: number;
  readonly arrivedMs: number;
  readonly requestLine: string;
  readonly headLines: readonly string[];
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly requestBody: Uint8Array;
  /** The status decided on, also where the answer was cut before it was sent. */
  readonly status: number;
  /** Bytes of the response body handed to the kernel, framing excluded. */
  readonly bytesSent: number;
  readonly eventsSent: number;
  readonly finished: Finished;
  /** When the last byte was handed over, or the client left; null while open. */
  readonly endedMs: number | null;
  /** When the client closed before the end, also after a stall. */
  readonly leftAtMs: number | null;
  /** The usage that left in full, members of later records over earlier ones; null where none did. */
  readonly usage: WireUsage | null;
}

/** What a connection did. `resetUnread` counts requests met by a reset before they were read. */
export interface ServedConnection {
  readonly number: number;
  readonly openedMs: number;
  readonly requests: number;
  readonly responses: number;
  readonly resetUnread: number;
  readonly closedMs: number | null;
  /** Requests that began to arrive and were not whole when the client left, or were malformed. */
  readonly unfinishedRequests: number;
  readonly malformed: string | null;
}

type Writable<Shape> = { -readonly [Member in keyof Shape]: Shape[Member] };
export type OpenCall = Writable<ServedCall>;
export type OpenConnection = Writable<ServedConnection>;

/** The account of a fresh connection. */
export function newConnection(number: number, openedMs: number): OpenConnection {
  const counts = { requests: 0, responses: 0, resetUnread: 0, unfinishedRequests: 0 };
  return { number, openedMs, ...counts, closedMs: null, malformed: null };
}

/** The account of a call that has just arrived. */
export function newCall(
  request: FakeRequest,
  decided: Pick<ServedCall, 'model' | 'endpoint' | 'stream' | 'status'>,
  connection: ServedConnection,
  number: number,
  arrivedMs: number,
): OpenCall {
  return {
    number,
    model: decided.model,
    endpoint: decided.endpoint,
    stream: decided.stream,
    connection: connection.number,
    callOnConnection: connection.requests,
    arrivedMs,
    requestLine: request.requestLine,
    headLines: request.headLines,
    headers: request.headers,
    requestBody: request.body,
    status: decided.status,
    bytesSent: 0,
    eventsSent: 0,
    finished: 'open',
    endedMs: null,
    leftAtMs: null,
    usage: null,
  };
}

/** Closes a call's account: `keep` and `close` are good ends, `gone` is the client's doing, the rest were scripted. */
export function endCall(call: OpenCall, how: 'keep' | 'close' | 'gone' | CutHow, nowMs: number): void {
  call.endedMs = nowMs;
  if (how === 'gone') {
    call.finished = 'client-left';
    call.leftAtMs = nowMs;
  } else if (how === 'stall') call.finished = 'stalled';
  else call.finished = how === 'fin' || how === 'rst' ? 'cut' : 'complete';
}

/** Adds a part that has left in full to a call's account. */
export function countPart(call: OpenCall, part: BodyPart): void {
  call.eventsSent += 1;
  if (part.usage !== null) call.usage = call.usage === null ? part.usage : { ...call.usage, ...part.usage };
}

interface Waiter {
  readonly holds: () => boolean;
  readonly resolve: () => void;
}

/** The book of all calls. `changed` must be called after each change, so that waiters look again. */
export class ServedBook {
  #calls: OpenCall[] = [];
  #connections: OpenConnection[] = [];
  #waiters: Waiter[] = [];
  #numbered = 0;
  #lookDue = false;
  readonly #keepMax: number;
  readonly #startedMs = performance.now();
  /** Calls (and connections) that fell out of the book because it was full; a suite that counts must see 0. */
  dropped = 0;

  constructor(keepMax: number) {
    this.#keepMax = keepMax;
  }

  nowMs(): number {
    return performance.now() - this.#startedMs;
  }

  nextNumber(): number {
    this.#numbered += 1;
    return this.#numbered;
  }

  addCall(call: OpenCall): void {
    this.#calls.push(call);
    if (this.#calls.length > this.#keepMax * 2) this.dropped += this.#calls.splice(0, this.#keepMax).length;
    this.changed();
  }

  addConnection(connection: OpenConnection): void {
    this.#connections.push(connection);
    if (this.#connections.length > this.#keepMax * 2) this.dropped += this.#connections.splice(0, this.#keepMax).length;
    this.changed();
  }

  /** Calls in the order of arrival, of one model or of all. */
  calls(model?: string): ServedCall[] {
    const wanted = model === undefined ? this.#calls : this.#calls.filter((call) => call.model === model);
    return wanted.map((call) => ({ ...call }));
  }

  /** How many calls match now; looks at the live calls, without a copy. */
  count(predicate: (call: ServedCall) => boolean): number {
    let found = 0;
    for (const call of this.#calls) if (predicate(call)) found += 1;
    return found;
  }

  connections(): ServedConnection[] {
    return this.#connections.map((connection) => ({ ...connection }));
  }

  /** Lets the waiters look, once per turn of the event loop however much changed in it. */
  changed(): void {
    if (this.#waiters.length === 0 || this.#lookDue) return;
    this.#lookDue = true;
    setImmediate(() => {
      this.#lookDue = false;
      const ready = this.#waiters.filter((waiter) => waiter.holds());
      this.#waiters = this.#waiters.filter((waiter) => !ready.includes(waiter));
      for (const waiter of ready) waiter.resolve();
    });
  }

  /** Resolves once the condition holds; looks at once and after each turn with a change. */
  waitUntil(holds: () => boolean): Promise<void> {
    if (holds()) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push({ holds, resolve }));
  }

  /** Forgets all calls and closed connections. Calls still running go on, unseen. */
  reset(): void {
    this.#calls = [];
    this.#connections = this.#connections.filter((connection) => connection.closedMs === null);
    this.dropped = 0;
  }
}
