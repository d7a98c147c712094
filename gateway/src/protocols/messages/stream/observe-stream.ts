/** Observes usage, stop reason, errors and the end in the events of a messages stream, without changing them. */
import { dataText, type StreamRecord } from '../../../framing/framing.ts';
import { NO_FLAGS } from '../../../generation/usage.ts';
import { RecordSkimmer } from '../../answer/record-template.ts';
import { asArray, asName, asObject, asText, type JsonObject, parseObject, textBytes } from '../../json.ts';
import type { AnswerFacts, RecordVerdict, StoredObject, StreamObserver } from '../../upstream-protocol.ts';
import { containerOf, filesOf } from '../shared/stored-objects.ts';
import {
  EMPTY_TALLY,
  fallbackModel,
  generatedBytes,
  namesOutput,
  reasoningBytes,
  reportedUsageOf,
  retryTokenOf,
  statusOfType,
  tallyUsage,
  type UsageTally,
} from '../shared/usage.ts';
import { MessagesGrammar, type MessagesStep } from './stream-grammar.ts';

const DELTA_TEXTS = ['text', 'thinking', 'partial_json'];

export class MessagesStreamObserver implements StreamObserver {
  readonly rewrites = false;
  readonly replacement = null;
  begun = false;
  failure: StreamObserver['failure'] = null;
  #tally: UsageTally = EMPTY_TALLY;
  #outputBytes = 0;
  #reasoningBytes = 0;
  #model: string | null = null;
  #stopReason: string | null = null;
  #isOutputTold = false;
  #retryToken: string | undefined;
  /** The output count of the stream's start is a placeholder. */
  #outputBytesReported = 0;
  /** Null: the answer ran in no container. */
  #stored: StoredObject[] | null = null;
  readonly #skimmer = new RecordSkimmer();
  readonly #grammar = new MessagesGrammar();
  protocolViolations = 0;

  facts(): AnswerFacts {
    const reported = reportedUsageOf(this.#tally);
    const usage = reported?.usage ?? null;
    const outputBytes = this.#outputBytes + this.#skimmer.heldBytes;
    return {
      usage: this.#stopReason !== null && this.#isOutputTold ? usage : null,
      usageFlags: reported?.flags ?? NO_FLAGS,
      usageSoFar: usage,
      finish_reason: this.#stopReason,
      model: this.#model,
      tier: this.#tally.tier,
      retryToken: this.#retryToken,
      outputBytes,
      reasoningBytes: this.#reasoningBytes + this.#skimmer.heldReasoningBytes,
      outputBytesMax: outputBytes,
      outputBytesReported: this.#outputBytesReported,
      stored: this.#stored ?? undefined,
    };
  }

  /** Only `message_stop` ends a messages stream. */
  endOfBytes(): null {
    return null;
  }

  skim(bytes: Uint8Array, start: number): number {
    return this.#skimmer.skim(bytes, start);
  }

  preview(bytes: Uint8Array, start: number): ReturnType<StreamObserver['preview']> {
    return this.#skimmer.preview(bytes, start);
  }

  observe(record: StreamRecord): RecordVerdict {
    const event = parseObject(dataText(record));
    if (event === null) return 'malformed';
    // Violations are only counted: bytes in the client's own format are passed on unchanged. Contract, 6.
    if (this.protocolViolations === 0 && this.#grammar.check(readStep(record.event, event)) !== null)
      this.protocolViolations = 1;
    return this.#observeEvent(event, record);
  }

  #observeEvent(event: JsonObject, record: StreamRecord): RecordVerdict {
    switch (event.type) {
      case 'message_start': {
        const message = asObject(event.message);
        this.#model = asName(message?.model);
        this.#noteContainer(message);
        this.#tally = tallyUsage(this.#tally, message?.usage);
        return 'pass';
      }
      case 'content_block_start': {
        const block = asObject(event.content_block);
        for (const file of filesOf(block)) this.#noteStored(file);
        this.#noteFallback(fallbackModel(block));
        this.begun ||= !isEmptyText(block);
        this.#outputBytes += generatedBytes(block);
        this.#reasoningBytes += reasoningBytes(block);
        return 'pass';
      }
      case 'content_block_delta':
        this.#observeDelta(asObject(event.delta), record);
        return 'pass';
      case 'content_block_stop':
        this.#skimmer.forget();
        return 'pass';
      case 'message_delta':
        this.#stopReason = asName(asObject(event.delta)?.stop_reason) ?? this.#stopReason;
        this.begun ||= this.#stopReason !== null;
        this.#noteContainer(asObject(event.delta));
        this.#retryToken = retryTokenOf(asObject(event.delta)?.stop_details) ?? this.#retryToken;
        this.#tally = tallyUsage(this.#tally, event.usage);
        if (namesOutput(event.usage)) {
          this.#isOutputTold = true;
          this.#outputBytesReported = this.#outputBytes + this.#skimmer.heldBytes;
        }
        return 'pass';
      case 'message_stop':
        return 'terminal';
      case 'error': {
        const error = asObject(event.error);
        const type = asText(error?.type) ?? 'api_error';
        const message = asText(error?.message) ?? 'upstream gave no reason';
        this.failure = { type, message, status: statusOfType(type) };
        return 'error';
      }
      case 'ping':
        return 'silent';
      default:
        return 'pass';
    }
  }

  #noteContainer(holder: JsonObject | null): void {
    const container = containerOf(holder);
    if (container !== null) this.#noteStored(container);
  }

  #noteStored(object: StoredObject): void {
    this.#stored ??= [];
    this.#stored.push(object);
  }

  /** The beginning of the stream may have named the model already, with its date. */
  #noteFallback(model: string | null): void {
    if (model !== null && !this.#model?.startsWith(model)) this.#model = model;
  }

  #observeDelta(delta: JsonObject | null, record: StreamRecord): void {
    if (delta === null) return;
    this.begun ||= !isEmptyText(delta);
    const key = DELTA_TEXTS.find((name) => asText(delta[name]) !== null);
    if (key === undefined) return;
    const bytes = textBytes(delta[key]);
    const isReasoning = key === 'thinking';
    this.#outputBytes += bytes;
    if (isReasoning) this.#reasoningBytes += bytes;
    this.#skimmer.learn(record, [[key, String(delta[key])]], isReasoning);
  }
}

/** Whether a block or delta is text or thinking without a character yet. */
function isEmptyText(piece: JsonObject | null): boolean {
  for (const name in piece) {
    const value = piece[name];
    if (name !== 'type' && value !== '' && value !== null && !(Array.isArray(value) && value.length === 0))
      return false;
  }
  return piece?.type !== 'redacted_thinking';
}

/** `eventLine` is the value of the record's `event:` line; `event` its parsed data, null if it is not a JSON object. */
export function readStep(eventLine: string, event: JsonObject | null): MessagesStep {
  const type = asText(event?.type);
  if (event === null || type === null) return { kind: 'misnamed', found: eventLine === '' ? 'nothing' : eventLine };
  if (eventLine !== type) return { kind: 'misnamed', found: `${eventLine === '' ? 'nothing' : eventLine} for ${type}` };
  switch (type) {
    case 'message_start':
      return readStart(asObject(event.message));
    case 'content_block_start':
      return { kind: type, index: asIndex(event.index), block: asText(asObject(event.content_block)?.type) ?? '' };
    case 'content_block_delta':
      return { kind: type, index: asIndex(event.index), delta: asText(asObject(event.delta)?.type) ?? '' };
    case 'content_block_stop':
      return { kind: type, index: asIndex(event.index) };
    case 'message_delta':
      return {
        kind: type,
        stop_reason: asText(asObject(event.delta)?.stop_reason),
        output_tokens: asIndex(asObject(event.usage)?.output_tokens),
      };
    case 'message_stop':
    case 'error':
    case 'ping':
      return { kind: type };
    default:
      return { kind: 'unknown' };
  }
}

function readStart(message: JsonObject | null): MessagesStep {
  const blocks = asArray(message?.content);
  return {
    kind: 'message_start',
    blocks: blocks.length,
    callsTool: blocks.some((block) => asObject(block)?.type === 'tool_use'),
    stop_reason: asText(message?.stop_reason),
    output_tokens: asIndex(asObject(message?.usage)?.output_tokens),
  };
}

/** An integer ≥ 0; null for anything else. */
export function asIndex(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}
