/**
 * Owns the parts that a conversation is made of, whoever said them, in the order in which they were said. Named after no
 * wire format; what only its issuer understands is kept as it came.
 */

/** JSON exactly as it was written (digits, order of members, duplicates), already known to be valid. */
export type JsonText = string;

/** A wish that the prompt up to and with this place be cached. Null minutes: as long as the host usually does. */
export interface CacheMark {
  readonly ttlMinutes: number | null;
}

/** Where a medium's or a document's bytes are. `file`: an id that only the host knows that issued it. */
export type Source =
  | { readonly kind: 'base64'; readonly media_type: string; readonly base64: string }
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'file'; readonly id: string };

/** What a text rests on. `start` and `end` are UTF-16 offsets into the part's text, where they are known. */
export type Citation =
  | {
      readonly kind: 'url';
      readonly url: string;
      readonly title: string | null;
      readonly quote: string | null;
      readonly start: number | null;
      readonly end: number | null;
      /** As its issuer wrote it; null: nothing but the members above is known. */
      readonly native: Native | null;
    }
  | { readonly kind: 'opaque'; readonly native: Native };

/** Something of one wire format that goes back to that format only. */
export interface Native {
  /** The protocol's name. */
  readonly origin: string;
  readonly json: JsonText;
}

export interface TextPart {
  readonly kind: 'text';
  readonly text: string;
  readonly citations: readonly Citation[];
  readonly cache_mark: CacheMark | null;
}

/** What the model thought before it spoke. The text may be empty where the issuer shows none. */
export interface ReasoningPart {
  readonly kind: 'reasoning';
  readonly text: string;
  /** What only the issuer can check, byte for byte; null: none came. Of a redacted part it is all there is. */
  readonly signature: string | null;
  readonly redacted: boolean;
  /** Whose signature it is, as far as the place where it stood tells: a protocol's name; null: nobody's. */
  readonly issuer: string | null;
}

export interface RefusalPart {
  readonly kind: 'refusal';
  readonly text: string;
}

/** A call of a tool. For a `function`, `arguments` is JSON of an object, else what the model wrote, unchecked; for a `custom` tool free text. */
export interface ToolCallPart {
  readonly kind: 'tool_call';
  readonly id: string;
  readonly name: string;
  readonly tool: 'function' | 'custom';
  readonly arguments: string;
  readonly cache_mark: CacheMark | null;
  /** What the host gave with the call and wants back with it; left out: nothing. */
  readonly host_data?: Native;
}

export interface ToolResultPart {
  readonly kind: 'tool_result';
  readonly call_id: string;
  readonly parts: ReadonlyArray<TextPart | MediaPart | DocumentPart | OpaquePart>;
  readonly is_error: boolean;
  readonly cache_mark: CacheMark | null;
}

/** An image or a sound. `detail` is how closely an image is to be looked at, in the asker's word. */
export interface MediaPart {
  readonly kind: 'image' | 'audio';
  readonly source: Source;
  readonly detail: string | null;
  readonly cache_mark: CacheMark | null;
}

export interface DocumentPart {
  readonly kind: 'document';
  readonly source: Source;
  readonly title: string | null;
  readonly context: string | null;
  /** The answer is to cite it. */
  readonly cites: boolean;
  readonly cache_mark: CacheMark | null;
}

/** A part that only its own wire format knows: a server tool's block, a container's file. */
export interface OpaquePart {
  readonly kind: 'opaque';
  /** The format's own name of it. */
  readonly type: string;
  readonly native: Native;
  /** What other formats are told in its place, as history; null: nothing. */
  readonly words: string | null;
}

export type Part =
  | TextPart
  | ReasoningPart
  | RefusalPart
  | ToolCallPart
  | ToolResultPart
  | MediaPart
  | DocumentPart
  | OpaquePart;

/** A text without marks and citations. */
export function textPart(text: string): TextPart {
  return { kind: 'text', text, citations: [], cache_mark: null };
}
