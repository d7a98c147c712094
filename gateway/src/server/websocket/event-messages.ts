/**
 * Sends a Responses stream over a WebSocket, one message per event, and gathers the items of the response for the
 * conversation. Takes what the client takes: what it does not wait for stays in the stream's outbox.
 */
import type { ServerWebSocket } from 'bun';
import type { DirectController } from '../../call/stream/outbox.ts';
import { dataText, type StreamRecord } from '../../framing/framing.ts';
import { startSseDecoder } from '../../framing/sse-decoder.ts';
import { asObject, asText, parseObject } from '../../protocols/json.ts';
import { OWN_ID } from '../../protocols/responses/shared/response-object.ts';
import { member } from '../../wire/json-node.ts';
import { scanJson } from '../../wire/json-scan.ts';

/** The client's side of the connection. */
export type MessageSocket = Pick<ServerWebSocket<unknown>, 'sendText' | 'getBufferedAmount' | 'cork'>;

/** A response that the client got to its end. */
export interface WholeResponse {
  readonly id: string;
  /** Its items as JSON; null: one of them cannot be sent to a provider again. */
  readonly output: readonly Buffer[] | null;
}

/** The end of a response that a client can continue. */
const TERMINAL = new Set(['response.completed', 'response.incomplete']);

export class EventMessages implements DirectController {
  /** Null: it has not ended, or failed. */
  whole: WholeResponse | null = null;
  readonly #socket: MessageSocket;
  readonly #laneText: string;
  readonly #decoder = startSseDecoder(Number.MAX_SAFE_INTEGER);
  #output: Buffer[] | null = [];
  /** Messages of the last write that the client has not taken yet. */
  #waiting: string[] = [];
  #isStuck = false;
  #taken: (() => void) | null = null;

  /** `streamId`: of the message that asked for the response, repeated in each event; null: it had none. */
  constructor(socket: MessageSocket, streamId: string | null) {
    this.#socket = socket;
    this.#laneText = streamId === null ? '{' : `{"stream_id":${JSON.stringify(streamId)},`;
  }

  write(bytes: Uint8Array): number | Promise<number> {
    for (const record of this.#decoder.push(bytes)) if (record.kind === 'event') this.#take(record);
    this.#send();
    if (!this.#isStuck) return bytes.length;
    return new Promise((resolve) => {
      this.#taken = () => resolve(bytes.length);
    });
  }

  flush(): void {}

  close(): void {}

  /** The socket has room again, or is closed. */
  onDrain(): void {
    if (!this.#isStuck || this.#socket.getBufferedAmount() > 0) return;
    this.#isStuck = false;
    this.#send();
    if (this.#isStuck) return;
    const taken = this.#taken;
    this.#taken = null;
    taken?.();
  }

  #take(record: StreamRecord): void {
    const text = dataText(record);
    // Some hosts end with `[DONE]`, which is no event.
    if (!text.startsWith('{')) return;
    this.#gather(record, text);
    this.#waiting.push(this.#laneText + text.slice(1));
  }

  #send(): void {
    if (this.#waiting.length === 0) return;
    // One system call for all messages of a burst.
    this.#socket.cork(() => {
      let count = 0;
      while (count < this.#waiting.length && !this.#isStuck) {
        this.#isStuck = this.#socket.sendText(this.#waiting[count] ?? '') === -1;
        count += 1;
      }
      this.#waiting.splice(0, count);
    });
  }

  #gather(record: StreamRecord, text: string): void {
    const type = record.event || (asText(parseObject(text)?.type) ?? '');
    if (type === 'response.output_item.done') this.#keepItem(Buffer.from(text));
    else if (TERMINAL.has(type)) {
      const id = asText(asObject(parseObject(text)?.response)?.id);
      if (id !== null) this.whole = { id, output: this.#output };
    }
  }

  /** Keeps the item's own bytes: a prompt cache finds only what is equal. */
  #keepItem(event: Buffer): void {
    const outline = scanJson(event);
    const item = outline.ok ? member(outline.root, 'item') : undefined;
    if (item === undefined || !isWhole(parseObject(event.toString('utf8', item.start, item.end)))) this.#output = null;
    else this.#output?.push(Buffer.from(event.subarray(item.start, item.end)));
  }
}

/** Whether an item has its content: reasoning may be only the id of what the provider stored. */
function isWhole(item: ReturnType<typeof parseObject>): boolean {
  if (item === null) return false;
  return item.type !== 'reasoning' || item.encrypted_content != null || asText(item.id)?.includes(OWN_ID) !== false;
}
