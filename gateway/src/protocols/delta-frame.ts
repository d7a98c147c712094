/**
 * Owns the short way of a text delta from one format to another: where a record differs from the last one only in its text,
 * the client's record differs only there too, and JSON writes a plain text alike in both. Anything else is left to the parser.
 */
import type { GenerationEvent } from '../generation/event.ts';
import type { SseRecord } from '../wire/sse-record.ts';
import { RecordSkimmer, rawLatin1 } from './record-template.ts';

/** Records that were recognised: where they end, what the client gets for them, and what they said (a character per byte). */
export interface FramedDeltas {
  readonly end: number;
  readonly written: Buffer;
  readonly held: string;
  readonly part: number;
}

/** Padding that some hosts put into every chunk, of another length each time. */
const PADDING = /"obfuscation":"([^"\\]*)"/;

/** Bytes below the space, which JSON takes only escaped: a parser must judge a text that has them. */
const CONTROL = /[^ -\u00ff]/;

/** Learns from one delta and recognises those that are like it. */
export class DeltaFrame {
  readonly #members: readonly string[];
  readonly #skimmer = new RecordSkimmer();
  /** What stands around the text in the client's record, a character per byte; null: nothing was learnt. */
  #around: readonly [before: string, after: string] | null = null;
  #part = 0;

  constructor(members: readonly string[]) {
    this.#members = members;
  }

  /** Null where the bytes from `start` on are not like what was learnt. */
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

  /** `written` is what the client got for the record, which said nothing but the delta. */
  learn(record: SseRecord, delta: Extract<GenerationEvent, { kind: 'text_delta' }>, written: string): void {
    this.forget();
    const at = written.indexOf(`"${delta.text}"`);
    if (at === -1 || at !== written.lastIndexOf(`"${delta.text}"`)) return;
    const padding = PADDING.exec(rawLatin1(record))?.[1];
    const others = padding === undefined ? [] : [['obfuscation', Buffer.from(padding, 'latin1').toString()] as const];
    if (!this.#members.some((member) => this.#skimmer.learn(record, [[member, delta.text], ...others]))) return;
    this.#around = [latin1(written.slice(0, at + 1)), latin1(written.slice(at + 1 + delta.text.length))];
    this.#part = delta.part;
  }

  /** What follows is not like what was learnt. */
  forget(): void {
    this.#around = null;
    this.#skimmer.forget();
  }
}

function latin1(text: string): string {
  return Buffer.from(text).toString('latin1');
}
