/** Collects an upstream's non-streamed answer or error body, within its limits. */
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { CallFailure } from '../../errors/call-failure.ts';
import type { ExchangeListener } from '../../upstream/exchange.ts';
import type { UpstreamFailure } from '../../upstream/failure.ts';
import type { ResponseHead } from '../../upstream/response-head.ts';
import { failureOfTransport, headerOf } from './upstream-outcome.ts';

/** A complete answer. `cut`: an error body exceeded the limit; `body` is its beginning. */
export interface CollectedAnswer {
  readonly head: ResponseHead;
  readonly body: Buffer;
  readonly cut: boolean;
}

export interface CollectLimits {
  readonly errorBodyBytesMax: number;
  readonly responseBytesMax: number;
}

/** Collects one answer and settles `done` once. `stop` ends the exchange once enough of an error body was read. */
export class AnswerCollector implements ExchangeListener {
  readonly done: Promise<CollectedAnswer>;
  readonly #limits: CollectLimits;
  readonly #stop: () => void;
  #resolve!: (answer: CollectedAnswer | Promise<CollectedAnswer>) => void;
  #reject!: (failure: CallFailure) => void;
  #head: ResponseHead | null = null;
  #chunks: Uint8Array[] = [];
  #bytes = 0;

  constructor(limits: CollectLimits, stop: () => void) {
    this.#limits = limits;
    this.#stop = stop;
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  onHead(head: ResponseHead): void {
    this.#head = head;
  }

  onBody(span: Uint8Array): void {
    this.#chunks.push(span);
    this.#bytes += span.length;
    if (this.#head?.status !== 200 && this.#bytes > this.#limits.errorBodyBytesMax) {
      this.#stop();
      this.#finish(true);
    }
  }

  onEnd(): void {
    this.#finish(false);
  }

  onFailure(failure: UpstreamFailure): void {
    this.#reject(failureOfTransport(failure));
  }

  /** Aborts from outside (the client left). */
  reject(failure: CallFailure): void {
    this.#reject(failure);
  }

  #finish(cut: boolean): void {
    const head = this.#head;
    if (head === null) return;
    const [first] = this.#chunks;
    const body = this.#chunks.length === 1 && first !== undefined ? asBuffer(first) : Buffer.concat(this.#chunks);
    const coding = headerOf(head, 'content-encoding')?.toLowerCase() ?? 'identity';
    if (coding === 'identity' || cut) this.#resolve({ head, body, cut });
    else this.#resolve(decode(coding, head, body, this.#limits.responseBytesMax));
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

const DECODERS = new Map([
  ['gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
  ['br', promisify(brotliDecompress)],
]);

/** The gateway requests no content coding; a host that compresses anyway is decoded, within the same limit. */
async function decode(coding: string, head: ResponseHead, body: Buffer, bytesMax: number): Promise<CollectedAnswer> {
  const decoder = DECODERS.get(coding);
  if (decoder === undefined) {
    throw new CallFailure('upstream_malformed', 'the model provider answered in an unknown content-encoding');
  }
  try {
    return { head, body: await decoder(body, { maxOutputLength: bytesMax }), cut: false };
  } catch (cause) {
    throw new CallFailure('upstream_malformed', 'the compressed answer of the model provider cannot be read', {
      cause,
    });
  }
}
