/**
 * Renders generation events as the chunks of a chat-completions stream. render-error.ts renders errors;
 * stream-grammar.ts checks the order of every chunk. Wire reference A.7, C.3 and C.4.
 */
import type { GenerationEvent, PartOpening } from '../../../generation/event.ts';
import type { Citation, Native } from '../../../generation/part.ts';
import type { Usage } from '../../../generation/usage.ts';
import { type WritableJson, writeJson } from '../../../wire/json-writer.ts';
import type { AnswerContext, StreamRenderer } from '../../client-protocol.ts';
import { renderAnnotations } from '../shared/annotations.ts';
import { finishWord } from '../shared/finish-words.ts';
import { renderLogprobs } from '../shared/logprobs.ts';
import { renderUsage } from '../shared/usage.ts';
import { ChatGrammar, type ChatStep } from '../stream/stream-grammar.ts';
import { renderImage, renderSignature } from './render-answer.ts';

const ROLE_DELTA = '{"role":"assistant","content":""}';
const DONE_RECORD = 'data: [DONE]\n\n';

/**
 * Renders the stream of one choice: the role, texts and tool calls as they come, annotations, the finish, usage if the
 * client wants it and upstream reported it, `[DONE]`.
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
  #images = 0;
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
      case 'host_data':
        return this.#sign(event.part, event.native);
      case 'part_end':
        return this.#end(event.part);
      case 'logprobs':
        return this.#checked({ kind: 'content' }, this.#frame.logprobs(writeJson(renderLogprobs(event.tokens))));
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

  /** The record if the grammar allows it now; else empty, with `violation` set. */
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
    // Other content that only another format has is omitted.
    if (opening.kind === 'opaque') {
      const { imageUrl } = opening.part;
      return imageUrl === undefined ? '' : this.#delta({ images: [renderImage(imageUrl, this.#images++)] });
    }
    const index = this.#grammar.toolCalls;
    this.#parts.set(part, openPart(opening, this.#frame, index, this.#contentChars));
    if (opening.kind !== 'tool_call') return '';
    return this.#checked({ kind: 'tool_start', index }, this.#frame.delta(renderToolStart(opening, index)));
  }

  /** In a delta of its own: with the call's index, or on the message for a text. Not after the part has ended. */
  #sign(part: number, native: Native): string {
    const open = this.#parts.get(part);
    const extra_content = renderSignature(native);
    if (open === undefined || extra_content === undefined) return '';
    const { step } = open;
    const delta =
      step.kind === 'tool_fragment' ? { tool_calls: [{ index: step.index, extra_content }] } : { extra_content };
    return this.#checked(step, this.#frame.delta(writeJson(delta)));
  }

  #end(part: number): string {
    const open = this.#parts.get(part);
    if (open === undefined) return '';
    const { opening } = open;
    // A call without arguments gets an empty object: clients parse the arguments (vector 1).
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
    // All annotations in one delta: the official client keeps only the last of several (openai 7.55.0, November 2026).
    const annotations = this.#annotations.length > 0 ? this.#delta({ annotations: this.#annotations }) : '';
    if (this.violation !== null) return '';
    const word = finishWord(finish_reason, this.#grammar.toolCalls > 0);
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

/** An open part. Each piece of it is rendered as `before`, the JSON of the text, `after`. */
interface OpenPart {
  readonly opening: Exclude<PartOpening, { readonly kind: 'opaque' }>;
  /** The grammar step of each piece. */
  readonly step: ChatStep;
  readonly before: string;
  readonly after: string;
  /** Of a text part: its start in the whole content. */
  readonly contentStart: number;
  readonly citations: Citation[];
  /** UTF-16 units written so far. */
  chars: number;
}

const CONTENT: ChatStep = { kind: 'content' };
const TEXT_MEMBERS = { text: 'content', refusal: 'refusal', reasoning: 'reasoning_content' } as const;

/** `toolIndex`: the index of a tool call among the calls, repeated in each of its pieces. */
function openPart(opening: OpenPart['opening'], frame: ChunkFrame, toolIndex: number, contentStart: number): OpenPart {
  const rest = { opening, contentStart, citations: [], chars: 0 };
  if (opening.kind !== 'tool_call') {
    const before = `${frame.before}{"${TEXT_MEMBERS[opening.kind]}":`;
    return { ...rest, step: CONTENT, before, after: `}${frame.after}` };
  }
  const member = opening.tool === 'custom' ? '"custom":{"input":' : '"function":{"arguments":';
  const before = `${frame.before}{"tool_calls":[{"index":${toolIndex},${member}`;
  return { ...rest, step: { kind: 'tool_fragment', index: toolIndex }, before, after: `}}]}${frame.after}` };
}

/** The first delta of a tool call: its id, type and name, with empty arguments. */
function renderToolStart(opening: Extract<PartOpening, { kind: 'tool_call' }>, index: number): string {
  const { id, name, tool } = opening;
  const body: WritableJson = tool === 'custom' ? { name, input: '' } : { name, arguments: '' };
  return writeJson({ tool_calls: [{ index, id, type: tool, [tool]: body }] });
}

/** Wraps deltas into records. If the client wants usage, earlier chunks have `usage: null`, as OpenAI's do. */
class ChunkFrame {
  readonly #head: string;
  readonly #tail: string;
  /** The record text before and after the delta of a chunk that is not the finish. */
  readonly before: string;
  readonly after: string;

  constructor(id: string, createdSeconds: number, model: string, wantsUsage: boolean) {
    const common = writeJson({ id, object: 'chat.completion.chunk', created: createdSeconds, model });
    this.#head = `data: ${common.slice(0, -1)},"choices":[`;
    this.#tail = wantsUsage ? '],"usage":null}\n\n' : ']}\n\n';
    this.before = `${this.#head}{"index":0,"delta":`;
    this.after = `,"finish_reason":null}${this.#tail}`;
  }

  /** The record of a delta, given as JSON. */
  delta(json: string): string {
    return this.before + json + this.after;
  }

  /** The record of log probabilities, given as JSON; official clients join them to the choice. */
  logprobs(json: string): string {
    return `${this.before}{},"logprobs":${json}${this.after}`;
  }

  finish(word: string): string {
    return `${this.#head}{"index":0,"delta":{},"finish_reason":${JSON.stringify(word)}}${this.#tail}`;
  }

  usage(usage: Usage): string {
    return `${this.#head}],"usage":${writeJson(renderUsage(usage))}}\n\n`;
  }
}
