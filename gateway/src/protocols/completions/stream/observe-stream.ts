/**
 * Observes the chunks of a stream of legacy completions: text, usage, finish reasons, errors. Withholds a usage chunk
 * that the client did not ask for, and changes nothing else.
 */
import { dataText, type StreamRecord } from '../../../framing/framing.ts';
import { NO_FLAGS, type ReportedUsage } from '../../../generation/usage.ts';
import { findError } from '../../answer/answer-error.ts';
import { RecordSkimmer } from '../../answer/record-template.ts';
import { asArray, asName, asObject, asText, type JsonObject, parseObject } from '../../json.ts';
import type { AnswerFacts, ObserverSettings, RecordVerdict, StreamObserver } from '../../upstream-protocol.ts';
import { bytesOfChoices, readUsage } from '../shared/read-answer.ts';

const DONE = '[DONE]';
const MISSING_DONE = Buffer.from('data: [DONE]\n\n');

export class CompletionsStreamObserver implements StreamObserver {
  readonly replacement = null;
  readonly rewrites = false;
  readonly protocolViolations = 0;
  failure: StreamObserver['failure'] = null;
  begun = false;
  readonly #withholdUsage: boolean;
  readonly #seen = new Set<number>();
  readonly #done = new Set<number>();
  readonly #skimmer = new RecordSkimmer();
  #reported: ReportedUsage | null = null;
  /** Output bytes when usage last came: later output is not in that usage. */
  #reportedAtBytes = 0;
  #finishReason: string | null = null;
  #model: string | null = null;
  #outputBytes = 0;

  constructor({ withholdUsage }: ObserverSettings) {
    this.#withholdUsage = withholdUsage;
  }

  /** The stream is complete if every choice had its `finish_reason`. */
  endOfBytes(): Buffer | null {
    return this.#done.size > 0 && this.#seen.size === this.#done.size ? MISSING_DONE : null;
  }

  facts(): AnswerFacts {
    const usageSoFar = this.#reported?.usage ?? null;
    const outputBytes = this.#bytesSaid;
    return {
      usage: outputBytes === this.#reportedAtBytes ? usageSoFar : null,
      usageFlags: this.#reported?.flags ?? NO_FLAGS,
      usageSoFar,
      finish_reason: this.#finishReason,
      model: this.#model,
      outputBytes,
      reasoningBytes: 0,
      outputBytesMax: outputBytes,
      outputBytesReported: this.#reportedAtBytes,
    };
  }

  get #bytesSaid(): number {
    return this.#outputBytes + this.#skimmer.heldBytes;
  }

  skim(bytes: Uint8Array, start: number): number {
    return this.#skimmer.skim(bytes, start);
  }

  preview(bytes: Uint8Array, start: number): ReturnType<StreamObserver['preview']> {
    return this.#skimmer.preview(bytes, start);
  }

  observe(record: StreamRecord): RecordVerdict {
    const text = dataText(record);
    if (text.trim() === DONE) return 'terminal';
    const chunk = parseObject(text);
    if (chunk === null) return 'malformed';
    const error = findError(chunk);
    if (error !== null) {
      this.failure = error;
      return 'error';
    }
    const choices = asArray(chunk.choices);
    const reported = readUsage(chunk.usage);
    this.#reported = reported ?? this.#reported;
    this.#model = asName(chunk.model) ?? this.#model;
    this.#outputBytes += bytesOfChoices(choices);
    for (const choice of choices) this.#observeChoice(asObject(choice));
    if (reported !== null) this.#reportedAtBytes = this.#bytesSaid;
    if (choices.length === 0 && reported !== null && this.#withholdUsage) return 'withhold';
    if (choices.length === 1 && reported === null) this.#learn(asObject(choices[0]), record);
    return 'pass';
  }

  #observeChoice(choice: JsonObject | null): void {
    if (choice === null) return;
    const index = typeof choice.index === 'number' ? choice.index : 0;
    const reason = asName(choice.finish_reason);
    if (reason !== null || asText(choice.text) !== null) this.begun = true;
    this.#seen.add(index);
    if (reason === null) return;
    this.#done.add(index);
    if (index === 0) this.#finishReason = reason;
  }

  #learn(choice: JsonObject | null, record: StreamRecord): void {
    const text = asText(choice?.text);
    if (text !== null && asText(choice?.finish_reason) === null) this.#skimmer.learn(record, [['text', text]], false);
  }
}
