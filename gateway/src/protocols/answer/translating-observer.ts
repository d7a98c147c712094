/**
 * Translates an upstream stream into the client's format, record by record: parse, filter, render. A text delta that
 * matches the previous one is copied without parsing, with exactly the result that parsing would give.
 */
import { isUtf8 } from 'node:buffer';
import type { StreamRecord } from '../../framing/framing.ts';
import type { EventPipe, GenerationEvent, PartOpening } from '../../generation/event.ts';
import { NO_FLAGS, type Usage } from '../../generation/usage.ts';
import type { StreamRenderer } from '../client-protocol.ts';
import type { AnswerFacts, RecordVerdict, StreamObserver, StreamParser, StreamPosition } from '../upstream-protocol.ts';
import { RecordSkimmer, rawLatin1 } from './record-template.ts';

export interface TranslationParts {
  readonly parser: StreamParser;
  /** Null: events pass unchanged. */
  readonly filter: EventPipe | null;
  /** The filter inspects text, so each delta must go through it. */
  readonly filtersText: boolean;
  readonly renderer: StreamRenderer;
  /** The members of the upstream format that hold the text of a delta. */
  readonly deltaMembers: readonly string[];
  /** Called with every event sent to the client; null: no listener. */
  readonly onEvent: ((event: GenerationEvent) => void) | null;
}

type Failure = NonNullable<StreamObserver['failure']>;

export class TranslatingObserver implements StreamObserver {
  readonly rewrites = true;
  begun = false;
  replacement: Buffer | null = null;
  failure: Failure | null = null;
  /** Events in an order that the client's format does not allow; nothing of them was sent. */
  protocolViolations = 0;
  readonly #parts: TranslationParts;
  readonly #frame: DeltaFrame;
  #usage: Usage | null = null;
  #usageFlags = NO_FLAGS;
  #model: string | null = null;
  #finished = false;
  #outputBytes = 0;
  #reasoningBytes = 0;
  #outputBytesReported = 0;
  readonly #reasoningParts = new Set<number>();

  constructor(parts: TranslationParts) {
    this.#parts = parts;
    this.#frame = new DeltaFrame(parts.deltaMembers);
  }

  facts(): AnswerFacts {
    return {
      usage: this.#finished && this.#parts.parser.isUsageFinal ? this.#usage : null,
      usageFlags: this.#usageFlags,
      usageSoFar: this.#usage,
      finish_reason: this.#parts.renderer.finish_reason,
      model: this.#model,
      outputBytes: this.#outputBytes,
      reasoningBytes: this.#reasoningBytes,
      outputBytesMax: this.#outputBytes,
      outputBytesReported: this.#outputBytesReported,
    };
  }

  get position(): StreamPosition | undefined {
    return this.#parts.renderer.position;
  }

  skim(bytes: Uint8Array, start: number): number {
    const found = this.#frame.skim(bytes, start);
    if (found === null || !isUtf8(found.written)) return start;
    this.replacement = found.written;
    const { parser, renderer, onEvent } = this.#parts;
    const text = Buffer.from(found.held, 'latin1').toString();
    this.#count(found.part, found.held.length);
    parser.skipped?.(text);
    renderer.skipped(found.part, text);
    onEvent?.({ kind: 'text_delta', part: found.part, text });
    return found.end;
  }

  preview(_bytes: Uint8Array, start: number): ReturnType<StreamObserver['preview']> {
    return { end: start, outputBytes: 0 };
  }

  observe(record: StreamRecord): RecordVerdict {
    const events = this.#parts.parser.push(record);
    const written = this.#write(events);
    if (this.failure !== null) return 'error';
    this.replacement = written === '' ? null : Buffer.from(written);
    if (events.at(-1)?.kind === 'end') return 'terminal';
    const [event] = events;
    const isDelta = events.length === 1 && event?.kind === 'text_delta' && !this.#parts.filtersText;
    if (isDelta && written !== '' && this.#parts.renderer.isUniform !== false)
      this.#frame.learn(record, event, written);
    else this.#frame.forget();
    return written === '' ? 'withhold' : 'replace';
  }

  endOfBytes(): Buffer | null {
    const events = this.#parts.parser.finish();
    if (events.at(-1)?.kind !== 'end') return null;
    const written = this.#write(events);
    return this.failure === null ? Buffer.from(written) : null;
  }

  /** The client's records for the events; empty with `failure` set if they are not an answer. */
  #write(events: readonly GenerationEvent[]): string {
    for (const event of events) this.#note(event);
    const { filter } = this.#parts;
    let written = '';
    for (const event of filter === null ? events : filter(events)) {
      written += this.#writeOne(event);
      if (this.failure !== null) return '';
    }
    return written;
  }

  #writeOne(event: GenerationEvent): string {
    if (event.kind === 'error') this.failure = event;
    else if (event.kind === 'malformed') this.failure = { type: 'malformed', message: event.message, status: null };
    if (this.failure !== null) return '';
    const { renderer, onEvent } = this.#parts;
    const written = renderer.push(event);
    onEvent?.(event);
    if (renderer.violation === null) return written;
    this.protocolViolations += 1;
    this.failure = { type: 'malformed', message: renderer.violation, status: null };
    return '';
  }

  #count(part: number, bytes: number): void {
    this.#outputBytes += bytes;
    if (this.#reasoningParts.has(part)) this.#reasoningBytes += bytes;
  }

  /** Records the upstream's facts about its answer, even if the client gets none of it. */
  #note(event: GenerationEvent): void {
    switch (event.kind) {
      case 'text_delta':
      case 'arguments_delta':
        this.begun = true;
        this.#count(event.part, Buffer.byteLength(event.text));
        return;
      case 'part_start':
        if (event.opening.kind === 'reasoning') this.#reasoningParts.add(event.part);
        if (isContent(event.opening)) this.begun = true;
        return;
      case 'signature':
        this.begun = true;
        return;
      case 'start':
        this.#model = event.model;
        return;
      case 'usage':
        this.#usage = event.usage;
        this.#outputBytesReported = this.#outputBytes;
        this.#usageFlags = event.flags ?? NO_FLAGS;
        return;
      case 'finish':
        this.#finished = true;
        this.begun = true;
    }
  }
}

/** Whether a part is content before its first delta. */
function isContent(opening: PartOpening): boolean {
  return (
    opening.kind === 'tool_call' || opening.kind === 'opaque' || (opening.kind === 'reasoning' && opening.redacted)
  );
}

/** Recognized records: their end, what the client gets for them, and their text (one character per byte). */
interface FramedDeltas {
  readonly end: number;
  readonly written: Buffer;
  readonly held: string;
  readonly part: number;
}

/** Padding that some providers add to every chunk, each time with another length. */
const PADDING = /"obfuscation":"([^"\\]*)"/;

/** Bytes below the space, which JSON requires to be escaped: text that has them must go to the parser. */
const CONTROL = /[^ -\u00ff]/;

/** Learns from one delta and recognizes the ones that match it. */
class DeltaFrame {
  readonly #members: readonly string[];
  readonly #skimmer = new RecordSkimmer();
  /** The text around the delta in the client's record, one character per byte; null: nothing learned. */
  #around: readonly [before: string, after: string] | null = null;
  #part = 0;

  constructor(members: readonly string[]) {
    this.#members = members;
  }

  /** Null if the bytes from `start` on do not match the template. */
  skim(bytes: Uint8Array, start: number): FramedDeltas | null {
    const around = this.#around;
    if (around === null) return null;
    const [before, after] = around;
    const texts: string[] = [];
    const end = this.#skimmer.skim(bytes, start, (text) => {
      if (text === '') return;
      texts.push(text);
    });
    const held = texts.join('');
    if (end === start || CONTROL.test(held)) return null;
    const written = texts.length === 0 ? '' : before + texts.join(after + before) + after;
    return { end, written: Buffer.from(written, 'latin1'), held, part: this.#part };
  }

  /** `written` is what the client got for the record, which held only the delta. */
  learn(record: StreamRecord, delta: Extract<GenerationEvent, { kind: 'text_delta' }>, written: string): void {
    this.forget();
    const at = written.indexOf(`"${delta.text}"`);
    if (at === -1 || at !== written.lastIndexOf(`"${delta.text}"`)) return;
    const padding = PADDING.exec(rawLatin1(record))?.[1];
    const others = padding === undefined ? [] : [['obfuscation', Buffer.from(padding, 'latin1').toString()] as const];
    if (!this.#members.some((member) => this.#skimmer.learn(record, [[member, delta.text], ...others]))) return;
    this.#around = [latin1(written.slice(0, at + 1)), latin1(written.slice(at + 1 + delta.text.length))];
    this.#part = delta.part;
  }

  /** Discards the template. */
  forget(): void {
    this.#around = null;
    this.#skimmer.forget();
  }
}

function latin1(text: string): string {
  return Buffer.from(text).toString('latin1');
}
