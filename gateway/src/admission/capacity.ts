/**
 * Limits the open calls and the request-body bytes of the whole process, body bytes also per key, and derives the number
 * of calls from the file descriptors that the process may open. Refuses new calls while the process has more work than it
 * can do.
 */
import { totalmem } from 'node:os';
import { residentBytes } from '../lib/resident-bytes.ts';

/** How often the delay is measured, and how late the timer may be: less is noise of the collector and of large bodies. */
const LOOK_EVERY_MS = 100;
const DELAY_MS_MAX = 250;
/**
 * The least delay of this many measurements in a row counts: one long turn is no overload, and a queue that never empties
 * is (as in RFC 8289).
 */
const LOOKS = 5;
const SHARE_UP = 0.1;
const SHARE_DOWN = 0.02;
/** Some calls always pass: their delay shows when the overload is over. */
const SHARE_MAX = 0.95;
/** The part of the memory from which on no new call begins. */
const MEMORY_PART_MAX = 0.9;

/**
 * Decides which new calls the process refuses for its load: by the delay of its event loop, and by its memory. Running
 * calls go on. Costs a new call one comparison.
 */
export class Overload {
  /** The part of new calls to refuse, 0 to 1. */
  #share = 0;
  #delays = new Float64Array(LOOKS);
  #looks = 0;

  /** Whether to refuse a new call; `chance`: a random number from 0 to 1. */
  refuses(chance: number): boolean {
    return this.#share > 0 && chance < this.#share;
  }

  get share(): number {
    return this.#share;
  }

  /** Notes one measurement; call it at even intervals. `memoryPart`: of the memory that the process may use. */
  note(delayMs: number, memoryPart: number): void {
    this.#delays[this.#looks % LOOKS] = delayMs;
    this.#looks += 1;
    if (memoryPart >= MEMORY_PART_MAX) {
      this.#share = 1;
      return;
    }
    const isLate = this.#looks >= LOOKS && Math.min(...this.#delays) > DELAY_MS_MAX;
    const share = isLate ? Math.min(SHARE_MAX, this.#share + SHARE_UP) : this.#share - SHARE_DOWN;
    this.#share = Math.max(0, Math.min(SHARE_MAX, share));
  }
}

/** The memory that this process may use, in bytes: of its group, else of the machine. */
function memoryBytesMax(): number {
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

/**
 * Starts measuring; returns a function that stops it. `onChange`: told when it begins to refuse calls (true), and when it
 * refuses none again.
 */
export function startOverloadWatch(overload: Overload, onChange: (refuses: boolean) => void): () => void {
  const memoryBytes = memoryBytesMax();
  let dueMs = performance.now() + LOOK_EVERY_MS;
  let refused = false;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    overload.note(Math.max(0, nowMs - dueMs), residentBytes() / memoryBytes);
    dueMs = nowMs + LOOK_EVERY_MS;
    const refuses = overload.share > 0;
    if (refuses !== refused) onChange(refuses);
    refused = refuses;
  }, LOOK_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** A bounded amount. `take` returns false and takes nothing where it would exceed the bound. */
export class Gauge {
  /** A reload may change it, also below what is held. */
  max: number;
  #held = 0;

  constructor(max: number) {
    this.max = max;
  }

  get held(): number {
    return this.#held;
  }

  get isFull(): boolean {
    return this.#held >= this.max;
  }

  take(amount: number): boolean {
    if (this.#held + amount > this.max) return false;
    this.#held += amount;
    return true;
  }

  give(amount: number): void {
    this.#held -= amount;
  }
}

/** Limits of request-body bytes, per process and per key. */
export interface BodyBounds {
  readonly process: number;
  readonly key: number;
}

/**
 * Declared body lengths are counted in advance only while they together take at most this fraction (1/n) of the bound.
 */
const DECLARED_PART = 8;

/** Counts the request-body bytes held by the process. */
export class BodyBytes {
  #bounds: BodyBounds;
  readonly #held: Gauge;
  /** Part of `#held`: bodies that were counted as declared and have not arrived. */
  readonly #declared: Gauge;
  /**
   * Keeps one entry for every key that ever sent a body: a map that is emptied as fast as it is filled is costly to
   * collect.
   */
  readonly #heldByKey = new Map<string, Gauge>();

  constructor(bounds: BodyBounds) {
    this.#bounds = bounds;
    this.#held = new Gauge(bounds.process);
    this.#declared = new Gauge(bounds.process / DECLARED_PART);
  }

  /** Replaces the bounds, also for bodies that are counted already. */
  bound(bounds: BodyBounds): void {
    this.#bounds = bounds;
    this.#held.max = bounds.process;
    this.#declared.max = bounds.process / DECLARED_PART;
    for (const ofKey of this.#heldByKey.values()) ofKey.max = bounds.key;
  }

  get held(): number {
    return this.#held.held;
  }

  /** Starts counting one body of a key; it holds nothing yet. */
  open(keyId: string): BodyShare {
    let ofKey = this.#heldByKey.get(keyId);
    if (ofKey === undefined) {
      ofKey = new Gauge(this.#bounds.key);
      this.#heldByKey.set(keyId, ofKey);
    }
    return new BodyShare(this.#held, ofKey, this.#declared);
  }
}

/** Memory of smaller bodies costs less if it is left to the collector. */
const FREED_BYTES_MIN = 16 * 1024;

/** The bytes that one body counts against the process and its key, and the body's memory. */
export class BodyShare {
  readonly #process: Gauge;
  readonly #key: Gauge;
  readonly #allDeclared: Gauge;
  #held = 0;
  #declared = 0;
  #memory: ArrayBuffer | null = null;
  #released = false;

  constructor(process: Gauge, key: Gauge, allDeclared: Gauge) {
    this.#process = process;
    this.#key = key;
    this.#allDeclared = allDeclared;
  }

  /** Counts `bytes` more. Where they would exceed a bound, returns which one and counts nothing. */
  take(bytes: number): 'taken' | 'process_full' | 'key_full' {
    // Bytes that arrive after the request ended would never be given back.
    if (this.#released) return 'taken';
    if (!this.#key.take(bytes)) return 'key_full';
    if (!this.#process.take(bytes)) {
      this.#key.give(bytes);
      return 'process_full';
    }
    this.#held += bytes;
    return 'taken';
  }

  /** Counts a body's declared length before it arrives, where the room for declared bodies allows it. */
  takeDeclared(bytes: number): boolean {
    if (!this.#allDeclared.take(bytes)) return false;
    if (this.take(bytes) === 'taken') {
      this.#declared = bytes;
      return true;
    }
    this.#allDeclared.give(bytes);
    return false;
  }

  /** Call when the declared body has arrived. */
  arrived(): void {
    this.#allDeclared.give(this.#declared);
    this.#declared = 0;
  }

  /**
   * Takes over the memory of a whole body. `release` frees it, so that the next body gets memory that the processor
   * still has in its caches; until the collector comes, hundreds of bodies would take new memory. Bytes that share
   * their memory with others are left alone.
   */
  own({ buffer, byteLength }: Buffer): void {
    if (byteLength < FREED_BYTES_MIN || byteLength !== buffer.byteLength) return;
    if (buffer instanceof ArrayBuffer) this.#memory = buffer;
  }

  /** Gives everything back. The body's bytes are empty from then on: nothing can read them. Idempotent. */
  release(): void {
    this.#released = true;
    this.arrived();
    this.#process.give(this.#held);
    this.#key.give(this.#held);
    this.#held = 0;
    this.#memory?.transfer(0);
    this.#memory = null;
  }
}

export interface Capacity {
  /** All admitted calls, also those whose bodies are still arriving; bounded only by descriptors and bytes. */
  readonly present: Gauge;
  /** Calls whose bodies have arrived. */
  readonly openCalls: Gauge;
  readonly bodyBytes: BodyBytes;
  /** Open WebSockets; who accepts them bounds them. */
  readonly webSockets: Gauge;
  /** Uploads on the disk. */
  readonly spoolBytes: BodyBytes;
  readonly overload: Overload;
}

/**
 * One call's place within the capacity. A call counts as open only once its body has arrived, so that slow uploads
 * cannot shut out other calls.
 */
export class CallPlace {
  readonly #capacity: Capacity;
  #isOpen = false;
  #isLeft = false;

  constructor(capacity: Capacity) {
    this.#capacity = capacity;
    capacity.present.take(1);
  }

  /** The body has arrived and the call begins. False: too many calls are open. */
  open(): boolean {
    this.#isOpen = this.#capacity.openCalls.take(1);
    return this.#isOpen;
  }

  /** No part of the call is running any more. Idempotent. */
  leave(): void {
    if (this.#isLeft) return;
    this.#isLeft = true;
    this.#capacity.present.give(1);
    if (this.#isOpen) this.#capacity.openCalls.give(1);
  }
}

/** Limits of the whole process. */
export interface CapacityBounds {
  readonly openCalls: number;
  readonly bodies: BodyBounds;
  /** Bytes of all uploads on the disk. */
  readonly spool: number;
}

/** A key may take this part (1/n) of the disk space of uploads. */
const SPOOL_PART = 4;

function spoolBounds(process: number): BodyBounds {
  return { process, key: Math.floor(process / SPOOL_PART) };
}

export function createCapacity({ openCalls, bodies, spool }: CapacityBounds): Capacity {
  return {
    present: new Gauge(Number.POSITIVE_INFINITY),
    openCalls: new Gauge(openCalls),
    bodyBytes: new BodyBytes(bodies),
    webSockets: new Gauge(Number.POSITIVE_INFINITY),
    spoolBytes: new BodyBytes(spoolBounds(spool)),
    overload: new Overload(),
  };
}

/** Replaces the bounds after a reload. */
export function boundCapacity(capacity: Capacity, { openCalls, bodies, spool }: CapacityBounds): void {
  capacity.openCalls.max = openCalls;
  capacity.bodyBytes.bound(bodies);
  capacity.spoolBytes.bound(spoolBounds(spool));
}

/** Bounds derived from the file descriptor limit: open calls, and when idle connections are closed. */
export interface DescriptorBounds {
  /** Maximum number of open calls. */
  readonly callsMax: number;
  /** From here on idle connections are closed and slow bodies are ended. */
  readonly shortFrom: number;
  /** Closing stops below this. */
  readonly enoughBelow: number;
  /** All available descriptors. */
  readonly most: number;
  /** Reserved for connections to providers. */
  readonly spares: number;
}

/** The client's socket and the upstream's. */
const DESCRIPTORS_PER_CALL = 2;
const RESERVE_MIN = 64;
const RESERVE_MAX = 512;
/** For the database, threads, console users and rejected calls. */
const RESERVE_PART = 8;

/** `openFilesMax`: null where there is no limit. */
export function boundsOfDescriptors(openFilesMax: number | null): DescriptorBounds {
  if (openFilesMax === null) {
    return {
      callsMax: Number.POSITIVE_INFINITY,
      shortFrom: Number.POSITIVE_INFINITY,
      enoughBelow: Number.POSITIVE_INFINITY,
      most: Number.POSITIVE_INFINITY,
      spares: 0,
    };
  }
  const reserve = Math.min(Math.max(RESERVE_MIN, Math.floor(openFilesMax / RESERVE_PART)), RESERVE_MAX);
  return {
    callsMax: Math.max(1, Math.floor((openFilesMax - reserve) / DESCRIPTORS_PER_CALL)),
    shortFrom: Math.floor(openFilesMax * 0.8),
    enoughBelow: Math.floor(openFilesMax * 0.7),
    most: openFilesMax,
    spares: reserve / 4,
  };
}
