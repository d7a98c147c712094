/**
 * Receives a multipart form: its short parts as text, its files into the upload's body. There is no limit on its whole
 * time, but an end for one that stalls or crawls. Contract, 10.14.
 */
import type { Limits } from '../../config/limits.ts';
import { CallFailure, invalidRequest } from '../../errors/call-failure.ts';
import { MultipartError, MultipartReader } from '../../wire/multipart/multipart-reader.ts';
import { boundaryOf } from '../../wire/multipart/part-head.ts';
import type { CallOrigin } from '../call.ts';
import { ArrivingBody } from '../request/read-body.ts';
import type { ReceivedForm } from './sent-form.ts';

export type UploadTimes = Pick<Limits, 'uploadStallTimeoutMs' | 'uploadBytesPerSecondMin'>;

/** The part of a request that is received. */
export type UploadRequest = Pick<Request, 'body' | 'signal'>;

const NOTHING = Buffer.alloc(0);

/** The boundary that a form's content type names. Throws `invalid_request`. */
export function readBoundary(contentType: string): string {
  const boundary = boundaryOf(contentType);
  if (boundary !== null) return boundary;
  throw invalidRequest(
    `content-type is ${JSON.stringify(contentType.slice(0, 120))}; expected multipart/form-data with one boundary of 1 to 70 characters`,
  );
}

/** An upload that has not fully arrived. */
export class ArrivingForm extends ArrivingBody {
  readonly #times: UploadTimes;
  #lastMs = this.startMs;
  #markMs = this.startMs;
  #markBytes = 0;

  constructor(
    limits: ConstructorParameters<typeof ArrivingBody>[0] & UploadTimes,
    origin: Pick<CallOrigin, 'address'>,
  ) {
    super(limits, origin);
    this.#times = limits;
    this.dueMs = this.startMs + limits.uploadStallTimeoutMs;
  }

  /** Rejects with CallFailure: `invalid_request`, `body_timeout`, `client_left`, and as `UploadBody.append`. */
  async receiveForm({ body: stream, signal }: UploadRequest, { body, boundary, parts }: ReceivedForm): Promise<void> {
    const reader = new MultipartReader(boundary, (part) => parts.push(part));
    const take = async (chunk: Uint8Array) => {
      reader.push(chunk);
      await body.append(chunk);
      // The time of our own disk is not the client's.
      this.#lastMs = performance.now();
    };
    // The runtime does not end the body of a client that leaves (Bun 1.4.5).
    const onLeft = () => this.end(clientLeft(signal.reason));
    signal.addEventListener('abort', onLeft);
    try {
      if (stream !== null) await this.receive(stream, take, () => NOTHING);
    } finally {
      signal.removeEventListener('abort', onLeft);
    }
    try {
      reader.end();
    } catch (error) {
      throw this.failureOf(error);
    }
  }

  override onDue(nowMs: number): void {
    const { uploadStallTimeoutMs, uploadBytesPerSecondMin } = this.#times;
    if (nowMs - this.#lastMs >= uploadStallTimeoutMs) {
      this.end(tooSlow(`nothing of the upload arrived for ${uploadStallTimeoutMs} ms`));
      return;
    }
    if (nowMs - this.#markMs >= uploadStallTimeoutMs) {
      const needed = (uploadBytesPerSecondMin * (nowMs - this.#markMs)) / 1_000;
      if (this.byteCount - this.#markBytes < needed) {
        this.end(tooSlow(`less than ${uploadBytesPerSecondMin} bytes of the upload arrived per second`));
        return;
      }
      this.#markMs = nowMs;
      this.#markBytes = this.byteCount;
    }
    this.dueMs = Math.min(this.#lastMs, this.#markMs) + uploadStallTimeoutMs;
  }

  protected override failureOf(error: unknown): unknown {
    if (error instanceof CallFailure) return error;
    if (error instanceof MultipartError) {
      return new CallFailure('invalid_request', `the body is not a form that this gateway takes: ${error.message}`, {
        closeConnection: true,
      });
    }
    return clientLeft(error);
  }
}

function clientLeft(cause: unknown): CallFailure {
  return new CallFailure('client_left', 'the client left before its request was read', { cause });
}

function tooSlow(message: string): CallFailure {
  return new CallFailure('body_timeout', message, { closeConnection: true });
}
