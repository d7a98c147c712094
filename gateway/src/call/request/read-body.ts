/**
 * Reads a request body: checks its content type and coding, its size as it arrives and its time limit, then its JSON
 * within its limits and its members by type and range. Knows all bodies that are arriving.
 */
import { gunzip } from 'node:zlib';
import type { BodyShare } from '../../admission/capacity.ts';
import type { Limits } from '../../config/limits.ts';
import { CallFailure, invalidRequest } from '../../errors/call-failure.ts';
import { type Deadline, UNWATCHED, unwatchDeadline, watchDeadline, watchedDeadlines } from '../../lib/deadlines.ts';
import type { ClientProtocol } from '../../protocols/client-protocol.ts';
import type { CheckContext, RequestFacts } from '../../protocols/request/request-facts.ts';
import type { JsonScanLimits } from '../../wire/json-limits.ts';
import { type JsonOutline, OutlineFull } from '../../wire/json-node.ts';
import type { JsonProblem } from '../../wire/json-problem.ts';
import { type JsonScan, startJsonScan } from '../../wire/json-scan.ts';
import { isFormType } from '../../wire/multipart/part-head.ts';
import type { CallOrigin, Identified } from '../call.ts';

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/** Whether the body of the call is a form. */
export function takesForm({ protocol, request }: Identified): boolean {
  const { takesForms } = protocol;
  if (takesForms === undefined) return false;
  return takesForms === 'always' || isFormType(request.headers.get('content-type') ?? '');
}

/**
 * Reads the whole body; `call.body` owns its memory, which is freed when the call is released. Throws `CallFailure`: `invalid_request` (content type), `encoding_unsupported`,
 * `body_too_large`, `body_timeout`, `over_capacity`, `rate_limited` (the key holds too many bytes), `client_left`.
 */
export function readBody(call: Identified): Promise<Buffer> {
  const { request, origin, deps, principal } = call;
  const { limits } = call.settings.config;
  const { headers } = request;
  checkType(headers.get('content-type'));
  const coding = headers.get('content-encoding')?.trim().toLowerCase() ?? 'identity';
  if (coding !== 'identity' && coding !== 'gzip') {
    throw new CallFailure(
      'encoding_unsupported',
      `content-encoding is ${quote(coding)}; expected none, identity or gzip. Send the body uncompressed`,
      { closeConnection: true },
    );
  }
  const length = headers.get('content-length');
  if (length !== null && Number(length) > limits.bodyBytesMax) throw tooLarge(limits);
  const share = deps.capacity.bodyBytes.open(principal.keyId);
  call.body = share;
  const body = new CallBody(limits, origin, share, coding);
  return length !== null && isCountedAtOnce(Number(length), share, limits)
    ? body.wait(request.arrayBuffer())
    : body.readCounted(request);
}

/**
 * Reading a short body in one piece is cheaper, but its bytes cannot be counted as they arrive. A body is short if it
 * needs no more than `body_timeout` at the minimum rate, so its time limit needs no count either.
 */
function isCountedAtOnce(length: number, share: BodyShare, limits: Limits): boolean {
  return length <= (limits.bodyBytesPerSecondMin * limits.bodyTimeoutMs) / 1_000 && share.takeDeclared(length);
}

/** Counts further bytes: a decompressed body is held in addition to its compressed bytes, each within its own limit. Throws `CallFailure`. */
export function countBytes(bytes: number, share: BodyShare, limits: Limits): void {
  const outcome = share.take(bytes);
  if (outcome === 'taken') return;
  if (outcome === 'key_full') {
    throw new CallFailure(
      'rate_limited',
      `the request bodies that this key has open are larger than ${limits.bodyBytesPerKeyMax} bytes together; send fewer at once`,
      { closeConnection: true, retryAfterSeconds: 1 },
    );
  }
  throw new CallFailure('over_capacity', 'too many request bodies are held at once; try again shortly', {
    closeConnection: true,
    retryAfterSeconds: 1,
  });
}

function tooLarge({ bodyBytesMax }: Limits): CallFailure {
  return new CallFailure(
    'body_too_large',
    `the body is larger than ${bodyBytesMax} bytes, the most this gateway takes. Send less, or raise limits.body_bytes_max`,
    { closeConnection: true },
  );
}

function checkType(contentType: string | null): void {
  if (contentType !== null && JSON_TYPE.test(contentType)) return;
  const found = contentType === null ? 'missing' : quote(contentType);
  throw new CallFailure('invalid_request', `content-type is ${found}; expected application/json`, {
    closeConnection: true,
  });
}

function left(cause: unknown): CallFailure {
  return new CallFailure('client_left', 'the client left before its request was read', { cause });
}

function inflate(raw: Buffer, share: BodyShare, limits: Limits): Promise<Buffer> {
  const most = Math.min(limits.bodyBytesMax, raw.length * limits.gzipRatioMax);
  return new Promise((resolve, reject) => {
    gunzip(raw, { maxOutputLength: Math.max(1, most) }, (error, bytes) => {
      try {
        if (error === null) {
          countBytes(bytes.length, share, limits);
          share.own(bytes);
          resolve(bytes);
        } else reject(gzipFailure(error, most, limits));
      } catch (failure) {
        reject(failure);
      }
    });
  });
}

function gzipFailure(error: NodeJS.ErrnoException, most: number, limits: Limits): CallFailure {
  if (error.code !== 'ERR_BUFFER_TOO_LARGE') {
    return new CallFailure('invalid_request', 'the body is not the gzip that its content-encoding says', {
      cause: error,
    });
  }
  return most === limits.bodyBytesMax
    ? new CallFailure('body_too_large', `the body inflates to more than ${limits.bodyBytesMax} bytes`)
    : new CallFailure('encoding_unsupported', `the body inflates to more than ${limits.gzipRatioMax} times its size`);
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 80));
}

export type BodyTimeLimits = Pick<Limits, 'bodyTimeoutMs' | 'bodyTimeoutMaxMs' | 'bodyBytesPerSecondMin'>;

/** The defaults without configuration. */
export const BODY_TIME_LIMITS: BodyTimeLimits = {
  bodyTimeoutMs: 60_000,
  bodyTimeoutMaxMs: 900_000,
  bodyBytesPerSecondMin: 64 * 1024,
};

/** A body that has not fully arrived. */
export class ArrivingBody implements Deadline {
  readonly startMs = performance.now();
  dueMs: number;
  slot = UNWATCHED;
  /** Bytes received so far; 0 if the body is not counted while it arrives. */
  byteCount = 0;
  readonly #origin: Pick<CallOrigin, 'address'>;
  readonly #limits: BodyTimeLimits;
  #reject: ((failure: CallFailure) => void) | null = null;
  #isOver = false;

  constructor(limits: BodyTimeLimits, origin: Pick<CallOrigin, 'address'>) {
    this.#limits = limits;
    this.#origin = origin;
    this.dueMs = this.startMs + limits.bodyTimeoutMs;
  }

  /** The client's address; null: unknown. */
  address(): string | null {
    return this.#origin.address();
  }

  /**
   * Resolves with the bytes, or rejects if they take too long or are given up. Runs on every call, so it costs only one
   * promise.
   */
  wait(bytes: Promise<ArrayBuffer | Buffer>): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      watchDeadline(this);
      bytes.then(
        (whole) => {
          unwatchDeadline(this);
          resolve(this.finish(whole));
        },
        (error: unknown) => {
          unwatchDeadline(this);
          reject(this.failureOf(error));
        },
      );
    });
  }

  /** The body of the bytes that arrived. */
  protected finish(bytes: ArrayBuffer | Buffer): Buffer | Promise<Buffer> {
    return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes);
  }

  /** The reason why it did not arrive. */
  protected failureOf(error: unknown): unknown {
    return error;
  }

  /**
   * Like `wait`, for a body that is counted as it arrives. `onCount` gets the bytes so far; if it throws, the body is
   * refused.
   */
  gather(body: ReadableStream<Uint8Array>, onCount: (byteCount: number, added: number) => void): Promise<Buffer> {
    const chunks: Uint8Array[] = [];
    const take = (chunk: Uint8Array) => {
      onCount(this.byteCount, chunk.length);
      chunks.push(chunk);
    };
    return this.receive(body, take, () => Buffer.concat(chunks, this.byteCount));
  }

  /** Like `wait`, for a body that `take` gets as it arrives, at its pace; if it throws, the body is refused. */
  protected async receive(
    body: ReadableStream<Uint8Array>,
    take: (chunk: Uint8Array) => void | Promise<void>,
    whole: () => Buffer,
  ): Promise<Buffer> {
    const reader = body.getReader();
    const takeAll = async () => {
      for (;;) {
        const { done, value } = await reader.read();
        if (done || this.#isOver) return whole();
        this.byteCount += value.length;
        const taken = take(value);
        if (taken instanceof Promise) await taken;
      }
    };
    try {
      return await this.wait(takeAll());
    } catch (error) {
      this.#isOver = true;
      // The connection may already be closed.
      reader.cancel().catch(() => {});
      throw error;
    }
  }

  onDue(nowMs: number): void {
    const { bodyTimeoutMs, bodyTimeoutMaxMs, bodyBytesPerSecondMin } = this.#limits;
    const mostMs = Math.max(bodyTimeoutMs, bodyTimeoutMaxMs);
    // The time at which the average rate falls below the minimum.
    const fastEnoughMs = (this.byteCount / bodyBytesPerSecondMin) * 1_000;
    this.dueMs = this.startMs + Math.min(Math.max(bodyTimeoutMs, fastEnoughMs), mostMs);
    if (nowMs < this.dueMs) return;
    const message =
      fastEnoughMs < mostMs
        ? `the body did not arrive within ${bodyTimeoutMs} ms, nor at ${bodyBytesPerSecondMin} bytes per second`
        : `the body did not arrive within ${mostMs} ms`;
    this.end(new CallFailure('body_timeout', message, { closeConnection: true }));
  }

  /** Stops waiting for the rest of the body. */
  end(failure: CallFailure): void {
    unwatchDeadline(this);
    this.#reject?.(failure);
  }
}

/** All bodies that are arriving now. */
export function arrivingBodies(): ArrivingBody[] {
  return watchedDeadlines().filter((deadline) => deadline instanceof ArrivingBody);
}

/** The body of a call, counted in its share. */
class CallBody extends ArrivingBody {
  readonly #share: BodyShare;
  readonly #limits: Limits;
  readonly #coding: 'identity' | 'gzip';

  constructor(limits: Limits, origin: Pick<CallOrigin, 'address'>, share: BodyShare, coding: 'identity' | 'gzip') {
    super(limits, origin);
    this.#limits = limits;
    this.#share = share;
    this.#coding = coding;
  }

  /** Reads a body that is counted as it arrives. */
  readCounted({ body }: Request): Promise<Buffer> {
    if (body === null) return Promise.resolve(Buffer.alloc(0));
    return this.gather(body, (byteCount, added) => {
      if (byteCount > this.#limits.bodyBytesMax) throw tooLarge(this.#limits);
      countBytes(added, this.#share, this.#limits);
    });
  }

  protected override finish(bytes: ArrayBuffer | Buffer): Buffer | Promise<Buffer> {
    this.#share.arrived();
    const raw = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes);
    if (this.#coding === 'gzip') return inflate(raw, this.#share, this.#limits);
    this.#share.own(raw);
    return raw;
  }

  protected override failureOf(error: unknown): unknown {
    return error instanceof CallFailure ? error : left(error);
  }
}

/** A validated body: its outline (for splicing) and its facts. */
export interface ReadCall {
  readonly outline: JsonOutline;
  readonly facts: RequestFacts;
}

/** A scan by steps yields to other calls after this many bytes; about 0.2 ms. */
const SCAN_STEP_BYTES = 256 * 1024;

/** Validates a body. Throws CallFailure `invalid_request` with position and cause. */
export function readCall(
  bytes: Uint8Array,
  protocol: ClientProtocol,
  context: CheckContext,
): ReadCall | Promise<ReadCall> {
  const outcome = readOutline(bytes, context.limits);
  return outcome instanceof Promise
    ? outcome.then((outline) => check(outline, protocol, context))
    : check(outcome, protocol, context);
}

/** The outline of a body that is JSON. Throws CallFailure `invalid_request` with position and cause. */
export function readOutline(bytes: Uint8Array, limits: CheckContext['limits']): JsonOutline | Promise<JsonOutline> {
  const scan = startJsonScan(bytes, {
    depthMax: limits.jsonDepthMax,
    keysPerObjectMax: limits.jsonKeysMax,
  });
  const outcome = scan.step(SCAN_STEP_BYTES);
  return outcome === 'more' ? readOn(scan) : requireJson(outcome);
}

async function readOn(scan: JsonScan): Promise<JsonOutline> {
  return requireJson(await scanOn(scan));
}

/** Scans by steps, between which other calls run. */
export function scanBySteps(
  bytes: Uint8Array,
  limits: Partial<JsonScanLimits>,
): JsonOutline | JsonProblem | Promise<JsonOutline | JsonProblem> {
  const scan = startJsonScan(bytes, limits);
  const outcome = scan.step(SCAN_STEP_BYTES);
  return outcome === 'more' ? scanOn(scan) : outcome;
}

async function scanOn(scan: JsonScan): Promise<JsonOutline | JsonProblem> {
  for (;;) {
    await new Promise<void>((resolve) => setImmediate(resolve));
    const outcome = scan.step(SCAN_STEP_BYTES);
    if (outcome !== 'more') return outcome;
  }
}

function requireJson(outcome: JsonOutline | JsonProblem): JsonOutline {
  if (outcome.ok) return outcome;
  throw invalidRequest(`the body is not JSON that this gateway takes: ${outcome.message}`);
}

function check(outline: JsonOutline, protocol: ClientProtocol, context: CheckContext): ReadCall {
  try {
    return { outline, facts: protocol.checkRequest(outline, context) };
  } catch (error) {
    if (!(error instanceof OutlineFull)) throw error;
    throw invalidRequest(`the body cannot be checked: ${error.message}`);
  }
}
