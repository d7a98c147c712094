/**
 * Observes usage, finish reasons and errors in the chunks of a Gemini stream. The end of the bytes is the end of the
 * answer, so a chunk with a finish reason is held back until something follows it: before the gateway has recorded the
 * end, the client has none.
 */
import { dataText, rawBytes, type StreamRecord } from '../../../framing/framing.ts';
import { NO_FLAGS } from '../../../generation/usage.ts';
import { asArray, asName, asObject, type JsonObject, parseObject, textBytes } from '../../json.ts';
import type { AnswerFacts, RecordVerdict, StreamObserver } from '../../upstream-protocol.ts';
import { countSearches } from '../shared/citations.ts';
import { CONTINUATION, finishWordOf } from '../shared/finish-reasons.ts';
import { errorOf } from '../shared/read-error.ts';
import { UsageTally } from '../shared/usage.ts';
import { GeminiGrammar } from './stream-grammar.ts';

const LF = 10;
const CR = 13;
const LINE_FEED = Buffer.from('\n');
const NOTHING = Buffer.alloc(0);
const SERVER_PARTS = ['toolCall', 'toolResponse', 'executableCode', 'codeExecutionResult'];

export class GeminiStreamObserver implements StreamObserver {
  readonly rewrites = false;
  replacement: Buffer | null = null;
  failure: StreamObserver['failure'] = null;
  begun = false;
  protocolViolations = 0;
  readonly #usage = new UsageTally();
  readonly #grammar = new GeminiGrammar();
  readonly #seen = new Set<unknown>();
  readonly #done = new Set<unknown>();
  /** The bytes that wait. */
  #held: Buffer[] = [];
  #isBlocked = false;
  #finishWord: string | null = null;
  #model: string | null = null;
  #outputBytes = 0;
  #reasoningBytes = 0;
  /** Output bytes when usage last came: later output is not in that usage. */
  #reportedAtBytes = 0;

  facts(): AnswerFacts {
    const reported = this.#usage.result();
    const usage = reported?.usage ?? null;
    const isWhole = this.#finishWord !== null && this.#reportedAtBytes === this.#outputBytes;
    return {
      usage: isWhole ? usage : null,
      usageFlags: reported?.flags ?? NO_FLAGS,
      usageSoFar: usage,
      finish_reason: this.#finishWord,
      model: this.#model,
      outputBytes: this.#outputBytes,
      reasoningBytes: this.#reasoningBytes,
      outputBytesMax: this.#outputBytes,
      outputBytesReported: this.#reportedAtBytes,
    };
  }

  /** Every chunk has counters of its own, so none is like another. */
  skim(_bytes: Uint8Array, start: number): number {
    return start;
  }

  preview(_bytes: Uint8Array, start: number): ReturnType<StreamObserver['preview']> {
    return { end: start, outputBytes: 0 };
  }

  /** The stream is complete if every candidate had its finish reason, or the prompt was blocked. */
  endOfBytes(): Buffer | null {
    const isWhole = this.#isBlocked || (this.#done.size > 0 && this.#done.size === this.#seen.size);
    return isWhole ? Buffer.concat(this.#held) : null;
  }

  observe(record: StreamRecord): RecordVerdict {
    const chunk = parseObject(dataText(record));
    if (chunk === null) return 'malformed';
    const error = asObject(chunk.error);
    if (error !== null) {
      this.#count(chunk);
      this.failure = errorOf(error);
      return 'error';
    }
    const ends = this.#readChunk(chunk);
    return this.#pass(record, ends);
  }

  /** Holds a record back that may be the last one; one that waits goes before the next. */
  #pass(record: StreamRecord, isHeld: boolean): RecordVerdict {
    if (this.#held.length === 0 && !isHeld) return 'pass';
    const raw = Buffer.from(rawBytes(record));
    const isCut = raw.at(-1) === CR;
    const begins = raw[0] === LF;
    if (!isHeld) {
      this.replacement = Buffer.concat([...this.#held, begins ? raw.subarray(1) : raw]);
      this.#held = [];
      return 'replace';
    }
    // The line feed of a CR LF that was split between two reads belongs to the record before it, as in call/stream/record-bytes.ts.
    this.#held.push(begins ? raw.subarray(1) : raw, isCut && raw.includes('\r\n') ? LINE_FEED : NOTHING);
    return 'withhold';
  }

  /** Whether the chunk ends a candidate, or the answer. */
  #readChunk(chunk: JsonObject): boolean {
    if (this.#finishWord === CONTINUATION) this.#startHop();
    this.#model = asName(chunk.modelVersion) ?? this.#model;
    let ends = false;
    for (const value of asArray(chunk.candidates)) {
      const candidate = asObject(value);
      if (candidate !== null && this.#readCandidate(candidate)) ends = true;
    }
    this.#count(chunk);
    const blocked = finishWordOf(asObject(chunk.promptFeedback)?.blockReason);
    if (blocked !== null && asArray(chunk.candidates).length === 0) {
      this.#isBlocked = true;
      this.#finishWord ??= blocked;
      this.begun = true;
      return true;
    }
    return ends;
  }

  #startHop(): void {
    this.#usage.endHop();
    this.#grammar.continue();
    this.#finishWord = null;
    this.#done.clear();
  }

  #readCandidate(candidate: JsonObject): boolean {
    const { index = 0 } = candidate;
    this.#seen.add(index);
    const parts = asArray(asObject(candidate.content)?.parts);
    for (const part of parts) this.#readPart(asObject(part) ?? {});
    const grounding = asObject(candidate.groundingMetadata);
    if (grounding !== null) this.#usage.noteSearches(countSearches(grounding, this.#model));
    const word = finishWordOf(candidate.finishReason);
    // Violations are only counted: bytes in the client's own format pass unchanged.
    if (index === 0 && parts.length > 0) this.#check('content');
    if (word === null) return false;
    if (index === 0) {
      this.#check('finish');
      this.#finishWord = word;
    }
    this.#done.add(index);
    this.begun = true;
    return true;
  }

  #check(step: 'content' | 'finish'): void {
    if (this.protocolViolations === 0 && this.#grammar.check(step) !== null) this.protocolViolations = 1;
  }

  #readPart(part: JsonObject): void {
    const { text, functionCall, thought, executableCode, codeExecutionResult } = part;
    if (SERVER_PARTS.some((name) => part[name] !== undefined)) this.#usage.noteServerTool();
    const bytes = textBytes([text, functionCall, executableCode, codeExecutionResult]);
    this.#outputBytes += bytes;
    if (thought === true) this.#reasoningBytes += bytes;
    if (bytes > 0 || part.inlineData !== undefined || part.fileData !== undefined) this.begun = true;
  }

  #count(chunk: JsonObject): void {
    if (this.#usage.take(chunk.usageMetadata)) this.#reportedAtBytes = this.#outputBytes;
  }
}
