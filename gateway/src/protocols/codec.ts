/**
 * Defines the interface that a wire format implements for translated calls, where client and upstream use different
 * formats: each format reads and writes the canonical request and events, both as the client's format and as the
 * upstream's.
 */

import type { StreamRecord } from '../framing/framing.ts';
import type { GenerationEvent } from '../generation/event.ts';
import type { Generation } from '../generation/generation.ts';
import type { GenerationRequest } from '../generation/request.ts';
import type { JsonOutline } from '../wire/json-node.ts';
import type { AccountTrouble } from './answer/account-words.ts';
import type { ToolNames } from './request/tool-names.ts';
import type { TranslationNotes } from './request/translation-notes.ts';
import type { UpstreamTraits } from './upstream-traits.ts';

/** A request for upstream, and what must be undone in its answer. */
export interface RenderedRequest {
  readonly json: string;
  readonly tools: ToolNames;
  /** The output format is requested through a tool of this name, whose arguments are the answer; null: no such tool. */
  readonly outputTool: string | null;
  /** JSON was requested by instructions alone: the gateway strips the text around it. */
  readonly extractsJson: boolean;
  /** Stop sequences that upstream does not accept: the gateway looks for them in the answer. */
  readonly stopTexts: readonly string[];
}

export interface AnswerContext {
  /** Without the format's own prefix. */
  readonly id: string;
  readonly createdSeconds: number;
  /** Used if upstream named none. */
  readonly model: string;
  /** The client asked for the usage chunk (chat); messages always has usage. */
  readonly wantsUsage: boolean;
  /** The gateway's estimate of the prompt, used until upstream reports its count. */
  readonly estimatedInputTokens: number;
  /** Signs reasoning that came without a signature, so that the gateway recognizes it later: `gw1.…`. */
  sign(reasoning: string): string;
}

/** Parses one upstream stream; synchronous. Returns no events after an `error`, `nonsense` or `end`. */
export interface StreamParser {
  /** Parses a record that has data. */
  push(record: StreamRecord): readonly GenerationEvent[];
  /** Called when the bytes ended normally. If only the format's own end is missing: events up to `end`; else none. */
  finish(): readonly GenerationEvent[];
  /** The last `usage` event covers the whole answer: it came with its end or after it. */
  readonly isUsageFinal: boolean;
}

/** Renders one client stream; synchronous. `Protocol.renderStreamError` renders errors. */
export interface StreamRenderer {
  /** The records for the event, as SSE text; empty: none yet. */
  push(event: GenerationEvent): string;
  /** Deltas of a part were sent without this renderer, in the form of its last one; `text` is their text. */
  skipped(part: number, text: string): void;
  /** The finish reason sent to the client, in its own format; null: not sent yet. */
  readonly finish_reason: string | null;
  /**
   * Why the output of `push` would violate the format's order; then it returned nothing, and only an error may follow.
   * Null: no violation.
   */
  readonly violation: string | null;
}

/** The content of an upstream error body, independent of the format. */
export interface UpstreamError {
  readonly condition: 'context_overflow' | 'output_over_context' | 'signature' | 'other';
  /** Upstream's message; empty: it gave none. Not scrubbed. */
  readonly message: string;
  /** Upstream's error code or type, if it is a string. */
  readonly code: string | null;
  /** The path of the request member at fault (`error.param`), as upstream reports it. */
  readonly param: string | null;
  /** The problem with the operator's account at the upstream, by code and message; null if none. */
  readonly trouble: AccountTrouble | null;
  /** Tokens of the prompt, of the requested output, and the limit, if the message names them. */
  readonly promptTokens: number | null;
  readonly outputTokens: number | null;
  readonly tokensMax: number | null;
}

export interface Codec {
  /**
   * Parses a checked request. The outline must reach `TRANSLATION_OUTLINE_DEPTH`.
   * @throws CallFailure `invalid_request`
   */
  parseRequest(outline: JsonOutline, notes: TranslationNotes): GenerationRequest;
  /**
   * Renders the request for an upstream of this format.
   * @throws CallFailure `invalid_request` for what it cannot carry
   */
  renderRequest(request: GenerationRequest, traits: UpstreamTraits, notes: TranslationNotes): RenderedRequest;
  startStreamParser(): StreamParser;
  /** The body of a non-streamed 200 as events, up to `end`; or one `error` or `nonsense`. */
  parseAnswer(body: Buffer): readonly GenerationEvent[];
  startStreamRenderer(context: AnswerContext): StreamRenderer;
  /** The JSON of a non-streamed answer. */
  renderAnswer(
    generation: Generation,
    context: AnswerContext,
  ): { readonly json: string; readonly finish_reason: string };
  readError(body: Buffer): UpstreamError;
}

/** Deep enough for every member that is read; deeper values (schemas, arguments) are carried verbatim. */
export const TRANSLATION_OUTLINE_DEPTH = 12;
