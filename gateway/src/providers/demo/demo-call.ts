/** Owns what goes into the demo model and what comes out of it. Says nothing about how an answer is made or sent. */

/** One call as the gateway would send it to an upstream. Any model name is answered, and named in the answer. */
export interface DemoCall {
  readonly protocol: 'chat' | 'messages';
  /** The parsed JSON of the request body. Hostile: nothing about its shape is assumed. */
  readonly body: unknown;
  /** Goes into every id of the answer and into its request-id header; the same body and id give the same bytes. */
  readonly requestId: string;
  /** Unix milliseconds; the `created` of a chat answer. */
  readonly nowMs: number;
  /** `anthropic-version` of a messages call; absent means `2023-06-01`. Chat calls have none. */
  readonly version?: string;
}

/** One server-sent event (its bytes end with the blank line) and how long to wait before it, so that streaming shows. */
export interface DemoRecord {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly pauseMs: number;
}

type DemoHeaders = readonly (readonly [name: string, value: string])[];

/** An answer with its whole body: a completion, a message, a token count, or an error in the protocol's own shape. */
interface DemoJsonReply {
  readonly kind: 'json';
  readonly status: number;
  readonly headers: DemoHeaders;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** A streamed answer. The records are made one by one as they are asked for, once only. */
export interface DemoStreamReply {
  readonly kind: 'stream';
  readonly status: 200;
  readonly headers: DemoHeaders;
  readonly records: Iterable<DemoRecord>;
}

export type DemoReply = DemoJsonReply | DemoStreamReply;
