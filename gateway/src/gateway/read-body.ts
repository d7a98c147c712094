/** Owns the reading of a request body: its type, coding, size as it arrives, and the time it may take. Parses nothing. */
import { gunzip } from 'node:zlib';
import type { Gauge } from '../admission/capacity.ts';
import type { Limits } from '../config/limits.ts';
import { CallFailure } from '../errors/call-failure.ts';
import { type Deadline, UNWATCHED, unwatchDeadline, watchDeadline } from '../lib/deadlines.ts';

/** Bytes of a body and how to give their share of the process's memory back: exactly once, when the call is over. */
export interface HeldBody {
  readonly bytes: Buffer;
  release(): void;
}

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

/**
 * Reads the whole body. Throws `CallFailure`: `invalid_request` (content type), `encoding_unsupported`,
 * `body_too_large`, `body_timeout`, `over_capacity`, `client_left`.
 */
export function readBody(request: Request, limits: Limits, gauge: Gauge): Promise<HeldBody> {
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
  const claim = new Claim(gauge, limits.bodyBytesMax);
  if (length === null) return hold(readChunks(request, claim), coding, claim, limits);
  claim.growTo(Number(length));
  return hold(request.arrayBuffer(), coding, claim, limits);
}

/** Waits for the bytes, within the time that a body may take, and inflates them. */
async function hold(
  body: Promise<ArrayBuffer | Buffer>,
  coding: 'identity' | 'gzip',
  claim: Claim,
  limits: Limits,
): Promise<HeldBody> {
  try {
    const raw = await within(body, limits);
    const bytes = coding === 'gzip' ? await inflate(raw, claim, limits) : raw;
    return { bytes, release: () => claim.release() };
  } catch (error) {
    claim.release();
    throw error;
  }
}

/** What one body has taken of the gauge. */
class Claim {
  readonly #gauge: Gauge;
  readonly #bytesMax: number;
  #held = 0;

  constructor(gauge: Gauge, bytesMax: number) {
    this.#gauge = gauge;
    this.#bytesMax = bytesMax;
  }

  /** Makes the claim as large as `bytes` in all. */
  growTo(bytes: number): void {
    if (bytes > this.#bytesMax) {
      throw new CallFailure(
        'body_too_large',
        `the body is larger than ${this.#bytesMax} bytes, the most this gateway takes. Send less, or raise limits.body_bytes_max`,
        { closeConnection: true },
      );
    }
    if (bytes > this.#held) this.growBy(bytes - this.#held);
  }

  /** Takes so many bytes more: what a body inflates to is held beside its compressed bytes, each within its own bound. */
  growBy(bytes: number): void {
    if (!this.#gauge.take(bytes)) {
      throw new CallFailure('over_capacity', 'too many request bodies are held at once; try again shortly', {
        closeConnection: true,
        retryAfterSeconds: 1,
      });
    }
    this.#held += bytes;
  }

  release(): void {
    this.#gauge.give(this.#held);
    this.#held = 0;
  }
}

function checkType(contentType: string | null): void {
  if (contentType !== null && JSON_TYPE.test(contentType)) return;
  const found = contentType === null ? 'missing' : quote(contentType);
  throw new CallFailure('invalid_request', `content-type is ${found}; expected application/json`, {
    closeConnection: true,
  });
}

/** The bytes, unless they take too long. On the line of every call: as few promises as can be. */
function within(body: Promise<ArrayBuffer | Buffer>, limits: Limits): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const deadline: Deadline = {
      dueMs: performance.now() + limits.bodyTimeoutMs,
      slot: UNWATCHED,
      onDue() {
        unwatchDeadline(deadline);
        reject(
          new CallFailure('body_timeout', `the body did not arrive within ${limits.bodyTimeoutMs} ms`, {
            closeConnection: true,
          }),
        );
      },
    };
    watchDeadline(deadline);
    body.then(
      (bytes) => {
        unwatchDeadline(deadline);
        resolve(Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes));
      },
      (error: unknown) => {
        unwatchDeadline(deadline);
        reject(error instanceof CallFailure ? error : left(error));
      },
    );
  });
}

/** A body of unknown length, counted as it arrives. */
async function readChunks(request: Request, claim: Claim): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  if (request.body === null) return Buffer.alloc(0);
  for await (const chunk of request.body) {
    bytes += chunk.length;
    claim.growTo(bytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, bytes);
}

function left(cause: unknown): CallFailure {
  return new CallFailure('client_left', 'the client left before its request was read', { cause });
}

function inflate(raw: Buffer, claim: Claim, limits: Limits): Promise<Buffer> {
  const most = Math.min(limits.bodyBytesMax, raw.length * limits.gzipRatioMax);
  return new Promise((resolve, reject) => {
    gunzip(raw, { maxOutputLength: Math.max(1, most) }, (error, bytes) => {
      try {
        if (error === null) {
          claim.growBy(bytes.length);
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
