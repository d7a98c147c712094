/**
 * Renders generation events as the chunks of a Gemini stream, and whole answers as one. The finish reason comes with the
 * counters in the last chunk; the grammar checks the order. Wire reference D.1; specification of other endpoints, 4.3.
 */
import { CallFailure } from '../../../errors/call-failure.ts';
import type { GenerationEvent } from '../../../generation/event.ts';
import { type Generation, unfoldGeneration } from '../../../generation/generation.ts';
import { type WritableJson, writeJson } from '../../../wire/json-writer.ts';
import type { AnswerContext, StreamRenderer } from '../../client-protocol.ts';
import { renderFinish } from '../shared/finish-reasons.ts';
import { renderLogprobs } from '../shared/logprobs.ts';
import { renderUsage } from '../shared/usage.ts';
import { GeminiGrammar, type GeminiStep } from '../stream/stream-grammar.ts';
import { type AnswerPart, AnswerParts } from './answer-parts.ts';

/** Google's line ends. */
export const RECORD_END = '\r\n\r\n';
/** Google's chunks without words have an empty text: clients expect a part. */
const NO_TEXT: readonly AnswerPart[] = [{ text: '' }];

type Members = { readonly [member: string]: WritableJson | undefined };

export function startStreamRenderer(context: AnswerContext): StreamRenderer {
  return new GeminiStreamRenderer(context);
}

class GeminiStreamRenderer implements StreamRenderer {
  finish_reason: string | null = null;
  violation: string | null = null;
  readonly #grammar = new GeminiGrammar();
  readonly #parts: AnswerParts;
  readonly #context: AnswerContext;
  #frame: ChunkFrame;
  #finish: Members = {};
  #usage: Members | undefined;

  constructor(context: AnswerContext) {
    this.#context = context;
    this.#parts = new AnswerParts(context);
    this.#frame = new ChunkFrame(context, null);
  }

  push(event: GenerationEvent): string {
    if (this.violation !== null) return '';
    const parts = this.#parts.push(event);
    const written = parts.length === 0 ? '' : this.#checked('content', this.#frame.parts(parts));
    this.violation ??= this.#parts.violation;
    return this.violation === null ? written + this.#writeOther(event) : '';
  }

  skipped(part: number, text: string): void {
    this.#parts.skipped(part, text);
  }

  #writeOther(event: GenerationEvent): string {
    switch (event.kind) {
      case 'start':
        this.#frame = new ChunkFrame(this.#context, event.model);
        return '';
      case 'logprobs':
        return this.#checked('content', this.#frame.chunk(NO_TEXT, { logprobsResult: renderLogprobs(event.tokens) }));
      case 'usage':
        this.#usage = renderUsage(event.usage);
        return '';
      case 'finish':
        this.#finish = finishOf(event, this.#parts);
        this.#checked('finish', '');
        if (this.violation === null) this.finish_reason = renderFinish(event.finish_reason);
        return '';
      case 'end':
        return this.#checked('end', this.#frame.chunk(NO_TEXT, this.#finish, this.#usage));
      default:
        return '';
    }
  }

  /** The record if the grammar allows it now; else empty, with `violation` set. */
  #checked(step: GeminiStep, record: string): string {
    this.violation = this.#grammar.check(step);
    return this.violation === null ? record : '';
  }
}

function finishOf(
  { finish_reason, explanation }: Extract<GenerationEvent, { kind: 'finish' }>,
  { grounding }: AnswerParts,
): Members {
  return {
    finishReason: renderFinish(finish_reason),
    finishMessage: finish_reason === 'refusal' ? (explanation ?? undefined) : undefined,
    groundingMetadata: grounding.render(),
  };
}

/** Wraps parts into records. */
class ChunkFrame {
  readonly #tail: Members;
  readonly #before = 'data: {"candidates":[{"content":{"role":"model","parts":[';
  readonly #after: string;

  constructor({ id, model: asked }: AnswerContext, model: string | null) {
    this.#tail = { modelVersion: model ?? asked, responseId: id };
    this.#after = `]},"index":0}],${writeJson(this.#tail).slice(1)}${RECORD_END}`;
  }

  parts(parts: readonly AnswerPart[]): string {
    return this.#before + parts.map((part) => writeJson(part)).join(',') + this.#after;
  }

  /** A record with more than parts. `usage` undefined: none was reported. */
  chunk(parts: readonly AnswerPart[], candidate: Members, usageMetadata?: Members): string {
    return `data: ${renderChunk(parts, candidate, { usageMetadata, ...this.#tail })}${RECORD_END}`;
  }
}

function renderChunk(parts: readonly AnswerPart[], candidate: Members, members: Members): string {
  return writeJson({ candidates: [{ content: { role: 'model', parts }, ...candidate, index: 0 }], ...members });
}

/**
 * The JSON of the answer and its finish reason. Throws if the answer never finished; CallFailure `upstream_malformed` if
 * the arguments of a call are not a JSON object.
 */
export function renderAnswer(
  generation: Generation,
  context: AnswerContext,
): { readonly json: string; readonly finish_reason: string } {
  const { usage, model, logprobs, finish_reason } = generation;
  if (finish_reason === null) throw new Error('an answer that never finished was to be rendered');
  const writer = new AnswerParts(context);
  const parts: AnswerPart[] = [];
  let finish: Members = {};
  for (const event of unfoldGeneration(generation)) {
    parts.push(...writer.push(event));
    if (event.kind === 'finish') finish = finishOf(event, writer);
  }
  if (writer.violation !== null)
    throw new CallFailure('upstream_malformed', `the model provider sent an invalid answer: ${writer.violation}`);
  const logprobsResult = logprobs === undefined ? undefined : renderLogprobs(logprobs);
  const json = renderChunk(
    parts.length === 0 ? NO_TEXT : parts,
    { ...finish, logprobsResult },
    {
      usageMetadata: usage === null ? undefined : renderUsage(usage),
      modelVersion: model ?? context.model,
      responseId: context.id,
    },
  );
  return { json, finish_reason: renderFinish(finish_reason) };
}
