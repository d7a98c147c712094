/**
 * Observes usage, status, errors and the end in the events of a Responses stream, without changing them. Records after
 * the terminal event (`[DONE]` at some hosts) are not part of the format.
 */
import { dataText, type StreamRecord } from '../../../framing/framing.ts';
import { NO_FLAGS, type ReportedUsage, readTierWords, type TierWords } from '../../../generation/usage.ts';
import { RecordSkimmer } from '../../answer/record-template.ts';
import { asName, asObject, asText, type JsonObject, parseObject } from '../../json.ts';
import type {
  AnswerFacts,
  RecordVerdict,
  StoredObject,
  StreamObserver,
  StreamPosition,
} from '../../upstream-protocol.ts';
import { noteStoredItem, storedIn } from '../shared/stored-objects.ts';
import { errorOf, finishWordOf, generatedBytes, readReportedUsage, reasoningBytes, soFar } from '../shared/usage.ts';
import { ResponsesGrammar } from './stream-grammar.ts';

const DONE = '[DONE]';
const REASONING_DELTA = /^response\.reasoning/;

export class ResponsesStreamObserver implements StreamObserver {
  readonly rewrites = false;
  readonly replacement = null;
  begun = false;
  failure: StreamObserver['failure'] = null;
  protocolViolations = 0;
  readonly #grammar = new ResponsesGrammar();
  readonly #skimmer = new RecordSkimmer();
  #response: Omit<StreamPosition, 'nextSequence'> | null = null;
  /** The number after the last one that was not skimmed; null: upstream does not number its events. */
  #nextSequence: number | null = null;
  /** Skimmed records when that number was read. */
  #skimmedBefore = 0;
  #reported: ReportedUsage | null = null;
  #finishWord: string | null = null;
  #model: string | null = null;
  #tier: TierWords | undefined;
  #outputBytes = 0;
  #reasoningBytes = 0;
  /** Null: no response was read, or the provider stores none. */
  #stored: StoredObject[] | null = null;
  #openItems = 0;
  /** All bytes, and those of reasoning, up to the items that run together now, with what is whole of those. */
  #itemsEnd = 0;
  #reasoningEnd = 0;

  facts(): AnswerFacts {
    const outputBytes = this.#bytesSaid;
    const usage = this.#reported?.usage ?? null;
    // A cut response may report no output although it has some.
    const isWhole = usage !== null && this.#finishWord !== null && (usage.output > 0 || outputBytes === 0);
    return {
      usage: isWhole ? usage : null,
      usageFlags: this.#reported?.flags ?? NO_FLAGS,
      usageSoFar: isWhole ? usage : soFar(this.#reported),
      finish_reason: this.#finishWord,
      model: this.#model,
      tier: this.#tier,
      outputBytes,
      reasoningBytes: this.#bytesReasoned,
      outputBytesMax: outputBytes,
      outputBytesReported: isWhole ? outputBytes : 0,
      stored: this.#stored ?? undefined,
    };
  }

  get #bytesSaid(): number {
    return this.#outputBytes + this.#skimmer.heldBytes;
  }

  get #bytesReasoned(): number {
    return this.#reasoningBytes + this.#skimmer.heldReasoningBytes;
  }

  get position(): StreamPosition | undefined {
    if (this.#response === null) return undefined;
    const skimmed = this.#skimmer.heldRecords - this.#skimmedBefore;
    return { ...this.#response, nextSequence: this.#nextSequence === null ? null : this.#nextSequence + skimmed };
  }

  /** Only a terminal event ends a stream. */
  endOfBytes(): null {
    return null;
  }

  skim(bytes: Uint8Array, start: number): number {
    const { heldBytes, heldRecords } = this.#skimmer;
    const end = this.#skimmer.skim(bytes, start);
    if (end > start) this.#grammar.skip(this.#skimmer.heldRecords - heldRecords, this.#skimmer.heldBytes - heldBytes);
    return end;
  }

  preview(bytes: Uint8Array, start: number): ReturnType<StreamObserver['preview']> {
    return this.#skimmer.preview(bytes, start);
  }

  observe(record: StreamRecord): RecordVerdict {
    const text = dataText(record);
    if (text.trim() === DONE) return 'silent';
    const event = parseObject(text);
    if (event === null) return 'malformed';
    // Violations are only counted: bytes in the client's own format are passed on unchanged.
    if (this.protocolViolations === 0 && this.#grammar.check(record.event, event) !== null) this.protocolViolations = 1;
    if (typeof event.sequence_number === 'number') {
      this.#nextSequence = event.sequence_number + 1;
      this.#skimmedBefore = this.#skimmer.heldRecords;
    }
    return this.#observeEvent(event, record);
  }

  #observeEvent(event: JsonObject, record: StreamRecord): RecordVerdict {
    switch (event.type) {
      case 'response.created':
      case 'response.queued':
      case 'response.in_progress':
        this.#start(asObject(event.response));
        return 'pass';
      case 'response.output_item.added':
        this.#beginItem();
        return 'pass';
      case 'response.output_item.done':
        this.#endItem(asObject(event.item));
        return 'pass';
      case 'response.completed':
      case 'response.incomplete':
        this.begun = true;
        this.#end(asObject(event.response) ?? {});
        return 'terminal';
      case 'response.failed':
        return this.#fail(asObject(event.response) ?? {});
      case 'keepalive':
        return 'silent';
      case 'error':
        return this.#fail(event);
      case undefined:
        return asObject(event.error) === null ? 'pass' : this.#fail(event);
      default:
        this.#observeDelta(event, record);
        return 'pass';
    }
  }

  #start(response: JsonObject | null): void {
    if (response === null) return;
    this.#stored ??= storedIn(response);
    this.#model = asName(response.model) ?? this.#model;
    const { created_at } = response;
    const createdSeconds = typeof created_at === 'number' ? Math.floor(created_at) : 0;
    // It is made whatever becomes of this stream: no other target may answer.
    if (response.background === true) this.begun = true;
    this.#response ??= { id: asText(response.id) ?? '', createdSeconds, model: this.#model };
  }

  #beginItem(): void {
    this.#skimmer.forget();
    if (this.#openItems === 0) {
      this.#itemsEnd = this.#bytesSaid;
      this.#reasoningEnd = this.#bytesReasoned;
    }
    this.#openItems += 1;
  }

  /** Counts texts without deltas, such as arguments that came whole. Hosts may send the ends of all items last. */
  #endItem(item: JsonObject | null): void {
    this.begun = true;
    if (this.#stored !== null) noteStoredItem(item, this.#stored);
    this.#skimmer.forget();
    this.#openItems = Math.max(0, this.#openItems - 1);
    this.#itemsEnd += generatedBytes(item);
    this.#reasoningEnd += reasoningBytes(item);
    this.#outputBytes += Math.max(0, this.#itemsEnd - this.#bytesSaid);
    this.#reasoningBytes += Math.max(0, this.#reasoningEnd - this.#bytesReasoned);
  }

  #observeDelta(event: JsonObject, record: StreamRecord): void {
    const delta = asText(event.delta);
    if (delta === null) return;
    this.begun = true;
    const isReasoning = REASONING_DELTA.test(asText(event.type) ?? '');
    const bytes = Buffer.byteLength(delta);
    this.#outputBytes += bytes;
    if (isReasoning) this.#reasoningBytes += bytes;
    const holes: Array<readonly [string, string]> = [['delta', delta]];
    if (typeof event.obfuscation === 'string') holes.push(['obfuscation', event.obfuscation]);
    this.#skimmer.learn(record, holes, isReasoning, 'sequence_number');
  }

  #end(response: JsonObject): void {
    this.#start(response);
    this.#reported = readReportedUsage(response) ?? this.#reported;
    this.#tier = readTierWords(response);
    this.#finishWord = finishWordOf(response);
  }

  /** OpenAI sends `error` and then `response.failed`: one failure. */
  #fail(holder: JsonObject): RecordVerdict {
    const isRest = this.failure !== null;
    this.#reported = readReportedUsage(holder) ?? this.#reported;
    this.failure = errorOf(holder) ?? { type: 'error', status: null, message: 'upstream gave no reason' };
    return isRest ? 'error_rest' : 'error';
  }
}
