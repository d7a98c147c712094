/** Parses a chat-completions stream: classifies records, reads the chunks, detects completion. */
import { dataText, type StreamRecord } from '../../../framing/framing.ts';
import { type FinishReason, type GenerationEvent, usageEvent } from '../../../generation/event.ts';
import type { Citation, JsonText } from '../../../generation/part.ts';
import { writeJson } from '../../../wire/json-writer.ts';
import { valueText } from '../../exact-json.ts';
import { asArray, asName, asObject, asText, type JsonObject, parseObject } from '../../json.ts';
import type { StreamParser } from '../../upstream-protocol.ts';
import { parseAnnotations, parseSources, withinPart } from '../shared/annotations.ts';
import { readFinishWord } from '../shared/finish-words.ts';
import { parseLogprobs } from '../shared/logprobs.ts';
import { MessageData } from '../shared/message-data.ts';
import { readReportedUsage } from '../shared/usage.ts';
import { findError } from '../stream/stream-of-answer.ts';
import { EventQueue, ToolCallReader } from './tool-call-reader.ts';

const DONE = '[DONE]';
const NONE: readonly GenerationEvent[] = [];

/**
 * Parses the stream of one call; only the first choice counts. It is complete at `[DONE]`, or at a clean end of the
 * bytes after a `finish_reason`; wire reference A.7 and C.4.
 */
export function startStreamParser(): StreamParser {
  return new ChatStreamParser();
}

class ChatStreamParser implements StreamParser {
  readonly #reader = new AnswerReader();

  get isUsageFinal(): boolean {
    return this.#reader.isUsageFinal;
  }

  push(record: StreamRecord): readonly GenerationEvent[] {
    const { queue } = this.#reader;
    if (queue.closed || record.kind !== 'event') return NONE;
    this.#read(dataText(record), record.event);
    return queue.take();
  }

  skipped(text: string): void {
    this.#reader.skipped(text);
  }

  finish(): readonly GenerationEvent[] {
    const { queue } = this.#reader;
    if (queue.closed || !this.#reader.finished) return NONE;
    this.#reader.close();
    return queue.take();
  }

  #read(text: string, recordName: string): void {
    if (text === DONE || (text.length < 2 * DONE.length && text.trim() === DONE)) {
      this.#reader.close();
      return;
    }
    const chunk = parseObject(text);
    if (chunk === null) {
      this.#reader.queue.refuse('upstream sent a record that is not a JSON object');
      return;
    }
    const error = findError(chunk, recordName);
    if (error === null) this.#reader.readChunk(chunk, 'delta', text);
    else this.#reader.fail(chunk, error);
  }
}

export class AnswerReader {
  readonly queue = new EventQueue();
  /** Usage came, and no output after it. */
  isUsageFinal = false;
  readonly #data = new MessageData();
  readonly #tools = new ToolCallReader(this.queue, this.#data);
  #answerId = '';
  #started = false;
  #hasChoice = false;
  /** The open text-like part: at most one at a time. */
  #open: { readonly kind: TextKind; readonly part: number } | null = null;
  /** The start of the open text part in the whole content, and the length of the content. */
  #contentStart = 0;
  #contentChars = 0;
  /** Citations received before any text. */
  readonly #early: Citation[] = [];
  /** Pages named beside the answer, for an answer whose text cites none. */
  #sources: readonly Citation[] = [];
  #cites = false;
  #refused = false;
  #reported: string | null = null;
  #stopText: string | null = null;

  /** Upstream sent a finish reason. */
  get finished(): boolean {
    return this.#reported !== null;
  }

  /** Reads a chunk or a non-streamed answer, parsed from `json`; `member` holds the output of its choices. */
  readChunk(chunk: JsonObject, member: 'delta' | 'message', json: JsonText): void {
    const place = firstChoice(chunk.choices);
    const choice = asObject(asArray(chunk.choices)[place]);
    const reported = readReportedUsage(chunk);
    if (!this.#started && (choice !== null || reported !== null || asText(chunk.id) !== null)) this.#start(chunk);
    if (reported !== null) this.queue.add(usageEvent(reported));
    this.#sources = parseSources(chunk) ?? this.#sources;
    if (choice === null) {
      this.isUsageFinal ||= reported !== null;
      return;
    }
    this.#hasChoice = true;
    const error = findError(choice, '');
    if (error !== null) this.queue.add(error);
    const message = asObject(choice[member]);
    if (message !== null) {
      this.#readMessage(message, (name) => valueText(json, ['choices', place, member, name]) ?? '');
    }
    const tokens = asObject(choice.logprobs) === null ? [] : parseLogprobs(choice.logprobs);
    if (tokens.length > 0) this.queue.add({ kind: 'logprobs', tokens });
    if (reported !== null) this.isUsageFinal = true;
    this.#readFinish(choice);
  }

  /** Text of the open part: the places of citations count it. */
  skipped(text: string): void {
    if (this.#open?.kind === 'text') this.#contentChars += text.length;
  }

  /** Upstream failed: adds its usage so far and the error. */
  fail(chunk: JsonObject, error: GenerationEvent): void {
    const reported = readReportedUsage(chunk);
    if (reported !== null) this.queue.add(usageEvent(reported));
    this.queue.add(error);
  }

  /** The answer is complete: ends open parts, then adds the finish and the end. */
  close(): void {
    if (!this.#hasChoice) {
      this.queue.refuse('upstream ended its answer without having begun it');
      return;
    }
    const word = readFinishWord(this.#reported);
    if (word === 'failed') {
      const message = `upstream gave up in the middle of its answer: finish_reason ${JSON.stringify(this.#reported)}`;
      this.queue.add({ kind: 'error', type: 'error', message, status: null });
      return;
    }
    this.#citeSources();
    this.#endText();
    this.#tools.finish(word === 'length' || word === 'context_window' || word === 'refusal');
    const finish_reason = this.#finishReason(word);
    const stop_sequence = finish_reason === 'stop_sequence' ? this.#stopText : null;
    this.queue.add({ kind: 'finish', finish_reason, stop_sequence, reported: this.#reported, explanation: null });
    this.queue.add({ kind: 'end' });
  }

  #start(chunk: JsonObject): void {
    this.#started = true;
    const id = asText(chunk.id);
    this.#answerId = id ?? (typeof chunk.created === 'number' ? String(chunk.created) : '');
    this.queue.add({ kind: 'start', id, model: asName(chunk.model) });
  }

  /** `written`: the text of a member of the message. */
  #readMessage(message: JsonObject, written: (name: string) => JsonText): void {
    const { content, refusal, tool_calls } = message;
    if (message.reasoning_details !== undefined || message.extra_content !== undefined) this.#data.read(message);
    const reasoning = reasoningOf(message);
    if (reasoning !== '') this.#addText('reasoning', reasoning);
    if (typeof content === 'string') this.#addText('text', content);
    else if (Array.isArray(content)) for (const piece of piecesOf(content)) this.#addText(piece.kind, piece.text);
    if (typeof refusal === 'string') this.#addText('refusal', refusal);
    if (Array.isArray(message.images)) for (const image of message.images) this.#addImage(asObject(image));
    if (message.annotations !== undefined) this.#readAnnotations(message.annotations);
    if (Array.isArray(tool_calls) && tool_calls.length > 0) {
      this.isUsageFinal = false;
      this.#endText();
      this.#tools.readFragments(tool_calls, this.#answerId, () => written('tool_calls'));
    }
    if (asObject(message.function_call) === null) return;
    this.isUsageFinal = false;
    this.#tools.readFunctionCall(message.function_call, this.#answerId, () => written('function_call'));
  }

  #addText(kind: TextKind, text: string): void {
    if (text === '') return;
    this.isUsageFinal = false;
    if (this.#open?.kind !== kind) this.#openText(kind);
    if (kind === 'text') this.#contentChars += text.length;
    if (this.#open !== null) this.queue.add({ kind: 'text_delta', part: this.#open.part, text });
  }

  /** OpenRouter's form of images that a model made. */
  #addImage(image: JsonObject | null): void {
    const imageUrl = asText(asObject(image?.image_url)?.url);
    if (imageUrl === null) return;
    this.isUsageFinal = false;
    this.#endText();
    const native = { origin: 'chat', json: writeJson({ image_url: { url: imageUrl } }) };
    const part = { kind: 'opaque', type: 'image', native, words: null, imageUrl } as const;
    this.queue.add({ kind: 'part_end', part: this.queue.begin({ kind: 'opaque', part }) });
  }

  #openText(kind: TextKind): void {
    this.#endText();
    const opening = kind === 'reasoning' ? { kind, redacted: false, issuer: null } : { kind };
    this.#open = { kind, part: this.queue.begin(opening) };
    this.#refused ||= kind === 'refusal';
    if (kind !== 'text') return;
    this.#contentStart = this.#contentChars;
    for (const citation of this.#early) this.#cite(this.#open.part, citation);
    this.#early.length = 0;
  }

  #endText(): void {
    if (this.#open !== null) this.queue.add({ kind: 'part_end', part: this.#open.part });
    this.#open = null;
  }

  /** Annotations apply to the open text part. Citations of text that has ended are dropped (wire reference C.3). */
  #readAnnotations(annotations: unknown): void {
    const citations = parseAnnotations(annotations);
    if (this.#open?.kind === 'text') for (const citation of citations) this.#cite(this.#open.part, citation);
    else if (this.#contentChars === 0) for (const citation of citations) this.#early.push(citation);
  }

  #cite(part: number, citation: Citation): void {
    const own = withinPart(citation, this.#contentStart);
    if (own === null) return;
    this.#cites = true;
    this.queue.add({ kind: 'citation', part, citation: own });
  }

  #citeSources(): void {
    if (this.#open?.kind !== 'text' || this.#cites) return;
    for (const source of this.#sources) this.#cite(this.#open.part, source);
  }

  #readFinish(choice: JsonObject): void {
    // OpenAI's vision previews had `finish_details` instead (recorded traffic, 2023).
    const word = asText(choice.finish_reason) ?? asText(asObject(choice.finish_details)?.type);
    if (word === null) return;
    this.#reported = word;
    // vLLM and SGLang report the stop sequence that stopped the model; a number is a token id.
    this.#stopText = asText(choice.stop_reason) ?? asText(choice.matched_stop) ?? this.#stopText;
  }

  /** The presence of calls decides between `stop` and `tool_calls`, whatever upstream reports (vectors 10 and 11). */
  #finishReason(word: FinishReason): FinishReason {
    if (word !== 'stop' && word !== 'tool_calls') return word;
    if (this.#tools.any) return 'tool_calls';
    if (this.#refused) return 'refusal';
    return word === 'stop' && this.#stopText !== null ? 'stop_sequence' : 'stop';
  }
}

/** The position of the choice with index 0 or without an index; -1: none. */
function firstChoice(choices: unknown): number {
  return asArray(choices).findIndex((choice) => {
    const found = asObject(choice);
    return found !== null && (typeof found.index !== 'number' || found.index === 0);
  });
}

type TextKind = 'text' | 'refusal' | 'reasoning';

interface TextPiece {
  readonly kind: TextKind;
  readonly text: string;
}

/**
 * The reasoning of a message or delta; empty if it has none. The first member that has text wins, because several
 * providers send the same text in two. Snowflake sends only `reasoning_details` (recorded traffic, July 2026).
 */
function reasoningOf(message: JsonObject): string {
  const { reasoning_content, reasoning, reasoning_details } = message;
  if (typeof reasoning_content === 'string' && reasoning_content !== '') return reasoning_content;
  if (typeof reasoning === 'string' && reasoning !== '') return reasoning;
  if (!Array.isArray(reasoning_details)) return '';
  let text = '';
  for (const detail of reasoning_details) {
    const found = asObject(detail);
    text += asText(found?.text) ?? asText(found?.summary) ?? '';
  }
  return text;
}

/**
 * The texts of a `content` array, in order: Mistral's form for reasoning models (recorded traffic, August 2026), and
 * Databricks' with summaries (provider reference, G).
 */
function piecesOf(content: readonly unknown[]): TextPiece[] {
  return content.flatMap((element): TextPiece[] => {
    const found = asObject(element);
    switch (found?.type) {
      case 'text':
        return [{ kind: 'text', text: asText(found.text) ?? '' }];
      case 'refusal':
        return [{ kind: 'refusal', text: asText(found.refusal) ?? '' }];
      case 'thinking':
        return [{ kind: 'reasoning', text: thinkingOf(found.thinking) }];
      case 'reasoning':
        return [{ kind: 'reasoning', text: thinkingOf(found.summary) }];
      default:
        return [];
    }
  });
}

function thinkingOf(thinking: unknown): string {
  if (typeof thinking === 'string') return thinking;
  let text = '';
  for (const piece of asArray(thinking)) text += asText(asObject(piece)?.text) ?? '';
  return text;
}
