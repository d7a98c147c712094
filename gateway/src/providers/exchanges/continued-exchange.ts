/**
 * Continues an answer of Gemini that ends with a continuation token: the same request goes out again with the token, and
 * the listener gets one answer. In a stream the records of the hops follow each other; plain answers become an array.
 * Gemini 4 needs it: spec of providers, 0.4.
 */

import { asArray, asObject, asText, parseObject } from '../../protocols/json.ts';
import type { UpstreamFailure } from '../../upstream/connection.ts';
import type { ExchangeListener, UpstreamTap } from '../../upstream/exchange.ts';
import { codingOf, type ResponseHead } from '../../upstream/response-head.ts';
import { editBody } from '../hosted/edit-body.ts';
import type { UpstreamRequest } from '../provider.ts';
import { ChainedExchange, type OpenExchange } from './chained-exchange.ts';

/** Each hop bills the prompt and all output so far; an answer of more hops ends as if its limit were reached. */
const HOPS_MAX = 16;
/** The last record of a hop, which has the token, is shorter. */
const TAIL_BYTES_MAX = 256 * 1024;
const WORD = '"CONTINUATION"';
const RECORD_END = Buffer.from('\n\n');

/**
 * Starts an attempt of as many exchanges as the answer needs. `send` sends the request with another body. An answer of
 * more than `responseBytesMax` bytes in all is a failure.
 */
export function openContinued(
  request: UpstreamRequest,
  send: (request: UpstreamRequest) => OpenExchange,
  responseBytesMax: number,
  listener: ExchangeListener,
): UpstreamTap {
  // Google's own clients go on by themselves.
  if (request.operation === 'count_tokens' || request.passes === true) return send(request)(listener);
  const chain = new ChainedExchange();
  const hops = new Hops(request, chain, send, responseBytesMax, listener);
  hops.start(request);
  return chain;
}

/** The listener of every hop, one after the other. */
class Hops implements ExchangeListener {
  readonly #request: UpstreamRequest;
  readonly #chain: ChainedExchange;
  readonly #send: (request: UpstreamRequest) => OpenExchange;
  readonly #responseBytesMax: number;
  readonly #listener: ExchangeListener;
  readonly #streams: boolean;
  /** Whole plain answers of earlier hops. */
  readonly #earlier: Buffer[] = [];
  #hops = 0;
  /** Bytes of all hops. */
  #received = 0;
  /** What arrives may be continued: a 200 without a content coding. */
  #isOpen = false;
  /** The current hop follows another: its head does not pass, and neither does a refusal. */
  #isRefused = false;
  #spans: Uint8Array[] = [];
  #bytes = 0;
  /** The current hop's first bytes have come. */
  #hasBody = false;

  constructor(
    request: UpstreamRequest,
    chain: ChainedExchange,
    send: (request: UpstreamRequest) => OpenExchange,
    responseBytesMax: number,
    listener: ExchangeListener,
  ) {
    this.#request = request;
    this.#chain = chain;
    this.#send = send;
    this.#responseBytesMax = responseBytesMax;
    this.#listener = listener;
    this.#streams = request.operation === 'stream';
  }

  start(request: UpstreamRequest): void {
    this.#hops += 1;
    this.#spans = [];
    this.#bytes = 0;
    this.#hasBody = false;
    this.#chain.open(this.#send(request), this);
  }

  onHead(head: ResponseHead): void {
    const isAnswer = head.status === 200 && codingOf(head) === 'identity';
    if (this.#hops > 1) {
      this.#isRefused = !isAnswer;
      return;
    }
    this.#isOpen = isAnswer;
    this.#chain.noteHead();
    this.#listener.onHead(head);
  }

  onBody(span: Uint8Array): void {
    if (this.#isRefused) return;
    this.#hasBody = true;
    this.#received += span.length;
    if (this.#received > this.#responseBytesMax) {
      this.#chain.abort();
      const message = `the response is larger than ${this.#responseBytesMax} bytes`;
      this.#listener.onFailure({ kind: 'too_large', message, sent: true, stale: false });
      return;
    }
    if (this.#isOpen) this.#keep(span);
    if (this.#streams || !this.#isOpen) this.#listener.onBody(span);
  }

  onEnd(): void {
    const token = this.#isOpen && !this.#isRefused && this.#hops < HOPS_MAX ? this.#tokenOf() : null;
    if (token === null) {
      this.#finish();
      return;
    }
    if (this.#streams) this.#listener.onBody(RECORD_END);
    else this.#earlier.push(Buffer.concat(this.#spans));
    const edit = { set: ['continuationToken'], json: JSON.stringify(token) } as const;
    this.start({ ...this.#request, body: editBody(this.#request.body, [edit]) });
  }

  /** A hop that does not begin ends the answer where the one before it ended. */
  onFailure(failure: UpstreamFailure): void {
    if (this.#hops > 1 && !this.#hasBody) this.#finish();
    else this.#listener.onFailure(failure);
  }

  /** A stream needs the end alone, a plain answer all that it may be parsed from. */
  #keep(span: Uint8Array): void {
    this.#spans.push(span);
    this.#bytes += span.length;
    while (this.#streams && this.#bytes - (this.#spans[0]?.length ?? 0) > TAIL_BYTES_MAX) {
      this.#bytes -= this.#spans.shift()?.length ?? 0;
    }
  }

  #finish(): void {
    if (this.#isOpen && !this.#streams) {
      const last = this.#isRefused || !this.#hasBody ? [] : [Buffer.concat(this.#spans)];
      const answers = [...this.#earlier, ...last];
      const [only] = answers;
      const joined = answers.flatMap((answer, at) => [Buffer.from(at === 0 ? '[' : ','), answer]);
      const body = answers.length === 1 && only !== undefined ? only : Buffer.concat([...joined, Buffer.from(']')]);
      if (answers.length > 0) this.#listener.onBody(body);
    }
    // The listener may abort when it gets the body.
    if (!this.#chain.isAborted) this.#listener.onEnd();
  }

  /** The token of the hop that ended; null: the answer is complete. */
  #tokenOf(): string | null {
    const text = Buffer.concat(this.#spans).toString();
    if (!text.includes(WORD)) return null;
    const answer = parseObject(this.#streams ? lastRecordOf(text) : text);
    const candidate = asObject(asArray(answer?.candidates)[0]);
    return candidate?.finishReason === 'CONTINUATION' ? asText(candidate.continuationToken) : null;
  }
}

/** The data of the last record that has any. */
function lastRecordOf(text: string): string {
  const lines = text.trimEnd().split(/\r\n|\n|\r/);
  const line = lines.findLast((one) => one.startsWith('data:'));
  return line === undefined ? '' : line.slice('data:'.length);
}
