/** Assembles the upstream's prepared answers in one format from the format's own pieces. */
import { LAST_CHUNK, renderJson, STREAM_HEAD } from './render-http.ts';

/** The pieces that a format renders; pieces of streams are already chunked. */
export interface ReplyPieces {
  /** The body of a non-streamed answer. */
  readonly plainBody: object;
  /** The writes of a timed stream, in order: 100, each with one event or more. */
  readonly writes: readonly Buffer[];
  /** One ordinary text event. */
  readonly textEvent: Buffer;
  /** Sent after the last write, with and without requested usage. */
  readonly closingWithUsage: Buffer;
  readonly closing: Buffer;
  /** A stream of one token that ended at the request's limit, with usage. */
  readonly limited: Buffer;
  /** The body of a refusal. */
  renderError(message: string): object;
}

/** Bytes to be sent unchanged. */
export interface Replies {
  /** A non-streamed answer, head and body; the body is about 700 bytes. */
  readonly plain: Buffer;
  readonly writes: readonly Buffer[];
  readonly textEvent: Buffer;
  /** The head of a stream with its first write. */
  readonly opening: Buffer;
  /** The end of a stream, after its writes. */
  tail(withUsage: boolean): Buffer;
  /** A whole stream for a single write. */
  burst(withUsage: boolean): Buffer;
  /** A whole stream of one token. */
  readonly limited: Buffer;
  /** About 16 KB of text events: the unit of an endless stream. */
  readonly endlessBlock: Buffer;
  /** The refusal of an unknown request; the message lists the known ones. */
  renderRefusal(message: string): Buffer;
}

/** Renders everything that can be rendered once. */
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
    limited: Buffer.concat([STREAM_HEAD, pieces.limited, LAST_CHUNK]),
    endlessBlock: Buffer.concat(Array.from({ length: Math.ceil(16_384 / textEvent.length) }, () => textEvent)),
    renderRefusal: (message) => renderJson('400 Bad Request', pieces.renderError(message)),
  };
}
