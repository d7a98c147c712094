/**
 * Streams the bytes of a file from the provider to the client, at the client's pace. A provider that breaks off breaks the
 * client's connection.
 */
import { CallFailure } from '../../errors/call-failure.ts';
import type { AnswerFacts } from '../../protocols/upstream-protocol.ts';
import type { UpstreamFailure } from '../../upstream/connection.ts';
import type { ExchangeListener, UpstreamTap } from '../../upstream/exchange.ts';
import { headerOf, type ResponseHead } from '../../upstream/response-head.ts';
import { AnswerCollector, type AnswerListener, type CollectedAnswer } from '../attempt/collect-answer.ts';
import { failureOf, failureOfTransport } from '../attempt/upstream-outcome.ts';
import type { Identified } from '../call.ts';
import { streamReply } from '../deliver/reply.ts';
import { requestAbout } from '../stored/send-object-request.ts';
import { ClientStream, type StreamSource } from '../stream/client-stream.ts';
import { Outbox } from '../stream/outbox.ts';
import type { ObjectPlace } from './choose-place.ts';
import { formatOf, judgeAnswer, type ObjectAnswer } from './exchange-object.ts';
import type { AskedObject } from './object-routes.ts';

/** A reply that is still being sent. */
export interface StreamedContent {
  readonly reply: Response;
  /** Resolves when nothing of it is left. */
  readonly ended: Promise<void>;
}

/** Resolves when the content begins, or with the provider's refusal. Rejects with CallFailure. */
export function streamContent(
  call: Identified,
  place: ObjectPlace,
  { object }: AskedObject,
): Promise<StreamedContent | ObjectAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<StreamedContent | ObjectAnswer>();
  const content = new Content(call, place, { resolve, reject });
  const { signal } = call.request;
  const leave = () => content.interrupt(new CallFailure('client_left', 'the client left before its answer began'));
  const handle = call.deps.openCalls.add(content);
  signal.addEventListener('abort', leave);
  void content.closed.then(() => {
    call.deps.openCalls.remove(handle);
    signal.removeEventListener('abort', leave);
  });
  try {
    if (signal.aborted) leave();
    else {
      const request = requestAbout(call, object, {
        ...formatOf(call, place),
        form: { upload: null, acceptsAny: true },
      });
      content.connect(place.target.upstream.openExchange(request, place.credential, Number.MAX_SAFE_INTEGER, content));
    }
  } catch (cause) {
    content.fail(failureOf(cause));
  }
  return promise;
}

/** Content has neither usage nor text. */
const NO_FACTS: AnswerFacts = {
  usage: null,
  usageFlags: [],
  usageSoFar: null,
  finish_reason: null,
  model: null,
  outputBytes: 0,
  reasoningBytes: 0,
  outputBytesMax: 0,
};

interface Outcome {
  resolve(content: StreamedContent | ObjectAnswer): void;
  reject(failure: unknown): void;
}

class Content implements ExchangeListener, StreamSource, AnswerListener {
  done = false;
  lastSpanBytes = 0;
  readonly position = undefined;
  /** Resolves when neither the client nor the provider is connected any more. */
  readonly closed: Promise<void>;
  readonly #close: () => void;
  readonly #call: Identified;
  readonly #place: ObjectPlace;
  readonly #outcome: Outcome;
  #tap: UpstreamTap | null = null;
  #client: ClientStream | null = null;
  /** Takes an answer that is no content. */
  #collector: AnswerCollector | null = null;

  constructor(call: Identified, place: ObjectPlace, outcome: Outcome) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.closed = promise;
    this.#close = resolve;
    this.#call = call;
    this.#place = place;
    this.#outcome = outcome;
  }

  connect(tap: UpstreamTap): void {
    if (this.done) tap.abort();
    else this.#tap = tap;
  }

  facts(): AnswerFacts {
    return NO_FACTS;
  }

  pause(): void {
    this.#tap?.pause();
  }

  resume(): void {
    this.#tap?.resume();
  }

  abort(): void {
    this.done = true;
    this.#tap?.abort();
    this.#tap = null;
  }

  /** The client left before the content began, or the gateway ends it. */
  interrupt(failure: CallFailure): void {
    if (this.#client === null) this.fail(failure);
    else this.#client.interrupt(failure);
  }

  /** Ends an answer that has not begun. */
  fail(failure: CallFailure): void {
    this.abort();
    this.#outcome.reject(failure);
    this.#close();
  }

  onHead(head: ResponseHead): void {
    const coding = headerOf(head, 'content-encoding');
    if (head.status === 200 && coding === null) {
      this.#begin();
      return;
    }
    if (head.status === 200) {
      this.fail(new CallFailure('upstream_malformed', 'the model provider sent a file in a content-encoding'));
      return;
    }
    this.#collector = new AnswerCollector(this.#call.settings.config.limits, this);
    this.#collector.onHead(head);
  }

  onBody(span: Uint8Array): void {
    if (this.#collector !== null) this.#collector.onBody(span);
    else if (this.#client !== null) {
      this.lastSpanBytes = span.length;
      this.#client.outbox.put(span);
      this.#client.flush();
    }
  }

  onEnd(): void {
    this.done = true;
    if (this.#collector !== null) this.#collector.onEnd();
    else this.#client?.complete(NOTHING);
    this.#client?.onSourceDone();
  }

  onFailure(failure: UpstreamFailure): void {
    this.done = true;
    if (this.#collector !== null) this.#collector.onFailure(failure);
    else if (this.#client === null) this.fail(failureOfTransport(failure));
    else this.#client.fail(failureOfTransport(failure));
  }

  onEnough(): void {
    this.abort();
  }

  onAnswer(answered: CollectedAnswer): void {
    try {
      this.#outcome.resolve(judgeAnswer(this.#call, this.#place, answered));
    } catch (error) {
      this.#outcome.reject(error);
    }
    this.#close();
  }

  onAnswerFailed(failure: CallFailure): void {
    this.fail(failure);
  }

  #begin(): void {
    const { protocol, requestId, settings, origin, deps } = this.#call;
    const client = new ClientStream({
      protocol,
      requestId,
      hasRecords: false,
      limits: settings.config.limits,
      openOutbox: (listener) =>
        new Outbox(
          listener,
          () => undefined,
          () => true,
        ),
      async settle() {
        // The last bytes go out after this.
        origin.replyReady();
      },
      onFailure: (failure) => {
        this.#call.failure = failure;
        const { provider } = this.#place.target.upstream;
        deps.log.upstream(requestId, provider, `${failure.kind}: ${failure.message}`);
      },
      onCommitted: () => undefined,
      onGivenUp: () => undefined,
      onClosed: this.#close,
    });
    this.#client = client;
    client.begin(this);
    // The first bytes may have come with the head.
    queueMicrotask(() => this.#outcome.resolve({ reply: this.#reply(client), ended: this.closed }));
  }

  #reply(client: ClientStream): Response {
    const reply = streamReply(this.#call, client.body());
    // Whatever it is: a page of a file must never run as one of the gateway.
    reply.headers.set('content-type', 'application/octet-stream');
    reply.headers.set('content-disposition', 'attachment');
    return reply;
  }
}

const NOTHING = new Uint8Array();
