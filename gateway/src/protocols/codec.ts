/**
 * Owns what the gateway asks of a wire format where the two sides of a call speak different ones: each format reads and
 * writes the canonical language, as the client's side and as the upstream's.
 */

import type { SseRecord } from '../framing/sse-record.ts';
import type { GenerationEvent } from '../generation/event.ts';
import type { Generation } from '../generation/generation.ts';
import type { GenerationRequest } from '../generation/request.ts';
import type { JsonOutline } from '../wire/json-node.ts';
import type { AccountTrouble } from './answer/account-words.ts';
import type { ToolNames } from './request/tool-names.ts';
import type { TranslationNotes } from './request/translation-notes.ts';
import type { UpstreamTraits } from './upstream-traits.ts';

/** Bytes of a request for upstream, and what must be undone in its answer. */
export interface RenderedRequest {
  readonly json: string;
  readonly tools: ToolNames;
  /** The format is asked for through a tool of this name, whose arguments are the answer; null: it is not. */
  readonly outputTool: string | null;
  /** The answer was asked to be JSON by words alone: what the model writes around it is ours to take away. */
  readonly extractsJson: boolean;
  /** Stop texts that upstream does not take: ours to look for in the answer. Empty: none. */
  readonly stopTexts: readonly string[];
}

/** What an answer to a client is made with. */
export interface AnswerContext {
  /** Without the format's own prefix. */
  readonly id: string;
  readonly createdSeconds: number;
  /** Shown where upstream named none. */
  readonly model: string;
  /** The client asked for the usage chunk (chat); messages always has usage. */
  readonly wantsUsage: boolean;
  /** Our estimate of the prompt, shown until upstream has counted. */
  readonly estimatedInputTokens: number;
  /** A mark of ours on reasoning that came without a signature, so that it is known again: `gw1.…`. */
  sign(reasoning: string): string;
}

/** Reads one upstream's stream; synchronous. The events after an `error`, `nonsense` or `end` are none. */
export interface StreamParser {
  /** Looks at a record that has data. */
  push(record: SseRecord): readonly GenerationEvent[];
  /** The bytes ended in good order. Where all was said but the format's own end, the events up to `end`; else none. */
  finish(): readonly GenerationEvent[];
  /** The last `usage` event tells of the whole answer: it came with its end or after it. */
  readonly isUsageFinal: boolean;
}

/** Writes one client's stream; synchronous. Errors are written by the format's vocabulary, not here. */
export interface StreamRenderer {
  /** The records that the event makes, as SSE text; empty: none yet. */
  push(event: GenerationEvent): string;
  /** Deltas of a part went out without it, written like its last one; this was their text. */
  skipped(part: number, text: string): void;
  /** How the client was told why the model stopped, in its own format's word; null: not yet. */
  readonly finish_reason: string | null;
  /** Why what `push` was to give breaks the format's order; then it gave nothing, and nothing may follow but an error. Null: all is well. */
  readonly violation: string | null;
}

/** What an upstream's error body says, in no format's words. */
export interface UpstreamError {
  readonly condition: 'context_overflow' | 'output_over_context' | 'signature' | 'other';
  /** Upstream's words; empty: it gave none. Not scrubbed. */
  readonly message: string;
  /** Upstream's code or type of the error, where it is a word. */
  readonly code: string | null;
  /** The path of the request's member that is at fault (`error.param`), as upstream tells it. */
  readonly param: string | null;
  /** What the code and the words say of the operator's account at the upstream; null: nothing. */
  readonly trouble: AccountTrouble | null;
  /** Of the prompt, of the answer asked for, and the most there may be, where the words name them. */
  readonly promptTokens: number | null;
  readonly outputTokens: number | null;
  readonly tokensMax: number | null;
}

export interface Codec {
  /** Reads a checked request. The outline must reach `TRANSLATION_OUTLINE_DEPTH`. Throws CallFailure `invalid_request`. */
  parseRequest(outline: JsonOutline, notes: TranslationNotes): GenerationRequest;
  /** Writes the request for an upstream of this format. Throws CallFailure `invalid_request` for what cannot be carried. */
  renderRequest(request: GenerationRequest, traits: UpstreamTraits, notes: TranslationNotes): RenderedRequest;
  startStreamParser(): StreamParser;
  /** The body of a 200 in one piece as events, up to `end`; or one `error` or `nonsense`. */
  parseAnswer(body: Buffer): readonly GenerationEvent[];
  startStreamRenderer(context: AnswerContext): StreamRenderer;
  /** JSON of an answer in one piece. */
  renderAnswer(
    generation: Generation,
    context: AnswerContext,
  ): { readonly json: string; readonly finish_reason: string };
  readError(body: Buffer): UpstreamError;
}

/** Deep enough for all that is read member by member; what lies deeper (schemas, arguments) is carried as it was written. */
export const TRANSLATION_OUTLINE_DEPTH = 12;
