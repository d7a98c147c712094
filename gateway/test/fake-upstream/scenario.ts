/** Defines the scenarios in which a test scripts the fake provider's faults. */

/** How the connection ends at a cut: an orderly FIN, a reset, or not at all (the socket stays open and silent). */
export type CutHow = 'fin' | 'rst' | 'stall';

/**
 * How body bytes are split into writes, each in its own turn of the event loop: `record` one write per SSE record;
 * `bytes` one byte per write; `all` head and body in a single write; `sizes` these sizes repeatedly; `utf8` a new write
 * inside each multi-byte character; `crlf` lines end in CRLF and a new write begins between CR and LF.
 */
export type Chunking = 'record' | 'bytes' | 'all' | 'utf8' | 'crlf' | { readonly sizes: readonly number[] };

/** What the model says, in any protocol and form. */
export interface Say {
  readonly reasoning?: string;
  readonly text?: string;
  /**
   * Tool calls, parallel if there are several; `id` in chat completions form, `call_…`, becomes `toolu_…` in messages.
   */
  readonly calls?: readonly {
    readonly id: string;
    readonly name: string;
    readonly input: Readonly<Record<string, unknown>>;
    /** Calls a tool that takes a text, `input.input`. Responses has an item of its own for these calls. */
    readonly custom?: true;
  }[];
  /** Cached prompt tokens, in addition to the 11 uncached ones. */
  readonly cacheReadTokens?: number;
}

/**
 * What to answer. Every member is optional and they compose: the body comes from one of `answer`, `body`, `json`,
 * `records`, `echo`, `say`, `hollow`, `errorBodyBytes` (default: `answer: 'ok'`), the others modify it. Events are SSE
 * records, counted from 1; bytes are bytes of the response body (before chunked framing), counted from 0.
 */
export interface Scenario {
  /**
   * A built-in or stored answer by its model name: `ok`, `tool`, `think`, `long:<n>`, `endless`, `fixture:<name>`,
   * `rec:<id>`.
   */
  readonly answer?: string;
  readonly status?: number;
  /** Response headers, added or replaced; null removes one. */
  readonly headers?: Readonly<Record<string, string | null>>;
  /** A verbatim body. */
  readonly body?: string;
  /** A verbatim body of arbitrary bytes, in base64 (for what is not UTF-8, or compressed). */
  readonly bodyBase64?: string;
  /** A body to render as JSON. */
  readonly json?: unknown;
  /** Verbatim SSE records, each with its own blank line. */
  readonly records?: readonly string[];
  /** A good answer whose text is the JSON of the request: `{method, target, headers: [[name, value]], body}`. */
  readonly echo?: boolean;
  /** A good answer with this content. */
  readonly say?: Say;
  /** An empty body. */
  readonly hollow?: boolean;
  /** An error body in the protocol's format of about this many bytes; status 500 unless `status` is set. */
  readonly errorBodyBytes?: number;

  readonly delayBeforeFirstByteMs?: number;
  /** The head is sent at once, then this wait before the first body byte. */
  readonly delayAfterHeadMs?: number;
  readonly delayBetweenEventsMs?: number;
  /** After this many events nothing more is sent, and the socket stays open. 0: only the head is sent. */
  readonly stallAfterEvent?: number;
  /** After this many events the answer waits for `release`. */
  readonly holdAfterEvent?: number;
  readonly cut?: { readonly at: number | 'before-headers' | 'in-headers'; readonly how: CutHow };
  /** The event with this number is replaced by one with truncated JSON. */
  readonly malformedEvent?: number;
  /**
   * The event with this number is an in-band error of the protocol, and the body ends with it; 1 is
   * error-as-first-event.
   */
  readonly errorEvent?: number;
  readonly omitUsage?: boolean;
  /** Omits `[DONE]` or `message_stop`; the HTTP response still ends properly. */
  readonly omitEnd?: boolean;

  /** Default: `chunked` for streams, `content-length` for plain answers. */
  readonly framing?: 'chunked' | 'content-length' | 'close';
  readonly chunking?: Chunking;
  /** Wait between two writes, if one turn of the event loop is not enough. */
  readonly gapMs?: number;

  /** 1xx answers before the final one. */
  readonly informational?: readonly { readonly status: number; readonly headers?: Readonly<Record<string, string>> }[];
  /** The head verbatim, blank line included, instead of ours (see `MALFORMED_HEADS`); the body follows unframed. */
  readonly rawHead?: string;
  /** Bytes after the end of the response. */
  readonly extraBytes?: string;
  /**
   * Sends `content-length` as well as `transfer-encoding: chunked`; the body is chunked unless `framing` is
   * `content-length`.
   */
  readonly bothLengths?: boolean;
  /** One more header of this many bytes. */
  readonly headerBlockBytes?: number;
  /** This many more header lines. */
  readonly headerLines?: number;

  /** After this answer the rig closes the connection with FIN once it was idle for this long. */
  readonly dropIdleConnectionAfterMs?: number;
  /** The rig closes the connection with FIN after this many responses on it. */
  readonly closeAfterResponses?: number;
  /**
   * The first byte of the next request on this connection triggers a reset: a stale keep-alive socket, no response
   * byte.
   */
  readonly resetAtNextRequest?: boolean;
}

/**
 * How the rig reads request bodies: after each `bytes` it stops reading for `pauseMs`. Applies to connections, not
 * models.
 */
export interface SlowReading {
  readonly bytes: number;
  readonly pauseMs: number;
}

/** Heads that no client should accept as a response. Use as `rawHead`. */
export const MALFORMED_HEADS: Readonly<Record<string, string>> = {
  'not-http': 'SSH-2.0-OpenSSH_9.9\r\n\r\n',
  'no-status': 'HTTP/1.1\r\ncontent-length: 2\r\n\r\n',
  'status-not-a-number': 'HTTP/1.1 abc OK\r\ncontent-length: 2\r\n\r\n',
  'status-out-of-range': 'HTTP/1.1 99999 OK\r\ncontent-length: 2\r\n\r\n',
  'header-without-colon': 'HTTP/1.1 200 OK\r\ncontent-type application/json\r\ncontent-length: 2\r\n\r\n',
  'space-before-colon': 'HTTP/1.1 200 OK\r\ncontent-length : 2\r\n\r\n',
  'nul-in-value': 'HTTP/1.1 200 OK\r\nx-odd: a\u0000b\r\ncontent-length: 2\r\n\r\n',
  'length-negative': 'HTTP/1.1 200 OK\r\ncontent-length: -2\r\n\r\n',
  'length-not-a-number': 'HTTP/1.1 200 OK\r\ncontent-length: two\r\n\r\n',
  'lengths-differ': 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n',
  'chunk-size-not-hex': 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n',
  'chunk-size-huge': 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nfffffffffffffffff\r\n',
};
