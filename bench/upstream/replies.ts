/** Owns the shape of the upstream's ready-made answers in one format, and their assembly from the format's own pieces. */
import { LAST_CHUNK, renderJson, STREAM_HEAD } from './render-http.ts';

/** What a format renders; pieces of streams are in their chunks. */
export interface ReplyPieces {
  /** The body of an answer that does not stream. */
  readonly plainBody: object;
  /** What a timed stream writes, one after the other: 100 writes, each with one event or more. */
  readonly writes: readonly Buffer[];
  /** One ordinary text event. */
  readonly textEvent: Buffer;
  /** What comes after the last write where usage was asked for, and where not. */
  readonly closingWithUsage: Buffer;
  readonly closing: Buffer;
  /** The body of a refusal. */
  renderError(message: string): object;
}

/** Bytes to be sent as they are. */
export interface Replies {
  /** The answer to a call that does not stream, head and body; the body is about 700 bytes. */
  readonly plain: Buffer;
  readonly writes: readonly Buffer[];
  readonly textEvent: Buffer;
  /** The head of a stream with its first write. */
  readonly opening: Buffer;
  /** What ends a stream after its writes. */
  tail(withUsage: boolean): Buffer;
  /** A whole stream, to be written at once. */
  burst(withUsage: boolean): Buffer;
  /** About 16 KB of text events: the unit of an endless stream. */
  readonly endlessBlock: Buffer;
  /** The refusal of a request that the bench does not know; the message says what it knows. */
  renderRefusal(message: string): Buffer;
}

/** Renders all that can be rendered once. */
export function assembleReplies(pieces: ReplyPieces): Replies {
  const { writes, textEvent } = pieces;
  const tail = Buffer.concat([pieces.closing, LAST_CHUNK]);
  const tailWithUsage = Buffer.concat([pieces.closingWithUsage, LAST_CHUNK]);
  const burst = Buffer.concat([STREAM_HEAD, ...writes, tail]);
  const burstWithUsage = Buffer.concat([STREAM_HEAD, ...writes, tailWithUsage]);
  return {
    plain: renderJson('200 OK', pieces.plainBody),
    writes,
    textEvent,
    opening: Buffer.concat([STREAM_HEAD, ...writes.slice(0, 1)]),
    tail: (withUsage) => (withUsage ? tailWithUsage : tail),
    burst: (withUsage) => (withUsage ? burstWithUsage : burst),
    endlessBlock: Buffer.concat(Array.from({ length: Math.ceil(16_384 / textEvent.length) }, () => textEvent)),
    renderRefusal: (message) => renderJson('400 Bad Request', pieces.renderError(message)),
  };
}
