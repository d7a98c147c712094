/**
 * Defines the parts of a conversation, from users and models alike, in the order in which they were sent. Independent
 * of any wire format; content that only its issuer understands is kept verbatim.
 */

/** JSON exactly as it was written (digits, member order, duplicates), already validated. */
export type JsonText = string;

/** Requests caching of the prompt up to and including this place. Null minutes: the provider's default duration. */
export interface CacheMark {
  readonly ttlMinutes: number | null;
}

/** Location of a medium's or a document's bytes. `file`: an id known only to the provider that issued it. */
export type Source =
  | { readonly kind: 'base64'; readonly media_type: string; readonly base64: string }
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'file'; readonly id: string };

/** A source of a text. `start` and `end` are UTF-16 offsets into the part's text; null if unknown. */
export type Citation =
  | {
      readonly kind: 'url';
      readonly url: string;
      readonly title: string | null;
      readonly quote: string | null;
      readonly start: number | null;
      readonly end: number | null;
      /** As its issuer wrote it; null if only the members above are known. */
      readonly native: Native | null;
    }
  | { readonly kind: 'opaque'; readonly native: Native };

/** Data of one wire format that is sent back to that format only. */
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
  /** Data that the provider sent with the text and expects back with it; absent if it sent no such data. */
  readonly host_data?: Native;
}

/** The model's reasoning. The text may be empty if the issuer does not show it. */
export interface ReasoningPart {
  readonly kind: 'reasoning';
  readonly text: string;
  /** Verifiable only by the issuer, byte for byte; null if none was sent. A redacted part has nothing else. */
  readonly signature: string | null;
  readonly redacted: boolean;
  /** The protocol whose signature it is, as far as its source tells; null if unknown. */
  readonly issuer: string | null;
}

export interface RefusalPart {
  readonly kind: 'refusal';
  readonly text: string;
}

/**
 * A tool call. For a `function`, `arguments` is a JSON object or, failing that, the model's unchecked output; for a
 * `custom` tool, free text.
 */
export interface ToolCallPart {
  readonly kind: 'tool_call';
  readonly id: string;
  readonly name: string;
  readonly tool: 'function' | 'custom';
  readonly arguments: string;
  readonly cache_mark: CacheMark | null;
  /** Data that the provider sent with the call and expects back with it; absent if it sent no such data. */
  readonly host_data?: Native;
}

export interface ToolResultPart {
  readonly kind: 'tool_result';
  readonly call_id: string;
  readonly parts: ReadonlyArray<TextPart | MediaPart | DocumentPart | OpaquePart>;
  readonly is_error: boolean;
  readonly cache_mark: CacheMark | null;
}

/** An image or audio. `detail` is how closely the model should look at an image, in the client's own term. */
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
  /** Whether the response should cite it. */
  readonly cites: boolean;
  readonly cache_mark: CacheMark | null;
}

/** A part that only its own wire format knows, such as a server tool's block or a container file. */
export interface OpaquePart {
  readonly kind: 'opaque';
  /** The format's own name for it. */
  readonly type: string;
  readonly native: Native;
  /** Text that other formats get in its place, as history; null for nothing. */
  readonly words: string | null;
  /** Its issuer wants it back with the tool calls after it, even if the client's format cannot carry it. */
  readonly returns?: true;
  /** Of an image that a model made: its address, or its bytes as a `data:` URL. */
  readonly imageUrl?: string | undefined;
}

/**
 * What a client carries sealed and sends back: reasoning, a part that its issuer wants back, the data of the tool call
 * after it, or the summary of an earlier conversation.
 */
export type SealedContent =
  | { readonly kind: 'reasoning'; readonly part: ReasoningPart }
  | { readonly kind: 'part'; readonly part: OpaquePart }
  | { readonly kind: 'call_data'; readonly native: Native }
  | { readonly kind: 'summary'; readonly text: string };

/** The part's place in the request, for error messages; absent: `content.N` of its turn. */
interface Placed {
  readonly path?: string;
}

export type Part = Placed &
  (TextPart | ReasoningPart | RefusalPart | ToolCallPart | ToolResultPart | MediaPart | DocumentPart | OpaquePart);

/** Media that a model made. Only images have a place in another format: in answers to clients of chat. */
export const MEDIA_TYPES: ReadonlySet<string> = new Set(['image', 'audio', 'video']);

/** The content to seal of a part that its issuer wants back; null: another part, or a medium. */
export function sealedOf(part: OpaquePart): SealedContent | null {
  return part.returns === true && !MEDIA_TYPES.has(part.type) ? { kind: 'part', part } : null;
}

/** The origin of parts that this gateway made itself. */
const GATEWAY = 'gateway';

/** Stands for an earlier conversation: its summary in an answer, the sealed summary in a request. */
export function summaryPart(text: string): OpaquePart {
  return { kind: 'opaque', type: 'compaction', native: { origin: GATEWAY, json: JSON.stringify(text) }, words: null };
}

/** The text of a part that `summaryPart` made; null: another part. */
export function summaryIn(part: Part): string | null {
  return part.kind === 'opaque' && part.native.origin === GATEWAY ? (JSON.parse(part.native.json) as string) : null;
}

/** A text without marks or citations. */
export function textPart(text: string): TextPart {
  return { kind: 'text', text, citations: [], cache_mark: null };
}
