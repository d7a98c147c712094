/**
 * Converts a non-streamed answer into a stream for a client that asked for one: some hosts do not stream, or not with
 * every option. Passes everything else through unchanged.
 */
import type { Framing } from '../../framing/framing.ts';
import type { Protocol } from '../../protocols/protocol.ts';
import type { ExchangeListener } from '../../upstream/exchange.ts';
import type { UpstreamFailure } from '../../upstream/failure.ts';
import type { ResponseHead } from '../../upstream/response-head.ts';
import { AnswerCollector, type CollectLimits } from '../attempt/collect-answer.ts';
import { headerOf } from '../attempt/upstream-outcome.ts';

export class OnePieceAnswer implements ExchangeListener {
  readonly #next: ExchangeListener;
  readonly #upstream: Protocol;
  readonly #framing: Framing;
  readonly #limits: CollectLimits;
  /** The head of an answer without an event stream's content type, until its form is known. */
  #head: ResponseHead | null = null;
  #spans: Uint8Array[] = [];

  /** `upstream` and `framing`: upstream's format and framing. */
  constructor(next: ExchangeListener, upstream: Protocol, framing: Framing, limits: CollectLimits) {
    this.#next = next;
    this.#upstream = upstream;
    this.#framing = framing;
    this.#limits = limits;
  }

  onHead(head: ResponseHead): void {
    if (head.status === 200 && !this.#framing.isStream(headerOf(head, 'content-type') ?? '')) this.#head = head;
    else this.#next.onHead(head);
  }

  onBody(span: Uint8Array): void {
    const head = this.#head;
    if (head === null) {
      this.#next.onBody(span);
      return;
    }
    const isStream =
      this.#spans.length === 0 && this.#framing.beginsStream(span) && headerOf(head, 'content-encoding') === null;
    this.#spans.push(span);
    if (isStream) this.#release(head);
  }

  onEnd(): void {
    const head = this.#head;
    if (head === null) {
      this.#next.onEnd();
      return;
    }
    const collector = new AnswerCollector(this.#limits, () => undefined);
    collector.onHead(head);
    for (const span of this.#spans) collector.onBody(span);
    collector.onEnd();
    collector.done.then(
      ({ body }) => this.#finish(head, this.#upstream.streamOfAnswer(body)),
      () => this.#finish(head, null),
    );
  }

  onFailure(failure: UpstreamFailure): void {
    if (this.#head !== null) this.#release(this.#head);
    this.#next.onFailure(failure);
  }

  /** `records` null: not a valid answer; the next listener handles it. */
  #finish(head: ResponseHead, records: Buffer | null): void {
    if (records === null) this.#release(head);
    else {
      this.#next.onHead({ ...head, headers: [['content-type', 'text/event-stream']] });
      this.#next.onBody(records);
    }
    this.#next.onEnd();
  }

  #release(head: ResponseHead): void {
    this.#head = null;
    this.#next.onHead(head);
    for (const span of this.#spans) this.#next.onBody(span);
    this.#spans = [];
  }
}
