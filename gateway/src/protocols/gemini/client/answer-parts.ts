/**
 * Writes the parts of an answer in Gemini's format from generation events: texts as they come, calls once they are whole.
 * What an issuer wants back with a call is its signature: Google's own as it came, all else sealed, also reasoning before
 * it, because Gemini CLI keeps no thoughts. Specification of other endpoints, 4.3.
 */
import type { GenerationEvent, PartOpening } from '../../../generation/event.ts';
import type { Citation, Native } from '../../../generation/part.ts';
import { RawJson, type WritableJson } from '../../../wire/json-writer.ts';
import { PartSequencer } from '../../answer/sequence-parts.ts';
import type { AnswerContext } from '../../client-protocol.ts';
import { unpackSignature } from '../../host-data.ts';
import { parseObject } from '../../json.ts';
import { writeSeal } from '../shared/seals.ts';

export type AnswerPart = { readonly [member: string]: WritableJson | undefined };

interface OpenPart {
  readonly part: number;
  readonly opening: Exclude<PartOpening, { readonly kind: 'opaque' }>;
  text: string;
  /** Of reasoning: that of its issuer; null: none came. */
  signature: string | null;
}

const NONE: readonly AnswerPart[] = [];

export class AnswerParts {
  readonly grounding = new Grounding();
  readonly #context: AnswerContext;
  readonly #sequencer = new PartSequencer();
  /** What came with a part, which may come before the part is written. */
  readonly #natives = new Map<number, Native>();
  #open: OpenPart | null = null;
  /** The sealed reasoning that no part has taken; null: none. */
  #sealed: string | null = null;

  constructor(context: AnswerContext) {
    this.#context = context;
  }

  /** Why the events cannot be written as parts; null: they can. */
  get violation(): string | null {
    return this.#sequencer.violation;
  }

  push(event: GenerationEvent): readonly AnswerPart[] {
    if (event.kind === 'host_data') this.#natives.set(event.part, event.native);
    const ordered = this.#sequencer.push(event);
    const [only] = ordered;
    if (only === undefined) return NONE;
    return ordered.length === 1 ? this.#write(only) : ordered.flatMap((one) => this.#write(one));
  }

  /** A delta of the open part was sent without `push`. */
  skipped(part: number, text: string): void {
    if (this.#open?.part === part) this.#open.text += text;
  }

  #write(event: GenerationEvent): readonly AnswerPart[] {
    switch (event.kind) {
      case 'part_start':
        if (event.opening.kind === 'opaque') return NONE;
        this.#open = { part: event.part, opening: event.opening, text: '', signature: null };
        return event.opening.kind === 'tool_call' ? NONE : this.#writeSealed();
      case 'text_delta':
        return this.#say(event.text);
      case 'arguments_delta':
        if (this.#open !== null) this.#open.text += event.text;
        return NONE;
      case 'signature':
        if (this.#open !== null) this.#open.signature = event.signature;
        return NONE;
      case 'citation':
        this.grounding.cite(event.citation);
        return NONE;
      case 'part_end':
        return this.#end();
      case 'finish':
        return this.#writeSealed();
      default:
        return NONE;
    }
  }

  get #hides(): boolean {
    return this.#context.hidesReasoning === true;
  }

  #say(text: string): readonly AnswerPart[] {
    const open = this.#open;
    if (open === null) return NONE;
    open.text += text;
    if (open.opening.kind !== 'reasoning') return [{ text }];
    return this.#hides ? NONE : [{ text, thought: true }];
  }

  /** Reasoning that no call follows is sealed in a thought without words. */
  #writeSealed(): readonly AnswerPart[] {
    const sealed = this.#sealed;
    this.#sealed = null;
    return sealed === null || this.#hides ? NONE : [{ text: '', thought: true, thoughtSignature: sealed }];
  }

  #end(): readonly AnswerPart[] {
    const open = this.#open;
    this.#open = null;
    if (open === null) return NONE;
    const { opening, text, signature } = open;
    const native = this.#natives.get(open.part);
    switch (opening.kind) {
      case 'tool_call': {
        const args = text.trim() === '' ? '{}' : text;
        // A call that was cut off is left out: the finish reason says that the answer is not whole.
        if (parseObject(args) === null) return NONE;
        const thoughtSignature = this.#takeSignature(native);
        return [{ functionCall: { id: opening.id, name: opening.name, args: oneLine(args) }, thoughtSignature }];
      }
      case 'reasoning':
        if (text === '' && signature === null) return NONE;
        this.#sealed = writeSeal(this.#context.seal({ kind: 'reasoning', part: { ...opening, text, signature } }));
        return NONE;
      default: {
        this.grounding.endText(text);
        const thoughtSignature = unpackSignature(native);
        return thoughtSignature === null ? NONE : [{ text: '', thoughtSignature }];
      }
    }
  }

  /** Undefined: nothing is wanted back with the call. Google's own signature is sealed too: it is for this host alone. */
  #takeSignature(native: Native | undefined): string | undefined {
    const sealed = this.#sealed;
    if (native !== undefined && (sealed === null || unpackSignature(native) !== null)) {
      return writeSeal(this.#context.seal({ kind: 'call_data', native }));
    }
    this.#sealed = null;
    return sealed ?? undefined;
  }
}

/** A record of a stream ends at a line end, which JSON has between values only. */
function oneLine(json: string): RawJson {
  return new RawJson(json.replaceAll(/[\r\n]/g, ' '));
}

type UrlCitation = Extract<Citation, { kind: 'url' }>;

/**
 * Collects the citations of an answer, text part by text part: the pages, and which UTF-8 bytes of its text each supports.
 * https://ai.google.dev/gemini-api/docs/google-search, read 2026-11-23.
 */
class Grounding {
  readonly #pages = new Map<string, { readonly index: number; readonly title: string | null }>();
  readonly #supports: WritableJson[] = [];
  /** UTF-8 bytes of the text parts that have ended. */
  #bytesBefore = 0;
  #waiting: UrlCitation[] = [];

  /** A source of the open text part; those that only their own format knows are left out. */
  cite(citation: Citation): void {
    if (citation.kind === 'url') this.#waiting.push(citation);
  }

  /** The open text part ended. */
  endText(text: string): void {
    for (const { url, title, start, end } of this.#waiting) {
      const page = this.#pages.get(url) ?? { index: this.#pages.size, title };
      this.#pages.set(url, page);
      const [from, to] = [start ?? 0, end ?? text.length];
      const startIndex = this.#bytesBefore + Buffer.byteLength(text.slice(0, from));
      const words = text.slice(from, to);
      const segment = { startIndex, endIndex: startIndex + Buffer.byteLength(words), text: words };
      this.#supports.push({ segment, groundingChunkIndices: [page.index] });
    }
    this.#waiting = [];
    this.#bytesBefore += Buffer.byteLength(text);
  }

  /** Undefined: nothing was cited. */
  render(): WritableJson | undefined {
    if (this.#pages.size === 0) return undefined;
    const groundingChunks = [...this.#pages].map(([uri, { title }]) => ({ web: { uri, title: title ?? undefined } }));
    return { groundingChunks, groundingSupports: this.#supports };
  }
}
