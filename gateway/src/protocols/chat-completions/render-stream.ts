/**
 * Owns writing what happens while a model answers as the chunks of a chat-completions stream. Errors are written by the
 * vocabulary; what order chunks may have is stream-grammar.ts's, which every chunk passes. Wire reference A.7, C.3 and C.4.
 */
import type { GenerationEvent, PartOpening } from '../../generation/event.ts';
import type { Usage } from '../../generation/usage.ts';
import { type WritableJson, writeJson } from '../../wire/json-writer.ts';
import type { AnswerContext, StreamRenderer } from '../codec.ts';
import { renderAnnotations } from './annotations.ts';
import { ChunkFrame } from './chunk-frame.ts';
import { finishWord } from './finish-words.ts';
import { type OpenPart, openPart, renderToolStart } from './open-part.ts';
import { ChatGrammar, type ChatStep } from './stream-grammar.ts';

const ROLE_DELTA = '{"role":"assistant","content":""}';
const DONE_RECORD = 'data: [DONE]\n\n';

/**
 * Writes the stream of one choice: the role, texts and tool calls as they come, what the texts rest on, the finish,
 * the usage where the client wants it and upstream told it, `[DONE]`.
 */
export function startStreamRenderer(context: AnswerContext): StreamRenderer {
  return new ChatStreamRenderer(context);
}

class ChatStreamRenderer implements StreamRenderer {
  finish_reason: string | null = null;
  violation: string | null = null;
  readonly #context: AnswerContext;
  readonly #grammar = new ChatGrammar();
  readonly #parts = new Map<number, OpenPart>();
  #frame: ChunkFrame;
  #contentChars = 0;
  readonly #annotations: WritableJson[] = [];
  /** A refusal was written. */
  #refused = false;
  #usage: Usage | null = null;

  constructor(context: AnswerContext) {
    this.#context = context;
    this.#frame = this.#frameFor(null);
  }

  push(event: GenerationEvent): string {
    if (this.violation !== null) return '';
    switch (event.kind) {
      case 'text_delta':
      case 'arguments_delta':
        return this.#piece(event.part, event.text);
      case 'start':
        this.#frame = this.#frameFor(event.model);
        return this.#checked({ kind: 'role' }, this.#frame.delta(ROLE_DELTA));
      case 'part_start':
        return this.#begin(event.part, event.opening);
      case 'citation':
        this.#parts.get(event.part)?.citations.push(event.citation);
        return '';
      case 'part_end':
        return this.#end(event.part);
      case 'usage':
        this.#usage = event.usage;
        return '';
      case 'finish':
        return this.#finish(event);
      case 'end':
        return this.#usageChunk() + this.#checked({ kind: 'done' }, DONE_RECORD);
      default:
        return '';
    }
  }

  skipped(part: number, text: string): void {
    const open = this.#parts.get(part);
    if (open !== undefined) open.chars += text.length;
  }

  #frameFor(model: string | null): ChunkFrame {
    const { id, createdSeconds, wantsUsage } = this.#context;
    return new ChunkFrame(`chatcmpl-${id}`, createdSeconds, model ?? this.#context.model, wantsUsage);
  }

  /** The record, if it may come now. */
  #checked(step: ChatStep, record: string): string {
    this.violation = this.#grammar.check(step);
    return this.violation === null ? record : '';
  }

  #piece(part: number, text: string): string {
    const open = this.#parts.get(part);
    if (open === undefined) {
      this.violation = `a delta belongs to part ${part}, which is not open`;
      return '';
    }
    open.chars += text.length;
    return this.#checked(open.step, open.before + JSON.stringify(text) + open.after);
  }

  #begin(part: number, opening: PartOpening): string {
    // What only another format knows has no place here.
    if (opening.kind === 'opaque') return '';
    const index = this.#grammar.toolCalls;
    this.#parts.set(part, openPart(opening, this.#frame, index, this.#contentChars));
    if (opening.kind !== 'tool_call') return '';
    return this.#checked({ kind: 'tool_start', index }, this.#frame.delta(renderToolStart(opening, index)));
  }

  #end(part: number): string {
    const open = this.#parts.get(part);
    if (open === undefined) return '';
    const { opening } = open;
    // A call without arguments has an empty object of them: clients parse what they were sent (vector 1).
    const isBare = opening.kind === 'tool_call' && opening.tool === 'function' && open.chars === 0;
    const written = isBare ? this.#piece(part, '{}') : '';
    this.#parts.delete(part);
    if (opening.kind === 'refusal' && open.chars > 0) this.#refused = true;
    if (opening.kind !== 'text') return written;
    this.#contentChars += open.chars;
    for (const one of renderAnnotations(open.citations, open.contentStart, open.chars)) this.#annotations.push(one);
    return '';
  }

  #finish({ finish_reason, explanation }: Extract<GenerationEvent, { kind: 'finish' }>): string {
    const says = finish_reason === 'refusal' && explanation !== null && explanation !== '' && !this.#refused;
    const refusal = says ? this.#delta({ refusal: explanation }) : '';
    // In one delta: the official client keeps only the last of several (openai 7.55.0, November 2026).
    const annotations = this.#annotations.length > 0 ? this.#delta({ annotations: this.#annotations }) : '';
    if (this.violation !== null) return '';
    const word = finishWord(finish_reason);
    const last = this.#checked({ kind: 'finish' }, this.#frame.finish(word));
    if (last !== '') this.finish_reason = word;
    return refusal + annotations + last;
  }

  #delta(delta: WritableJson): string {
    return this.#checked({ kind: 'content' }, this.#frame.delta(writeJson(delta)));
  }

  #usageChunk(): string {
    const usage = this.#usage;
    if (usage === null || !this.#context.wantsUsage) return '';
    return this.#checked({ kind: 'usage' }, this.#frame.usage(usage));
  }
}
