/**
 * Passes on the stream of a stored object, the events of a response or the bytes of a file: as they come from the provider,
 * which is paused while the client does not read. Costs nothing: the call that made a response is settled by its job.
 */
import { CallFailure } from '../../errors/call-failure.ts';
import type { ObjectRequest } from '../../protocols/stored/shared-state.ts';
import type { UpstreamFailure } from '../../upstream/connection.ts';
import type { ExchangeListener, UpstreamTap } from '../../upstream/exchange.ts';
import { headerOf, type ResponseHead } from '../../upstream/response-head.ts';
import { AnswerCollector, type CollectedAnswer } from '../attempt/collect-answer.ts';
import { failureOf, failureOfTransport } from '../attempt/upstream-outcome.ts';
import type { Identified } from '../call.ts';
import type { Interruptible } from '../deps.ts';
import type { KeptPlace } from './find-place.ts';
import { type ObjectContent, requestAbout } from './send-object-request.ts';

export type StreamedObject =
  | { readonly kind: 'answer'; readonly answer: CollectedAnswer }
  | {
      readonly kind: 'stream';
      readonly head: ResponseHead;
      readonly body: ReadableStream<Uint8Array>;
      /** Resolves when nothing of it is left. */
      readonly closed: Promise<void>;
    };

/** How a stream is asked for and recognized. */
export interface StreamForm {
  readonly content: ObjectContent;
  readonly bytesMax: number;
  /** Another answer is collected. */
  isStream(head: ResponseHead): boolean;
}

/** Resolves with a stream, or with an answer of any status in one piece. Rejects with CallFailure. */
export function streamObject(
  call: Identified,
  place: KeptPlace,
  object: ObjectRequest,
  form: StreamForm,
): Promise<StreamedObject> {
  return new ObjectStream(call, form).open(place, object);
}

/** The events of a stored response, from where its client left them. */
export function eventsOf({ settings }: Identified): StreamForm {
  return {
    content: { operation: 'stream' },
    bytesMax: settings.config.limits.responseBytesMax,
    isStream: (head) => head.status === 200 && /^text\/event-stream/i.test(headerOf(head, 'content-type') ?? ''),
  };
}

class ObjectStream implements ExchangeListener, Interruptible {
  readonly #call: Identified;
  readonly #form: StreamForm;
  readonly #begun = Promise.withResolvers<StreamedObject>();
  readonly #closed = Promise.withResolvers<void>();
  readonly #leave = () =>
    this.interrupt(new CallFailure('client_left', 'the client left before its answer was complete'));
  #tap: UpstreamTap | null = null;
  #collector: AnswerCollector | null = null;
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  /** Runs while the client takes nothing. */
  #stuck: Timer | null = null;
  #isOver = false;
  #provider = '';

  constructor(call: Identified, form: StreamForm) {
    this.#call = call;
    this.#form = form;
  }

  open(place: KeptPlace, object: ObjectRequest): Promise<StreamedObject> {
    const { request, deps } = this.#call;
    const handle = deps.openCalls.add(this);
    request.signal.addEventListener('abort', this.#leave);
    void this.#closed.promise.then(() => {
      deps.openCalls.remove(handle);
      request.signal.removeEventListener('abort', this.#leave);
    });
    try {
      if (request.signal.aborted) this.#leave();
      else {
        const { content, bytesMax } = this.#form;
        this.#provider = place.target.upstream.provider;
        const sent = requestAbout(this.#call, object, content);
        this.#tap = place.target.upstream.openExchange(sent, place.credential, bytesMax, this);
      }
    } catch (cause) {
      this.#begun.reject(failureOf(cause));
      this.#close();
    }
    return this.#begun.promise;
  }

  onHead(head: ResponseHead): void {
    if (this.#form.isStream(head)) {
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#goOn(),
        cancel: () => this.#leave(),
      });
      this.#begun.resolve({ kind: 'stream', head, body, closed: this.#closed.promise });
      return;
    }
    this.#collector = new AnswerCollector(this.#call.settings.config.limits, {
      onEnough: () => this.#tap?.abort(),
      onAnswer: (answer) => {
        this.#begun.resolve({ kind: 'answer', answer });
        this.#close();
      },
      onAnswerFailed: (failure) => {
        this.#begun.reject(failure);
        this.#close();
      },
    });
    this.#collector.onHead(head);
  }

  onBody(span: Uint8Array): void {
    if (this.#collector !== null) this.#collector.onBody(span);
    else if (this.#controller !== null && !this.#isOver) {
      this.#controller.enqueue(span);
      if ((this.#controller.desiredSize ?? 0) <= 0) this.#wait();
    }
  }

  onEnd(): void {
    if (this.#collector !== null) this.#collector.onEnd();
    else this.#finish();
  }

  onFailure(failure: UpstreamFailure): void {
    if (this.#collector !== null) this.#collector.onFailure(failure);
    else this.#fail(failureOfTransport(failure));
  }

  /** Ends it for the gateway, or because the client left. */
  interrupt(failure: CallFailure): void {
    this.#tap?.abort();
    this.#fail(failure);
  }

  /** Breaks the connection to the client: an event would say that the response failed, and bytes that they are whole. */
  #fail(failure: CallFailure): void {
    if (this.#isOver) return;
    if (failure.kind !== 'client_left' && this.#controller !== null) {
      this.#call.failure = failure;
      const { deps, requestId } = this.#call;
      deps.log.upstream(requestId, this.#provider, `${failure.kind}: ${failure.message}`);
      this.#controller.error(failure);
    }
    this.#begun.reject(failure);
    this.#finish();
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#close();
    this.#call.origin.replyReady();
    try {
      this.#controller?.close();
    } catch {
      // The client has cancelled it, or it was broken off.
    }
  }

  #wait(): void {
    this.#tap?.pause();
    const { slowReaderTimeoutMs } = this.#call.settings.config.limits;
    this.#stuck ??= setTimeout(this.#leave, slowReaderTimeoutMs);
  }

  #goOn(): void {
    if (this.#stuck !== null) clearTimeout(this.#stuck);
    this.#stuck = null;
    this.#tap?.resume();
  }

  #close(): void {
    this.#isOver = true;
    if (this.#stuck !== null) clearTimeout(this.#stuck);
    this.#closed.resolve();
  }
}
