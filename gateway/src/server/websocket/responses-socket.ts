/**
 * Serves Responses on one WebSocket: each `response.create` is a call of its own, one at a time, with the headers of the
 * handshake. It runs along the line of any streamed call, so key, limits, money and records are those of a POST.
 */
import type { ServerWebSocket } from 'bun';
import type { CallOrigin } from '../../call/call.ts';
import { countCall } from '../../call/count-call.ts';
import { streamReply } from '../../call/deliver/reply.ts';
import type { CallDeps } from '../../call/deps.ts';
import { handleCall } from '../../call/handle-call.ts';
import type { AnswerStream } from '../../call/stream/outbox.ts';
import { CallFailure, invalidRequest } from '../../errors/call-failure.ts';
import { type Deadline, UNWATCHED, unwatchDeadline, watchDeadline } from '../../lib/deadlines.ts';
import { type JsonObject, parseObject } from '../../protocols/json.ts';
import { responsesClient } from '../../protocols/responses/client/client-protocol.ts';
import { renderEmptyResponse } from '../../protocols/responses/client/render-stream.ts';
import type { JsonOutline } from '../../wire/json-node.ts';
import { generates, joinTurn, readMessage, renderBody, textOf } from './client-message.ts';
import { EventMessages } from './event-messages.ts';
import type { History } from './history.ts';
import { failureMessages, LIMIT_REACHED, metadataMessage, refusalMessages } from './reply-messages.ts';

/** The handshake of a connection. */
export interface Handshake {
  /** For each of its requests. */
  readonly headers: Headers;
  /** The client's address; null: unknown. */
  readonly address: string | null;
  readonly keyId: string;
}

/** Close codes (https://www.iana.org/assignments/websocket, 2026-11-23). */
const NORMAL = 1000;
const GOING_AWAY = 1001;
const POLICY = 1008;

/** A message during a response is read only up to this size: nothing waits for the response to end. */
const SHORT_CHARS = 64 * 1024;

/** Not that of the handshake: its host may be none that a request can have. */
const REQUEST_URL = 'http://websocket/v1/responses';

const COMPACTION = '"compaction_trigger"';

/** As long as any id that a client makes: it is repeated in each event. */
const STREAM_ID_CHARS_MAX = 64;

/** Throws CallFailure `invalid_request`. */
function readStreamId({ root }: JsonOutline): string | null {
  const streamId = textOf(root, 'stream_id');
  if (streamId === null || streamId.length <= STREAM_ID_CHARS_MAX) return streamId;
  throw invalidRequest(
    `stream_id has ${streamId.length} characters; expected at most ${STREAM_ID_CHARS_MAX}`,
    'stream_id',
  );
}

/** The response that runs. */
interface Running {
  readonly abort: AbortController;
  messages: EventMessages | null;
  stream: AnswerStream | null;
}

export class ResponsesSocket implements Deadline {
  dueMs: number;
  slot = UNWATCHED;
  readonly handshake: Handshake;
  readonly #deps: CallDeps;
  readonly #history: History;
  readonly #onClosed: () => void;
  #socket: ServerWebSocket<ResponsesSocket> | null = null;
  #running: Running | null = null;
  /** Why it closes once no response runs; null: it stays open. */
  #ending: { readonly code: number; readonly last: string | null } | null = null;

  constructor(handshake: Handshake, deps: CallDeps, history: History, onClosed: () => void) {
    this.handshake = handshake;
    this.#deps = deps;
    this.#history = history;
    this.#onClosed = onClosed;
    this.dueMs = performance.now() + deps.settings.config.limits.websocketDurationMs;
  }

  /** The handshake is complete. */
  open(socket: ServerWebSocket<ResponsesSocket>): void {
    this.#socket = socket;
    watchDeadline(this);
    this.#closeIfEnding();
  }

  /** The connection is closed, or never opened. */
  onClose(): void {
    unwatchDeadline(this);
    this.#socket = null;
    this.#history.forget();
    const running = this.#running;
    running?.abort.abort();
    running?.stream?.leave();
    this.#onClosed();
  }

  onDrain(): void {
    this.#running?.messages?.onDrain();
  }

  onDue(): void {
    unwatchDeadline(this);
    this.#end(NORMAL, LIMIT_REACHED);
  }

  /** Closes it once no response runs. */
  goAway(): void {
    this.#end(GOING_AWAY, null);
  }

  /** Closes it unless a response runs. */
  closeIdle(): void {
    if (this.#running === null) this.goAway();
  }

  onMessage(message: string | Buffer): void {
    const running = this.#running;
    if (running !== null) {
      this.#takeMeanwhile(message);
      return;
    }
    const next: Running = { abort: new AbortController(), messages: null, stream: null };
    this.#running = next;
    this.#take(message, next)
      .catch((cause: unknown) => {
        this.#deps.log.fault('', 'a message of a WebSocket failed', cause);
        this.#end(GOING_AWAY, null);
      })
      .finally(() => {
        this.#running = null;
        this.#closeIfEnding();
      });
  }

  /** A message while a response runs. */
  #takeMeanwhile(message: string | Buffer): void {
    const known = typeof message === 'string' && message.length <= SHORT_CHARS ? parseObject(message) : null;
    if (known !== null && this.#takeNotice(known)) return;
    const failure = invalidRequest(
      'a response is running on this WebSocket; send the next message when it has ended, or open another WebSocket',
    );
    void this.#refuse(failure, null);
  }

  async #take(message: string | Buffer, running: Running): Promise<void> {
    const { limits } = this.#deps.settings.config;
    let streamId: string | null = null;
    try {
      if (typeof message !== 'string') throw invalidRequest('the message is binary; expected JSON text');
      const bytes = Buffer.from(message);
      if (bytes.length > limits.bodyBytesMax) {
        throw new CallFailure('body_too_large', `the message is larger than ${limits.bodyBytesMax} bytes`);
      }
      const { type, outline } = await readMessage(bytes, limits);
      if (type === 'response.create') {
        streamId = readStreamId(outline);
        await this.#respond(outline, running, streamId);
      } else if (!this.#takeNotice(parseObject(message) ?? {})) {
        throw invalidRequest(
          `the type of the message is ${JSON.stringify(type.slice(0, 80))}; expected "response.create"`,
          'type',
        );
      }
    } catch (error) {
      if (!(error instanceof CallFailure)) throw error;
      await this.#refuse(error, streamId);
    }
  }

  /** Takes a message that starts no response; false: it is of no such type. */
  #takeNotice({ type, previous_response_id, input }: JsonObject): boolean {
    if (type === 'response.steer') {
      const error = {
        code: 'steering_not_supported',
        message: 'a response cannot be steered here; send the input with the next response.create',
      };
      this.#send([
        JSON.stringify({
          type: 'response.steer.failed',
          sequence_number: 0,
          error,
          steer: { previous_response_id, input },
        }),
      ]);
    }
    // Codex reports what it has processed (0.130 and later); nothing follows from it.
    return type === 'response.steer' || type === 'response.processed';
  }

  async #respond(outline: JsonOutline, running: Running, streamId: string | null): Promise<void> {
    const previous = textOf(outline.root, 'previous_response_id');
    const before = previous === null ? null : this.#history.upTo(previous);
    const body = renderBody(outline, before);
    const headers = new Headers(this.handshake.headers);
    headers.set('content-type', 'application/json');
    headers.set('content-length', String(body.length));
    const request = new Request(REQUEST_URL, { method: 'POST', headers, body, signal: running.abort.signal });
    const origin: CallOrigin = {
      address: () => this.handshake.address,
      replyReady() {},
      takeStream(stream) {
        running.stream = stream;
      },
    };
    const reply = generates(outline)
      ? await handleCall(request, responsesClient, origin, this.#deps)
      : await countCall(request, responsesClient, origin, this.#deps, null, (call) =>
          streamReply(call, Buffer.from(renderEmptyResponse(call.requestId.slice('req_'.length), call.facts.model))),
        );
    const socket = this.#socket;
    if (socket === null) {
      running.stream?.leave();
      return;
    }
    if (reply.status !== 200) {
      this.#send(await failureMessages(reply, streamId, textOf(outline.root, 'model')));
      if (reply.status === 401) this.#end(POLICY, null);
      return;
    }
    this.#send([metadataMessage(reply, streamId)]);
    running.messages = new EventMessages(socket, streamId);
    if (running.stream === null) await running.messages.write(await reply.bytes());
    else await this.#stream(running.stream, running.messages);
    const { whole } = running.messages;
    if (whole === null || this.#socket === null) return;
    // A response that continues what is not known here is not whole, nor is one that leaves something at the provider.
    const turn =
      whole.output !== null && (before !== null || previous === null) ? joinTurn(outline, whole.output) : null;
    // A compaction stands for all before it, and nothing may follow its trigger.
    if (turn !== null && !turn.includes(COMPACTION)) this.#history.keep(whole.id, [...(before ?? []), turn]);
    else this.#history.forget();
  }

  /** A client that takes nothing is dropped, as on any stream. */
  async #stream(stream: AnswerStream, messages: EventMessages): Promise<void> {
    try {
      await stream.attach(messages);
    } catch {
      this.#socket?.terminate();
    }
  }

  async #refuse(failure: CallFailure, streamId: string | null): Promise<void> {
    this.#send(await refusalMessages(failure, streamId));
  }

  #send(messages: readonly string[]): void {
    for (const message of messages) this.#socket?.sendText(message);
  }

  /** Closes it once no response runs, after a last message. */
  #end(code: number, last: string | null): void {
    this.#ending ??= { code, last };
    this.#closeIfEnding();
  }

  #closeIfEnding(): void {
    const ending = this.#ending;
    if (ending === null || this.#running !== null || this.#socket === null) return;
    if (ending.last !== null) this.#send([ending.last]);
    this.#socket.close(ending.code);
  }
}
