/**
 * Parses a Gemini stream: one candidate's parts from chunk to chunk, over all hops of a continued answer. The end of the
 * bytes after a finish reason is the end of the answer.
 */
import { dataText, type StreamRecord } from '../../../framing/framing.ts';
import { type GenerationEvent, type PartOpening, usageEvent } from '../../../generation/event.ts';
import type { JsonText } from '../../../generation/part.ts';
import { elementTexts, valueText } from '../../exact-json.ts';
import { packSignature } from '../../host-data.ts';
import { asArray, asName, asObject, asText, type JsonObject, parseObject } from '../../json.ts';
import { aliasText } from '../../request/tool-names.ts';
import type { StreamParser } from '../../upstream-protocol.ts';
import { citationsOf, countSearches } from '../shared/citations.ts';
import { CONTINUATION, finishWordOf, parseFinish } from '../shared/finish-reasons.ts';
import { parseLogprobs } from '../shared/logprobs.ts';
import { errorEvent } from '../shared/read-error.ts';
import { UsageTally } from '../shared/usage.ts';
import { PartialCall } from './partial-call.ts';

const NONE: readonly GenerationEvent[] = [];

export function startStreamParser(): StreamParser {
  return new GeminiStreamParser();
}

class GeminiStreamParser implements StreamParser {
  readonly #reader = new AnswerReader();

  get isUsageFinal(): boolean {
    return this.#reader.isUsageFinal;
  }

  push(record: StreamRecord): readonly GenerationEvent[] {
    if (this.#reader.isOver || record.kind !== 'event') return NONE;
    const json = dataText(record);
    const chunk = parseObject(json);
    if (chunk === null) this.#reader.refuse('upstream sent a record that is not a JSON object');
    else this.#reader.read(chunk, json);
    return this.#reader.takeEvents();
  }

  skipped(text: string): void {
    this.#reader.skipped(text);
  }

  finish(): readonly GenerationEvent[] {
    if (this.#reader.isOver || !this.#reader.isFinished) return NONE;
    this.#reader.close();
    return this.#reader.takeEvents();
  }
}

/** An answer with more parts is refused. */
const PARTS_MAX = 10_000;
const CALL_ID_CHARS_MAX = 64;
/** Parts of server tools, which come back with the calls after them. */
const SERVER_PARTS = ['toolCall', 'toolResponse', 'executableCode', 'codeExecutionResult', 'inlineData', 'fileData'];

type WholeCall = Pick<PartialCall, 'name' | 'id' | 'signature' | 'json'>;

/** Reads the chunks of a stream, or the answers of its hops. */
export class AnswerReader {
  /** Usage came, and no output after it. */
  isUsageFinal = false;
  /** An error, something malformed or the end was read. */
  isOver = false;
  readonly #usage = new UsageTally();
  #events: GenerationEvent[] = [];
  #answerId: string | null = null;
  #model: string | null = null;
  #isStarted = false;
  #parts = 0;
  #open: { readonly kind: 'text' | 'reasoning'; readonly part: number } | null = null;
  /** The open text, and the UTF-8 bytes of those before. */
  #text = '';
  #bytesBefore = 0;
  #grounding: JsonObject | null = null;
  /** The open text is signed: what follows is of another part. It stays open for the grounding, which may come last. */
  #isSigned = false;
  /** A signature after the open text, which is a part of its own. */
  #nextSignature: string | null = null;
  readonly #callIds = new Set<string>();
  #partial: PartialCall | null = null;
  #reported: string | null = null;
  #explanation: string | null = null;
  #blockReason: string | null = null;
  #hasFinish = false;

  /** A finish reason was read, or the prompt was blocked. */
  get isFinished(): boolean {
    return this.#reported !== null || this.#blockReason !== null;
  }

  get hasParts(): boolean {
    return this.#parts > 0;
  }

  takeEvents(): readonly GenerationEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  refuse(message: string): void {
    this.#end({ kind: 'malformed', message });
  }

  /** `json`: the text that the chunk was parsed from. */
  read(chunk: JsonObject, json: JsonText): void {
    if (this.isOver) return;
    const error = asObject(chunk.error);
    if (this.#reported === CONTINUATION && error === null) this.#startHop();
    if (error === null && !this.#isStarted) this.#start(chunk);
    const candidates = asArray(chunk.candidates);
    const place = candidates.findIndex((one) => (asObject(one)?.index ?? 0) === 0);
    const candidate = asObject(candidates[place]);
    const content = asObject(candidate?.content);
    this.#readGrounding(asObject(candidate?.groundingMetadata));
    let texts: readonly JsonText[] | null = null;
    for (const [index, part] of asArray(content?.parts).entries()) {
      if (this.isOver) return;
      this.isUsageFinal = false;
      this.#readPart(asObject(part) ?? {}, () => {
        texts ??= elementTexts(valueText(json, ['candidates', place, 'content', 'parts']) ?? '[]');
        return texts[index] ?? '{}';
      });
    }
    const tokens = parseLogprobs(asObject(candidate?.logprobsResult));
    if (tokens.length > 0) this.#add({ kind: 'logprobs', tokens });
    if (this.#usage.take(chunk.usageMetadata)) this.#report();
    if (error !== null) this.#end(errorEvent(error));
    else if (!this.isOver) this.#readFinish(candidate, asObject(chunk.promptFeedback));
  }

  /** Text of the open part: citations are found in it. */
  skipped(text: string): void {
    if (this.#open?.kind === 'text') this.#text += text;
  }

  /** The answer is complete: ends the open part, then adds the finish and the end. */
  close(): void {
    if (this.isOver) return;
    this.#addFinish();
    this.#end({ kind: 'end' });
  }

  /** Once. */
  #addFinish(): void {
    if (this.#hasFinish) return;
    this.#endCall();
    this.#endPart();
    this.#hasFinish = true;
    const { finish_reason, explanation } = this.#finish();
    this.#add({ kind: 'finish', finish_reason, stop_sequence: null, reported: this.#reported, explanation });
  }

  #finish() {
    if (this.#blockReason !== null && this.#reported === null) {
      return { finish_reason: 'refusal', explanation: this.#explanation ?? this.#blockReason } as const;
    }
    const word = this.#reported === null ? 'stop' : parseFinish(this.#reported);
    if (word === 'failed' || word === 'account') throw new Error('a failed answer was to be finished');
    const isCall = this.#callIds.size > 0 && (word === 'stop' || word === 'other');
    return { finish_reason: isCall ? 'tool_calls' : word, explanation: this.#explanation } as const;
  }

  #start(chunk: JsonObject): void {
    this.#isStarted = true;
    this.#answerId = asText(chunk.responseId);
    this.#model = asName(chunk.modelVersion);
    this.#add({ kind: 'start', id: this.#answerId, model: this.#model });
  }

  #startHop(): void {
    this.#usage.endHop();
    this.#reported = null;
    this.#explanation = null;
    this.isUsageFinal = false;
  }

  #readPart(part: JsonObject, exact: () => JsonText): void {
    const signature = asText(part.thoughtSignature);
    const call = asObject(part.functionCall);
    if (call !== null) this.#readCall(call, exact, signature);
    else if (typeof part.text === 'string') this.#addText(part, part.text, signature);
    else if (SERVER_PARTS.some((name) => part[name] !== undefined)) this.#addServerPart(part, exact());
    else if (signature !== null) this.#addText(part, '', signature);
  }

  #addText({ thought }: JsonObject, text: string, signature: string | null): void {
    const kind = thought === true ? 'reasoning' : 'text';
    // Thoughts do not go back, so a signature of one is of no use.
    if (kind === 'reasoning' && text === '') return;
    if (text === '' && signature === null) return;
    if (text === '' && this.#open?.kind === 'text' && this.#nextSignature === null) {
      this.#nextSignature = signature;
      return;
    }
    this.#openText(kind);
    const part = this.#open?.part ?? 0;
    if (text !== '') this.#add({ kind: 'text_delta', part, text });
    if (kind !== 'text') return;
    this.#text += text;
    if (signature === null) return;
    this.#add({ kind: 'host_data', part, native: packSignature(signature) });
    this.#isSigned = true;
  }

  #openText(kind: 'text' | 'reasoning'): void {
    if (this.#open?.kind === kind && !this.#isSigned && this.#nextSignature === null) return;
    this.#endPart();
    this.#open = { kind, part: this.#begin(kind === 'text' ? { kind } : { kind, redacted: false, issuer: null }) };
  }

  #endPart(): void {
    if (this.#open === null) return;
    const { kind, part } = this.#open;
    if (kind === 'text') {
      for (const citation of this.#grounding === null
        ? []
        : citationsOf(this.#grounding, this.#text, this.#bytesBefore)) {
        this.#add({ kind: 'citation', part, citation });
      }
      this.#bytesBefore += Buffer.byteLength(this.#text);
      this.#text = '';
    }
    this.#add({ kind: 'part_end', part });
    this.#open = null;
    this.#isSigned = false;
    this.#endSignature();
  }

  #endSignature(): void {
    if (this.#nextSignature === null) return;
    const part = this.#begin({ kind: 'text' });
    this.#add({ kind: 'host_data', part, native: packSignature(this.#nextSignature) });
    this.#add({ kind: 'part_end', part });
    this.#nextSignature = null;
  }

  #begin(opening: PartOpening): number {
    const part = this.#parts++;
    if (this.#hasFinish) this.refuse('upstream sent content for a blocked prompt');
    else if (part >= PARTS_MAX) this.refuse(`upstream sent more than ${PARTS_MAX} parts`);
    else this.#add({ kind: 'part_start', part, opening });
    return part;
  }

  #readCall(call: JsonObject, exact: () => JsonText, signature: string | null): void {
    const name = asText(call.name);
    if (name !== null) {
      this.#endCall();
      const { args = null, partialArgs } = call;
      const id = asText(call.id);
      if (call.willContinue === true || (args === null && Array.isArray(partialArgs))) {
        this.#partial = new PartialCall(name, id);
      } else if (args === null || asObject(args) !== null) {
        const json = args === null ? '{}' : (valueText(exact(), ['functionCall', 'args']) ?? '{}');
        this.#addCall({ name, id, signature, json });
        return;
      }
    }
    if (this.#partial !== null) this.#partial.signature ??= signature;
    if (this.#partial?.push(call.partialArgs) !== true) {
      this.refuse('upstream sent a functionCall without a name, or arguments that fit none');
    } else if (call.willContinue !== true) this.#endCall();
  }

  /** Ends a call whose arguments came in pieces. */
  #endCall(): void {
    const partial = this.#partial;
    this.#partial = null;
    if (partial !== null) this.#addCall(partial);
  }

  #addCall({ name, id, signature, json }: WholeCall): void {
    this.#endPart();
    const own = aliasText(`call_${this.#answerId ?? ''}_${this.#parts}`, CALL_ID_CHARS_MAX);
    const known = id === null || this.#callIds.has(id) ? own : id;
    this.#callIds.add(known);
    const part = this.#begin({ kind: 'tool_call', id: known, name, tool: 'function' });
    if (signature !== null) this.#add({ kind: 'host_data', part, native: packSignature(signature) });
    this.#add({ kind: 'arguments_delta', part, text: json });
    this.#add({ kind: 'part_end', part });
  }

  #addServerPart(part: JsonObject, json: JsonText): void {
    this.#endPart();
    if (part.inlineData === undefined && part.fileData === undefined) this.#usage.noteServerTool();
    const type = mediumOf(part) ?? SERVER_PARTS.find((name) => part[name] !== undefined) ?? 'part';
    const imageUrl = type === 'image' ? imageUrlOf(part) : undefined;
    const native = { origin: 'gemini', json };
    const opaque = { kind: 'opaque', type, native, words: null, returns: true, imageUrl } as const;
    this.#add({ kind: 'part_end', part: this.#begin({ kind: 'opaque', part: opaque }) });
  }

  #readGrounding(grounding: JsonObject | null): void {
    if (grounding === null) return;
    if (asArray(grounding.groundingSupports).length > 0) this.#grounding = grounding;
    this.#usage.noteSearches(countSearches(grounding, this.#model));
  }

  #report(): void {
    const reported = this.#usage.result();
    if (reported === null) return;
    this.#add(usageEvent(reported));
    this.isUsageFinal = true;
  }

  #readFinish(candidate: JsonObject | null, feedback: JsonObject | null): void {
    const blocked = finishWordOf(feedback?.blockReason);
    if (blocked !== null && candidate === null && !blocked.endsWith('REASON_UNSPECIFIED')) {
      this.#blockReason = blocked;
      this.#explanation = asText(feedback?.blockReasonMessage);
      // No part follows a blocked prompt, but usage may.
      this.#addFinish();
      return;
    }
    const word = finishWordOf(candidate?.finishReason);
    if (word === null) return;
    this.#reported = word;
    this.#explanation = asText(candidate?.finishMessage);
    const finish = parseFinish(word);
    if (finish !== 'failed' && finish !== 'account') return;
    const message = `upstream gave up: finishReason ${word}${this.#explanation === null ? '' : `: ${this.#explanation}`}`;
    this.#end({ kind: 'error', type: word, message, status: finish === 'account' ? 403 : null });
  }

  #end(event: GenerationEvent): void {
    this.#add(event);
    this.isOver = true;
  }

  /** Nothing follows the end. */
  #add(event: GenerationEvent): void {
    if (!this.isOver) this.#events.push(event);
  }
}

function imageUrlOf({ inlineData, fileData }: JsonObject): string | undefined {
  const inline = asObject(inlineData);
  const data = asText(inline?.data);
  if (data !== null) return `data:${asText(inline?.mimeType) ?? ''};base64,${data}`;
  return asText(asObject(fileData)?.fileUri) ?? undefined;
}

/** The kind of a generated medium (image, audio, video); null: the part is no medium. */
function mediumOf({ inlineData, fileData }: JsonObject): string | null {
  const medium = asObject(inlineData) ?? asObject(fileData);
  return medium === null ? null : (asText(asText(medium.mimeType)?.split('/', 1)[0]) ?? null);
}
