/** Reads HTTP/1.1 messages, requests and responses, from one connection. Checks framing, not meaning. */
import { createChunkedDecoder } from './chunked-decoder.ts';

/** Receives, in order: one head, any number of body pieces, one end; then the next message. */
export interface MessageSink {
  /** The head as latin1, from the first line up to the blank line. */
  onHead(head: string): void;
  onBody(bytes: Buffer): void;
  onEnd(): void;
}

export interface MessageReader {
  /** Throws an Error with the reason when the bytes are not an HTTP/1.1 message of known length. */
  push(bytes: Buffer): void;
  /** True between messages: closing the connection now cuts nothing off. */
  readonly idle: boolean;
}

/**
 * Meaning of a head without `content-length` and `transfer-encoding`: no body (a request), or an unknown end (refused).
 */
export type Unframed = 'empty' | 'refuse';

const HEAD_BYTES_MAX = 65_536;
const HEAD_END = '\r\n\r\n';
const EMPTY = Buffer.alloc(0);

/** Body bytes that a head announces, or `chunked`. */
function chooseFraming(head: string, unframed: Unframed): number | 'chunked' {
  if (/\r\ntransfer-encoding:[ \t]*chunked/i.test(head)) return 'chunked';
  const length = /\r\ncontent-length:[ \t]*(\d+)/i.exec(head)?.[1];
  if (length !== undefined) return Number(length);
  if (unframed === 'empty') return 0;
  throw new Error(
    'the head has neither content-length nor chunked coding, so a complete body cannot be distinguished from a cut one',
  );
}

/** A reader for one connection's messages in one direction. */
export function createMessageReader(sink: MessageSink, unframed: Unframed): MessageReader {
  let stage: 'head' | 'length' | 'chunked' = 'head';
  let heldHead: Buffer = EMPTY;
  let remaining = 0;
  let decoder = createChunkedDecoder(sink.onBody);

  function endMessage(): void {
    stage = 'head';
    sink.onEnd();
  }

  /** Returns the index in `bytes` after the consumed bytes. */
  function takeHead(bytes: Buffer, from: number): number {
    const held = heldHead.length;
    const joined = held === 0 ? bytes.subarray(from) : Buffer.concat([heldHead, bytes.subarray(from)]);
    const end = joined.indexOf(HEAD_END);
    if (end < 0) {
      if (joined.length > HEAD_BYTES_MAX) throw new Error(`no end of the head within ${HEAD_BYTES_MAX} bytes`);
      heldHead = Buffer.from(joined);
      return bytes.length;
    }
    heldHead = EMPTY;
    const head = joined.toString('latin1', 0, end);
    if (!/^HTTP\/1\.1 1/.test(head)) {
      const framing = chooseFraming(head, unframed);
      sink.onHead(head);
      if (framing === 'chunked') {
        stage = 'chunked';
        decoder = createChunkedDecoder(sink.onBody);
      } else if (framing > 0) {
        stage = 'length';
        remaining = framing;
      } else endMessage();
    }
    return from + end + HEAD_END.length - held;
  }

  function push(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length) {
      if (stage === 'head') at = takeHead(bytes, at);
      else if (stage === 'length') {
        const end = Math.min(bytes.length, at + remaining);
        sink.onBody(bytes.subarray(at, end));
        remaining -= end - at;
        at = end;
        if (remaining === 0) endMessage();
      } else {
        const after = decoder.push(bytes, at);
        if (after < 0) return;
        at = after;
        endMessage();
      }
    }
  }

  return {
    push,
    get idle() {
      return stage === 'head' && heldHead.length === 0;
    },
  };
}
