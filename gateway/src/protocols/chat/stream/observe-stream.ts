/**
 * Observes the chunks of a chat-completions stream: usage, finish reasons, errors, order. Changes only what the
 * contract requires: withholds a usage chunk that the client did not ask for, and replaces missing or changing ids with
 * one id.
 */
import { dataText, rawBytes, type StreamRecord } from '../../../framing/framing.ts';
import { NO_FLAGS, type ReportedUsage, type TierWords } from '../../../generation/usage.ts';
import { scanJson } from '../../../wire/json-scan.ts';
import { spliceJson } from '../../../wire/json-splice.ts';
import { RecordSkimmer } from '../../answer/record-template.ts';
import { asArray, asName, asObject, asText, type JsonObject, parseObject } from '../../json.ts';
import type {
  AnswerFacts,
  ObserverSettings,
  RecordVerdict,
  StoredObject,
  StreamObserver,
} from '../../upstream-protocol.ts';
import {
  audioOf,
  generatedBytes,
  isKept,
  readReportedUsage,
  readTier,
  reasoningBytes,
  withTier,
} from '../shared/usage.ts';
import { ChatGrammar, type ChatStep } from './stream-grammar.ts';
import { findError } from './stream-of-answer.ts';

const DONE = '[DONE]';
const MISSING_DONE = Buffer.from('data: [DONE]\n\n');
const DELTA_TEXTS = ['content', 'reasoning_content', 'reasoning', 'refusal'];
const REASONING_TEXTS: ReadonlySet<string> = new Set(['reasoning_content', 'reasoning']);

export class ChatStreamObserver implements StreamObserver {
  replacement: Buffer | null = null;
  failure: StreamObserver['failure'] = null;
  readonly rewrites = false;
  begun = false;
  readonly #settings: ObserverSettings;
  readonly #seen = new Set<number>();
  readonly #done = new Set<number>();
  #id: string | null = null;
  #reported: ReportedUsage | null = null;
  /** Output bytes when usage last came: later output is not in that usage. */
  #reportedAtBytes = 0;
  #finishReason: string | null = null;
  #model: string | null = null;
  #tier: TierWords | undefined;
  /** The sound of each choice; null: no sound. */
  #audio: Map<number, Partial<StoredObject>> | null = null;
  #outputBytes = 0;
  #reasoningBytes = 0;
  readonly #skimmer = new RecordSkimmer();
  readonly #grammar = new ChatGrammar();
  protocolViolations = 0;

  constructor(settings: ObserverSettings) {
    this.#settings = settings;
  }

  /** The stream is complete if every choice had its `finish_reason`. Contract, 5. */
  endOfBytes(): Buffer | null {
    return this.#done.size > 0 && this.#seen.size === this.#done.size ? MISSING_DONE : null;
  }

  facts(): AnswerFacts {
    const usageSoFar = this.#reported === null ? null : withTier(this.#reported, this.#tier).usage;
    const outputBytes = this.#bytesSaid;
    return {
      usage: outputBytes === this.#reportedAtBytes ? usageSoFar : null,
      usageFlags: this.#reported?.flags ?? NO_FLAGS,
      usageSoFar,
      finish_reason: this.#finishReason,
      model: this.#model,
      tier: this.#tier,
      outputBytes,
      reasoningBytes: this.#reasoningBytes + this.#skimmer.heldReasoningBytes,
      outputBytesMax: outputBytes,
      outputBytesReported: this.#reportedAtBytes,
      stored: this.#audio === null ? undefined : [...this.#audio.values()].filter(isKept),
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
    return this.#observeChunk(record, chunk);
  }

  #observeChunk(record: StreamRecord, chunk: JsonObject): RecordVerdict {
    const choices = asArray(chunk.choices);
    const reported = readReportedUsage(chunk);
    this.#reported = reported ?? this.#reported;
    this.#tier = readTier(chunk) ?? this.#tier;
    this.#model = asName(chunk.model) ?? this.#model;
    const error = findError(chunk, record.event);
    if (error !== null) {
      const { type, message, status } = error;
      this.failure = { type, message, status };
      return 'error';
    }
    for (const choice of choices) this.#observeChoice(asObject(choice));
    if (reported !== null) this.#reportedAtBytes = this.#bytesSaid;
    this.#watchOrder(chunk);
    const isUsageChunk = choices.length === 0 && (reported !== null || asObject(chunk.usage) !== null);
    if (isUsageChunk && this.#settings.withholdUsage) return 'withhold';
    const mended = this.#mendId(record, chunk);
    if (mended !== null) {
      this.replacement = mended;
      return 'replace';
    }
    if (choices.length === 1 && reported === null) this.#learn(asObject(choices[0]), chunk, record);
    return 'pass';
  }

  /** Violations are only counted: bytes in the client's own format pass unchanged. Contract, 6. */
  #watchOrder(chunk: JsonObject): void {
    if (this.protocolViolations > 0) return;
    for (const step of readSteps(chunk, this.#grammar))
      if (this.#grammar.check(step) !== null) this.protocolViolations = 1;
  }

  #observeChoice(choice: JsonObject | null): void {
    if (choice === null) return;
    const index = typeof choice.index === 'number' ? choice.index : 0;
    const reason = asName(choice.finish_reason);
    const delta = asObject(choice.delta);
    if (!this.begun) this.begun = reason !== null || hasContent(delta);
    this.#outputBytes += generatedBytes(delta);
    this.#reasoningBytes += reasoningBytes(delta);
    this.#seen.add(index);
    if (delta?.audio !== undefined) this.#noteAudio(index, delta);
    if (reason === null) return;
    this.#done.add(index);
    if (index === 0) this.#finishReason = reason;
  }

  #noteAudio(index: number, delta: JsonObject): void {
    this.#audio ??= new Map();
    this.#audio.set(index, { ...this.#audio.get(index), ...audioOf(delta) });
  }

  #mendId(record: StreamRecord, chunk: JsonObject): Buffer | null {
    // Azure's first chunk has the filter's results alone; the id comes with the next (recorded 2026).
    if (this.#id === null && chunk.id === '' && asArray(chunk.choices).length === 0) return null;
    this.#id ??= asName(chunk.id) ?? this.#settings.fallbackId;
    return chunk.id === this.#id ? null : withId(record, this.#id);
  }

  #learn(choice: JsonObject | null, chunk: JsonObject, record: StreamRecord): void {
    const delta = asObject(choice?.delta);
    if (choice === null || delta === null || asText(choice.finish_reason) !== null) return;
    const key = DELTA_TEXTS.find((name) => asText(delta[name]) !== null);
    if (key === undefined) return;
    const holes: Array<readonly [string, string]> = [[key, String(delta[key])]];
    if (typeof chunk.obfuscation === 'string') holes.push(['obfuscation', chunk.obfuscation]);
    this.#skimmer.learn(record, holes, REASONING_TEXTS.has(key));
  }
}

/** Whether a delta carries anything but a role. */
function hasContent(delta: JsonObject | null): boolean {
  for (const name in delta) if (name !== 'role' && holdsSomething(delta[name])) return true;
  return false;
}

const SCAN_LIMITS = { depthMax: 512, keysPerObjectMax: 1_000_000, outlineDepth: 1, outlineNodesMax: 1_000_000 };
const LINE_END = /\r\n|\r|\n/;
const DATA_LINE = /^data(?::|$)/;

/** The record with `id` in its data, replaced or appended; null if the data is not an unambiguous JSON object. */
export function withId(record: StreamRecord, id: string): Buffer | null {
  const { bytes, start, end, dataBytes, dataStart, dataEnd } = record;
  const outline = scanJson(dataBytes.subarray(dataStart, dataEnd), SCAN_LIMITS);
  if (!outline.ok || outline.root.kind !== 'object') return null;
  const mended = spliceJson(outline, [{ set: ['id'], json: JSON.stringify(id) }]);
  if (dataBytes === bytes)
    return Buffer.concat([bytes.subarray(start, dataStart), mended, bytes.subarray(dataEnd, end)]);
  return renderDataLines(record, mended);
}

/** Data that came in several lines is sent in several; the record's other lines go before them. */
function renderDataLines(record: StreamRecord, data: Uint8Array): Buffer {
  const raw = Buffer.from(rawBytes(record)).toString('latin1');
  const others = raw.split(LINE_END).filter((line) => line !== '' && !DATA_LINE.test(line));
  const lines = Buffer.from(data).toString('latin1').split('\n');
  return Buffer.from([...others, ...lines.map((line) => `data: ${line}`), '', ''].join('\n'), 'latin1');
}

const SPOKEN_TEXTS = ['content', 'reasoning_content', 'reasoning', 'refusal', 'annotations'];

/**
 * The grammar steps of a chunk's first choice, given what came before it. Providers repeat the role, or the id and name
 * of a call, on every chunk; clients accept that, so it is not a step.
 */
export function readSteps(chunk: JsonObject, before: ChatGrammar): ChatStep[] {
  const choices = asArray(chunk.choices);
  if (choices.length === 0) return asObject(chunk.usage) === null ? [] : [{ kind: 'usage' }];
  const steps: ChatStep[] = [];
  for (const choice of choices) {
    const found = asObject(choice);
    if (found === null || (typeof found.index === 'number' && found.index !== 0)) continue;
    const delta = asObject(found.delta) ?? {};
    if (asText(delta.role) !== null && !before.begun) steps.push({ kind: 'role' });
    if (SPOKEN_TEXTS.some((member) => holdsSomething(delta[member]))) steps.push({ kind: 'content' });
    steps.push(...toolSteps(delta.tool_calls, before.toolCalls));
    if (asText(found.finish_reason) !== null) steps.push({ kind: 'finish' });
    break;
  }
  return steps;
}

function holdsSomething(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return asText(value) !== null || asObject(value) !== null;
}

function toolSteps(fragments: unknown, begun: number): ChatStep[] {
  const steps: ChatStep[] = [];
  let next = begun;
  for (const fragment of asArray(fragments)) {
    const index = asObject(fragment)?.index;
    if (typeof index !== 'number') continue;
    const starts = index >= next;
    if (starts) next = index + 1;
    steps.push({ kind: starts ? 'tool_start' : 'tool_fragment', index });
  }
  return steps;
}
