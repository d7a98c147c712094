/**
 * Assembles tool calls from the fragments that upstreams send in many forms: matches fragments to calls and detects
 * where a call begins. Reads both deltas and whole messages. Wire reference A.7, C.4 and vectors 6 to 9.
 */
import type { GenerationEvent, PartOpening } from '../../../generation/event.ts';
import type { JsonText } from '../../../generation/part.ts';
import { elementTexts, memberText, valueText } from '../../exact-json.ts';
import { packHostData } from '../../host-data.ts';
import { asObject, asText, type JsonObject, parseObject } from '../../json.ts';
import { aliasText } from '../../request/tool-names.ts';
import type { MessageData } from '../shared/message-data.ts';
import { TOOL_CALLS_MAX } from '../stream/stream-grammar.ts';

const INDEX_MAX = 10_000;
const ID_CHARS_MAX = 40;

interface Call {
  /** As upstream sent them; null: not yet received. */
  id: string | null;
  name: string | null;
  readonly tool: 'function' | 'custom';
  /** Null: waiting for its name. */
  part: number | null;
  /** Arguments received before the name. */
  held: string;
  readonly arguments: ReportedArguments;
  /** The last `extra_content` received with the call. */
  extra: JsonObject | null;
  /** The JSON of the provider's data that was told; null: none. */
  told: JsonText | null;
  ended: boolean;
}

/** The call that a fragment claims to belong to. */
interface Claim {
  readonly id: string | null;
  readonly name: string | null;
}

export class ToolCallReader {
  readonly #queue: EventQueue;
  readonly #data: MessageData;
  readonly #calls: Call[] = [];
  readonly #atIndex = new Map<number, Call>();
  readonly #atPosition = new Map<number, Call>();
  readonly #byId = new Map<string, Call>();
  readonly #idsGiven = new Set<string>();
  #legacy: Call | null = null;

  /** `data`: the provider's data on the message around the calls, as far as it came. */
  constructor(queue: EventQueue, data: MessageData) {
    this.#queue = queue;
    this.#data = data;
  }

  /** Whether any call has begun. */
  get any(): boolean {
    return this.#calls.some((call) => call.part !== null);
  }

  /** `answerId` is used to generate ids for calls that have none. `written` returns the list as upstream wrote it. */
  readFragments(fragments: readonly unknown[], answerId: string, written: () => JsonText): void {
    let texts: readonly JsonText[] | null = null;
    // A hostile record has thousands of fragments: their texts are found once.
    const textAt = (position: number) => {
      texts ??= elementTexts(written());
      return texts[position] ?? '';
    };
    for (let position = 0; position < fragments.length && !this.#queue.closed; position++) {
      const fragment = asObject(fragments[position]);
      if (fragment !== null) this.#readFragment(fragment, position, answerId, textAt);
    }
  }

  /** The legacy `function_call`: one call, without an id. */
  readFunctionCall(value: unknown, answerId: string, written: () => JsonText): void {
    const found = asObject(value);
    const name = asText(found?.name);
    const text = textOf(found?.arguments, () => memberText(written(), 'arguments'));
    if (this.#legacy === null && name === null && text === '') return;
    this.#legacy ??= this.#open('function');
    if (this.#legacy !== null) this.#advance(this.#legacy, { id: null, name }, text, answerId);
  }

  /** Ends all calls. `cut`: the answer broke off, so a call without a name may be omitted. */
  finish(cut: boolean): void {
    const first = this.#calls.find(({ part }) => part !== null);
    for (const call of this.#calls) this.#tellData(call, call === first);
    for (const call of this.#calls) {
      if (call.part !== null) this.#end(call);
      else if (!cut) this.#queue.refuse('upstream sent a tool call without a name');
    }
  }

  /** Tells the provider's data of a call if there is more than before. The message's data goes with its first call. */
  #tellData(call: Call, isFirst: boolean): void {
    const { part, extra } = call;
    const message = isFirst ? this.#data.members : null;
    if (part === null || (extra === null && message === null)) return;
    const native = packHostData({ call: extra === null ? null : { extra_content: extra }, message });
    if (native.json === call.told) return;
    call.told = native.json;
    this.#queue.add({ kind: 'host_data', part, native });
  }

  #readFragment(
    fragment: JsonObject,
    position: number,
    answerId: string,
    textAt: (position: number) => JsonText,
  ): void {
    const body = asObject(fragment.function);
    const custom = asObject(fragment.custom);
    const claim = { id: asText(fragment.id), name: asText(body?.name) ?? asText(custom?.name) };
    const { index } = fragment;
    if (typeof index === 'number' && !(Number.isInteger(index) && index >= 0 && index <= INDEX_MAX)) {
      this.#queue.refuse(`upstream sent a tool call with the index ${index}`);
      return;
    }
    const known = typeof index === 'number' ? this.#findByIndex(index, claim) : this.#findUnnumbered(position, claim);
    const isCustom = known === null ? isCustomCall(fragment) : known.tool === 'custom';
    const [holder, member] = isCustom ? (['custom', 'input'] as const) : (['function', 'arguments'] as const);
    const value = isCustom ? custom?.input : body?.arguments;
    const text = textOf(value, () => valueText(textAt(position), [holder, member]));
    if (known === null && claim.id === null && claim.name === null && text === '') return;
    const call = known ?? this.#open(isCustom ? 'custom' : 'function');
    if (call === null) return;
    call.extra = asObject(fragment.extra_content) ?? call.extra;
    if (typeof index === 'number') this.#place(index, call);
    this.#atPosition.set(position, call);
    this.#advance(call, claim, text, answerId);
  }

  /** The call that continues at this index; null: a new one begins there. */
  #findByIndex(index: number, claim: Claim): Call | null {
    const call = this.#atIndex.get(index);
    return call !== undefined && continuesCall(call, claim, true) ? call : null;
  }

  #findUnnumbered(position: number, claim: Claim): Call | null {
    const named = claim.id === null ? undefined : this.#byId.get(claim.id);
    const call = named ?? this.#atPosition.get(position);
    return call !== undefined && continuesCall(call, claim, false) ? call : null;
  }

  #open(tool: Call['tool']): Call | null {
    if (this.#calls.length >= TOOL_CALLS_MAX) {
      this.#queue.refuse(`upstream sent more than ${TOOL_CALLS_MAX} tool calls`);
      return null;
    }
    const call: Call = {
      id: null,
      name: null,
      tool,
      part: null,
      held: '',
      arguments: startArguments(tool),
      extra: null,
      told: null,
      ended: false,
    };
    this.#calls.push(call);
    return call;
  }

  #place(index: number, call: Call): void {
    const before = this.#atIndex.get(index);
    if (before === call) return;
    if (before !== undefined && before.part !== null) this.#end(before);
    this.#atIndex.set(index, call);
  }

  #advance(call: Call, claim: Claim, text: string, answerId: string): void {
    if (call.id === null && claim.id !== null) {
      call.id = claim.id;
      if (!this.#byId.has(claim.id)) this.#byId.set(claim.id, call);
    }
    call.name ??= claim.name;
    if (call.part === null) {
      call.held += text;
      if (call.name !== null) this.#begin(call, call.name, answerId);
    } else if (text !== '') {
      if (call.ended) this.#queue.refuse('upstream went on with a tool call that another one had replaced');
      else this.#emit(call.part, call.arguments.push(text));
    }
  }

  #begin(call: Call, name: string, answerId: string): void {
    const id = call.id !== null && !this.#idsGiven.has(call.id) ? call.id : this.#mintId(answerId);
    this.#idsGiven.add(id);
    const isFirst = !this.any;
    call.part = this.#queue.begin({ kind: 'tool_call', id, name, tool: call.tool });
    // Clients get it before the call, where it is known by then.
    this.#tellData(call, isFirst);
    this.#emit(call.part, call.arguments.push(call.held));
    call.held = '';
  }

  /** Derived from the answer's id: ids differ within a conversation, but the same stream gives the same ids. */
  #mintId(answerId: string): string {
    const stem = answerId === '' ? 'call' : `call_${answerId}`;
    let ordinal = this.#idsGiven.size;
    let id = aliasText(`${stem}_${ordinal}`, ID_CHARS_MAX);
    while (this.#idsGiven.has(id)) {
      ordinal += 1;
      id = aliasText(`${stem}_${ordinal}`, ID_CHARS_MAX);
    }
    return id;
  }

  #end(call: Call): void {
    if (call.part === null || call.ended) return;
    call.ended = true;
    this.#emit(call.part, call.arguments.end());
    this.#queue.add({ kind: 'part_end', part: call.part });
  }

  #emit(part: number, text: string): void {
    if (text !== '') this.#queue.add({ kind: 'arguments_delta', part, text });
  }
}

/** A piece of arguments. Some providers send a JSON value instead of a string: then its verbatim text. */
function textOf(value: unknown, written: () => JsonText | null): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : (written() ?? JSON.stringify(value));
}

/**
 * A different id, or without ids a different name, means another call. Without index or id, any name begins a call. An id
 * without a name begins none at the index of a call: some hosts give every fragment another id (Poolside,
 * https://github.com/poolsideai/pool/issues/9, read 2026-11-28).
 */
export function continuesCall(call: Pick<Call, 'id' | 'name'>, claim: Claim, hasIndex: boolean): boolean {
  if (claim.id !== null && call.id !== null)
    return claim.id === call.id || (hasIndex && claim.name === null && call.name !== null);
  if (claim.name === null || call.name === null) return true;
  return claim.name === call.name && (hasIndex || claim.id !== null);
}

function isCustomCall(fragment: JsonObject): boolean {
  if (typeof fragment.type === 'string' && fragment.type !== '') return fragment.type === 'custom';
  return asObject(fragment.function) === null && asObject(fragment.custom) !== null;
}

const NONE: readonly GenerationEvent[] = [];

export class EventQueue {
  #events: GenerationEvent[] = [];
  #parts = 0;
  #closed = false;

  /** An `end`, `error` or `malformed` was added. */
  get closed(): boolean {
    return this.#closed;
  }

  add(event: GenerationEvent): void {
    if (this.#closed) return;
    this.#events.push(event);
    this.#closed = event.kind === 'end' || event.kind === 'error' || event.kind === 'malformed';
  }

  /** Begins a part and returns its number. */
  begin(opening: PartOpening): number {
    const part = this.#parts;
    this.#parts += 1;
    this.add({ kind: 'part_start', part, opening });
    return part;
  }

  refuse(message: string): void {
    this.add({ kind: 'malformed', message });
  }

  /** Returns and removes the queued events. */
  take(): readonly GenerationEvent[] {
    if (this.#events.length === 0) return NONE;
    const events = this.#events;
    this.#events = [];
    return events;
  }
}

/** Arguments received in pieces; `push` returns the text that can be passed on so far. */
interface ReportedArguments {
  push(piece: string): string;
  /** The arguments are complete: returns the text held back. */
  end(): string;
}

const AS_THEY_COME: ReportedArguments = { push: (piece) => piece, end: () => '' };

/** The free text of custom tools is never changed. */
function startArguments(tool: 'function' | 'custom'): ReportedArguments {
  return tool === 'custom' ? AS_THEY_COME : new FunctionArguments();
}

/** Only arguments that start with these are normalized: a JSON string or `null`. */
const MENDED_STARTS: readonly string[] = ['"', 'n'];

class FunctionArguments implements ReportedArguments {
  #held = '';
  /** Null: only white space has come. */
  #isMended: boolean | null = null;

  push(piece: string): string {
    if (this.#isMended === false) return piece;
    this.#held += piece;
    // Checks only the first non-blank piece: a provider may send a hundred thousand pieces of one character.
    const word = this.#isMended === null ? piece.trimStart() : '';
    if (word !== '') this.#isMended = MENDED_STARTS.includes(word.charAt(0));
    if (this.#isMended !== false) return '';
    const text = this.#held;
    this.#held = '';
    return text;
  }

  end(): string {
    const text = this.#held;
    this.#held = '';
    const words = text.trim();
    if (words === 'null') return '';
    return words.startsWith('"') ? (innerObject(words) ?? text) : text;
  }
}

/** The object whose JSON is the value of a JSON text; null: it is something else. */
function innerObject(json: string): string | null {
  try {
    const inner: unknown = JSON.parse(json);
    return typeof inner === 'string' && parseObject(inner) !== null ? inner : null;
  } catch {
    return null;
  }
}
