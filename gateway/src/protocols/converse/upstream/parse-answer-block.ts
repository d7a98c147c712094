/**
 * Parses one content block of a Converse answer from its pieces. A block of text or reasoning begins with its first
 * piece; calls and blocks of server tools are announced. Source: provider reference C.4.
 */
import type { GenerationEvent, PartOpening } from '../../../generation/event.ts';
import type { JsonText } from '../../../generation/part.ts';
import { memberText } from '../../exact-json.ts';
import { asArray, asObject, asText, type JsonObject } from '../../json.ts';
import { aliasText } from '../../request/tool-names.ts';
import { parseCitation } from './parse-citation.ts';

const NONE: readonly GenerationEvent[] = [];
const CALL_ID_CHARS_MAX = 64;

/** The numbers of the parts of one answer, and the ids of its calls. */
export class PartCounter {
  #parts = 0;
  readonly #callIds = new Set<string>();

  /** The number of the next part. */
  take(): number {
    return this.#parts++;
  }

  /** The id of the call that is this part: its own even if upstream named none, or one of another call. */
  callId(id: string | null, part: number): string {
    const known = id === null || this.#callIds.has(id) ? aliasText(`tooluse_${part}`, CALL_ID_CHARS_MAX) : id;
    this.#callIds.add(known);
    return known;
  }
}

export class BlockParser {
  readonly #counter: PartCounter;
  /** What the part is; null: the block has no content yet. */
  #opening: PartOpening | null = null;
  #part = -1;
  /** The block is of a server tool or an image: complete when it ends. `json`: its announcement. */
  #opaque: { readonly type: string; readonly json: JsonText } | null = null;
  #hasArguments = false;
  #redacted: Buffer[] = [];

  constructor(counter: PartCounter) {
    this.#counter = counter;
  }

  /** Whether the block counts as complete if upstream never closed it. */
  get closesItself(): boolean {
    return this.#opening?.kind !== 'tool_call';
  }

  /** Takes the announcement of the block; `json` is it as written. */
  begin(start: JsonObject, json: JsonText): readonly GenerationEvent[] {
    const call = asObject(start.toolUse);
    const type = asText(call?.type);
    if (call === null || type === 'server_tool_use') {
      this.#opaque = { type: type ?? asText(Object.keys(start)[0]) ?? 'unknown', json };
      return NONE;
    }
    const name = asText(call.name);
    if (name === null) return malformed('a call without a name');
    const part = this.#counter.take();
    const id = this.#counter.callId(asText(call.toolUseId), part);
    return this.#open({ kind: 'tool_call', id, name, tool: 'function' }, part);
  }

  push(delta: JsonObject): readonly GenerationEvent[] {
    if (this.#opaque !== null) return NONE;
    const reasoning = asObject(delta.reasoningContent);
    if (reasoning !== null) return this.#reason(reasoning);
    const call = asObject(delta.toolUse);
    if (call !== null) return this.#argue(call);
    if (delta.text !== undefined) return this.#say({ kind: 'text' }, delta.text);
    return this.#cite(asObject(delta.citation));
  }

  end(): readonly GenerationEvent[] {
    const opaque = this.#opaque;
    if (opaque !== null) {
      const native = { origin: 'converse', json: opaque.json };
      const part = { kind: 'opaque', type: opaque.type, native, words: null } as const;
      return [...this.#open({ kind: 'opaque', part }), { kind: 'part_end', part: this.#part }];
    }
    const events: GenerationEvent[] = [];
    if (this.#redacted.length > 0) {
      events.push({ kind: 'signature', part: this.#part, signature: Buffer.concat(this.#redacted).toString('base64') });
    }
    if (this.#opening?.kind === 'tool_call' && !this.#hasArguments) {
      events.push({ kind: 'arguments_delta', part: this.#part, text: '{}' });
    }
    return this.#opening === null ? NONE : [...events, { kind: 'part_end', part: this.#part }];
  }

  #open(opening: PartOpening, part: number = this.#counter.take()): GenerationEvent[] {
    this.#opening = opening;
    this.#part = part;
    return [{ kind: 'part_start', part, opening }];
  }

  /** Only models of Anthropic sign, and their signatures are the same in Anthropic's own format. */
  #reason({ text, signature, redactedContent }: JsonObject): readonly GenerationEvent[] {
    const redacted = typeof redactedContent === 'string';
    const opening = { kind: 'reasoning', redacted, issuer: 'messages' } as const;
    if (redacted) {
      return this.#enter(opening, () => {
        this.#redacted.push(Buffer.from(redactedContent, 'base64'));
        return NONE;
      });
    }
    const said = this.#say(opening, text);
    const signed = asText(signature);
    if (signed === null || isMalformed(said)) return said;
    return [...said, ...this.#enter(opening, (part) => [{ kind: 'signature', part, signature: signed }])];
  }

  #argue({ input }: JsonObject): readonly GenerationEvent[] {
    if (this.#opening?.kind !== 'tool_call') return malformed('arguments of a call that has not begun');
    if (input === undefined || input === null || input === '') return NONE;
    if (typeof input !== 'string') return malformed('arguments that are no text');
    this.#hasArguments = true;
    return [{ kind: 'arguments_delta', part: this.#part, text: input }];
  }

  #say(opening: PartOpening, text: unknown): readonly GenerationEvent[] {
    const words = asText(text);
    return words === null ? NONE : this.#enter(opening, (part) => [{ kind: 'text_delta', part, text: words }]);
  }

  #cite(found: JsonObject | null): readonly GenerationEvent[] {
    const citation = found === null ? null : parseCitation(found);
    if (citation === null || (this.#opening !== null && this.#opening.kind !== 'text')) return NONE;
    return this.#enter({ kind: 'text' }, (part) => [{ kind: 'citation', part, citation }]);
  }

  /** The events of a piece, after the beginning of its part if this is the first. All pieces of a block are of one kind. */
  #enter(opening: PartOpening, piece: (part: number) => readonly GenerationEvent[]): readonly GenerationEvent[] {
    const before = this.#opening;
    const opened = before === null ? this.#open(opening) : NONE;
    if (before === null || (before.kind === opening.kind && isRedacted(before) === isRedacted(opening))) {
      return [...opened, ...piece(this.#part)];
    }
    return malformed(`a piece of ${opening.kind} in another block of ${before.kind}`);
  }
}

/** A complete block as the announcement and deltas that a stream would have had. `json` is the block as written. */
export function piecesOf(
  block: JsonObject,
  json: JsonText,
): { readonly start: JsonObject | null; readonly deltas: readonly JsonObject[] } {
  const call = asObject(block.toolUse);
  if (call !== null) {
    const input = memberText(memberText(json, 'toolUse') ?? '', 'input') ?? '';
    return { start: { toolUse: call }, deltas: [{ toolUse: { input } }] };
  }
  const reasoning = asObject(block.reasoningContent);
  if (reasoning !== null) {
    const { text, signature } = asObject(reasoning.reasoningText) ?? {};
    if (reasoning.redactedContent !== undefined) return { start: null, deltas: [{ reasoningContent: reasoning }] };
    return { start: null, deltas: [{ reasoningContent: { text } }, { reasoningContent: { signature } }] };
  }
  const cited = asObject(block.citationsContent);
  if (cited === null) return { start: block.text === undefined ? block : null, deltas: [block] };
  const texts = asArray(cited.content).map((piece) => ({ text: asObject(piece)?.text }));
  return { start: null, deltas: [...texts, ...asArray(cited.citations).map((citation) => ({ citation }))] };
}

function isRedacted(opening: PartOpening): boolean {
  return opening.kind === 'reasoning' && opening.redacted;
}

function isMalformed(events: readonly GenerationEvent[]): boolean {
  return events[0]?.kind === 'malformed';
}

/** `what` completes the sentence "upstream sent …". */
export function malformed(what: string): readonly GenerationEvent[] {
  return [{ kind: 'malformed', message: `upstream sent ${what}` }];
}
