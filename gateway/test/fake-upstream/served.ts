/**
 * Records the ground truth: what reached the fake provider and how much of its answer was sent. Other suites compare
 * the gateway's records with it.
 */
import type { BodyPart, WireUsage } from './answer/body-part.ts';
import type { FakeRequest } from './http/parse-request.ts';
import type { Endpoint } from './protocol.ts';
import type { CutHow } from './scenario.ts';

/**
 * How a call ended: `open` still running; `complete` every byte handed to the kernel; `cut` ended by a scripted fault;
 * `stalled` silent forever by script; `client-left` the client closed before the end.
 */
export type Finished = 'open' | 'complete' | 'cut' | 'stalled' | 'client-left';

/** One call that arrived completely. Times are milliseconds since the rig started, with fractions. */
export interface ServedCall {
  readonly number: number;
  /** The model the request named; null if its body names none. */
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
  /** The chosen status, even if the answer was cut before it was sent. */
  readonly status: number;
  /** Bytes of the response body handed to the kernel, framing excluded. */
  readonly bytesSent: number;
  readonly eventsSent: number;
  readonly finished: Finished;
  /** When the last byte was handed over, or the client disconnected; null while open. */
  readonly endedMs: number | null;
  /** When the client closed before the end, also after a stall. */
  readonly leftAtMs: number | null;
  /** The usage that was sent completely, members of later records over earlier ones; null if none was. */
  readonly usage: WireUsage | null;
}

/** The history of a connection. `resetUnread` counts requests answered with a reset before they were read. */
export interface ServedConnection {
  readonly number: number;
  readonly openedMs: number;
  readonly requests: number;
  readonly responses: number;
  readonly resetUnread: number;
  readonly closedMs: number | null;
  /** Requests that were incomplete when the client disconnected, or malformed. */
  readonly unfinishedRequests: number;
  readonly malformed: string | null;
}

type Writable<Shape> = { -readonly [Member in keyof Shape]: Shape[Member] };
export type OpenCall = Writable<ServedCall>;
export type OpenConnection = Writable<ServedConnection>;

/** Creates the entry of a new connection. */
export function newConnection(number: number, openedMs: number): OpenConnection {
  const counts = { requests: 0, responses: 0, resetUnread: 0, unfinishedRequests: 0 };
  return { number, openedMs, ...counts, closedMs: null, malformed: null };
}

/** Creates the entry of a call that has just arrived. */
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

/** Closes a call's entry: `keep` and `close` are good ends, `gone` is the client's doing, the rest were scripted. */
export function endCall(call: OpenCall, how: 'keep' | 'close' | 'gone' | CutHow, nowMs: number): void {
  call.endedMs = nowMs;
  if (how === 'gone') {
    call.finished = 'client-left';
    call.leftAtMs = nowMs;
  } else if (how === 'stall') call.finished = 'stalled';
  else call.finished = how === 'fin' || how === 'rst' ? 'cut' : 'complete';
}

/** Adds a completely sent part to a call's entry. */
export function countPart(call: OpenCall, part: BodyPart): void {
  call.eventsSent += 1;
  if (part.usage !== null) call.usage = call.usage === null ? part.usage : { ...call.usage, ...part.usage };
}

interface Waiter {
  readonly holds: () => boolean;
  readonly resolve: () => void;
}

/** Stores all calls. `changed` must be called after each change, so that waiters check again. */
export class ServedBook {
  #calls: OpenCall[] = [];
  #connections: OpenConnection[] = [];
  #waiters: Waiter[] = [];
  #numbered = 0;
  #lookDue = false;
  readonly #keepMax: number;
  readonly #startedMs = performance.now();
  /** Continue the answers that wait for `release`. */
  readonly held = new Set<() => void>();
  /** Calls and connections evicted because the book was full; a suite that counts must see 0. */
  dropped = 0;

  constructor(keepMax: number) {
    this.#keepMax = keepMax;
  }

  release(): void {
    const held = [...this.held];
    this.held.clear();
    for (const goOn of held) goOn();
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

  /** Returns the calls of one model or of all, in order of arrival. */
  calls(model?: string): ServedCall[] {
    const wanted = model === undefined ? this.#calls : this.#calls.filter((call) => call.model === model);
    return wanted.map((call) => ({ ...call }));
  }

  /** Counts the matching calls without copying them. */
  count(predicate: (call: ServedCall) => boolean): number {
    let found = 0;
    for (const call of this.#calls) if (predicate(call)) found += 1;
    return found;
  }

  connections(): ServedConnection[] {
    return this.#connections.map((connection) => ({ ...connection }));
  }

  /** Makes the waiters check, once per turn of the event loop however much changed in it. */
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

  /** Resolves once the condition holds; checks at once and after each turn with a change. */
  waitUntil(holds: () => boolean): Promise<void> {
    if (holds()) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push({ holds, resolve }));
  }

  /** Removes all calls and closed connections. Running calls continue unrecorded. */
  reset(): void {
    this.#calls = [];
    this.#connections = this.#connections.filter((connection) => connection.closedMs === null);
    this.dropped = 0;
  }
}
