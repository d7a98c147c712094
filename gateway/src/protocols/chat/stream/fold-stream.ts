/**
 * Folds a chat-completions stream into a non-streamed answer: every choice, with all known and unknown members that its
 * provider sends. The stream's observer judges the records. Wire reference A.6 and A.7.
 */
import { CallFailure } from '../../../errors/call-failure.ts';
import { dataText, type StreamRecord } from '../../../framing/framing.ts';
import type { Usage } from '../../../generation/usage.ts';
import { type JsonDraft, mergeDelta, mergeMember, startDraft } from '../../answer/merge-delta.ts';
import { asArray, asObject, asText, type JsonObject, parseObject } from '../../json.ts';
import type { AnswerFold } from '../../upstream-protocol.ts';
import { renderUsage } from '../shared/usage.ts';
import { continuesCall } from '../upstream/tool-call-reader.ts';

/** Members that only a stream has or that are folded separately. */
const OF_CHUNKS: ReadonlySet<string> = new Set(['id', 'object', 'choices', 'usage', 'obfuscation']);
const OF_CHOICES: ReadonlySet<string> = new Set(['index', 'delta', 'message']);

/** `fallbackId`: the id for an answer whose chunks carry none. */
export function startFold(fallbackId: string): AnswerFold {
  return new ChatFold(fallbackId);
}

class ChatFold implements AnswerFold {
  readonly #fallbackId: string;
  #id: string | null = null;
  readonly #members = startDraft();
  readonly #choices = new Map<number, ChoiceFold>();
  #usage: JsonObject | null = null;

  constructor(fallbackId: string) {
    this.#fallbackId = fallbackId;
  }

  push(record: StreamRecord): void {
    const chunk = parseObject(dataText(record));
    if (chunk === null) return;
    this.#id ??= asText(chunk.id);
    this.#usage = asObject(chunk.usage) ?? this.#usage;
    for (const name of Object.keys(chunk)) if (!OF_CHUNKS.has(name)) keepLast(this.#members, name, chunk[name]);
    for (const value of asArray(chunk.choices)) {
      const choice = asObject(value);
      if (choice !== null) this.#choiceOf(choice).push(choice);
    }
  }

  finish(cut: Usage | null): string {
    if (cut !== null && this.#choices.size === 0) this.#choices.set(0, new ChoiceFold());
    if (this.#choices.size === 0) {
      throw new CallFailure('upstream_malformed', 'the model provider sent an invalid answer: it has no choices');
    }
    const { created, model, ...others } = this.#members;
    const byIndex = [...this.#choices].sort(([one], [other]) => one - other);
    return JSON.stringify({
      id: this.#id ?? this.#fallbackId,
      object: 'chat.completion',
      created,
      model,
      choices: byIndex.map(([index, choice]) => choice.finish(index, cut !== null)),
      usage: cut === null ? (this.#usage ?? undefined) : renderUsage(cut),
      ...others,
    });
  }

  #choiceOf({ index }: JsonObject): ChoiceFold {
    const at = typeof index === 'number' ? index : 0;
    const choice = this.#choices.get(at) ?? new ChoiceFold();
    this.#choices.set(at, choice);
    return choice;
  }
}

class ChoiceFold {
  readonly #members = startDraft();
  readonly #message = startDraft();
  readonly #calls = new ToolCallsFold();

  push(choice: JsonObject): void {
    const delta = asObject(choice.delta);
    if (delta !== null) this.#readDelta(delta);
    for (const name of Object.keys(choice)) {
      // `logprobs` has one list entry per token, so the chunks' lists are merged.
      if (name === 'logprobs') mergeMember(this.#members, name, choice[name]);
      else if (!OF_CHOICES.has(name)) keepLast(this.#members, name, choice[name]);
    }
  }

  finish(index: number, cut: boolean): JsonObject {
    const { finish_reason = null, ...others } = this.#members;
    const { role = 'assistant', content = null, ...rest } = this.#message;
    const calls = this.#calls.finish();
    return {
      index,
      message: { role, content, ...rest, ...(calls.length === 0 ? {} : { tool_calls: calls }) },
      ...others,
      finish_reason: finish_reason ?? (cut ? 'length' : null),
    };
  }

  #readDelta({ content, tool_calls, ...others }: JsonObject): void {
    if (content !== undefined) readContent(this.#message, content);
    if (Array.isArray(tool_calls)) this.#calls.push(tool_calls);
    mergeDelta(this.#message, others);
  }
}

/** Builds the tool calls of one message from their fragments. */
class ToolCallsFold {
  readonly #calls: JsonDraft[] = [];
  readonly #atIndex = new Map<number, JsonDraft>();
  readonly #atPosition = new Map<number, JsonDraft>();
  readonly #byId = new Map<string, JsonDraft>();

  push(fragments: readonly unknown[]): void {
    for (const [position, value] of fragments.entries()) {
      const fragment = asObject(value);
      if (fragment !== null) this.#read(fragment, position);
    }
  }

  /** The calls in the order in which they began, without `index`, which only a stream has. */
  finish(): readonly JsonObject[] {
    return this.#calls.map(({ index: _, ...call }) => call);
  }

  #read(fragment: JsonObject, position: number): void {
    const { index } = fragment;
    const hasIndex = typeof index === 'number';
    const claim = { id: asText(fragment.id), name: nameOf(fragment) };
    const named = claim.id === null ? undefined : this.#byId.get(claim.id);
    const before = hasIndex ? this.#atIndex.get(index) : (named ?? this.#atPosition.get(position));
    const goes =
      before !== undefined && continuesCall({ id: asText(before.id), name: nameOf(before) }, claim, hasIndex);
    // An empty fragment begins no call.
    if (!goes && claim.id === null && claim.name === null && !saysAnything(fragment)) return;
    const call = goes ? before : startDraft();
    if (!goes) this.#calls.push(call);
    if (hasIndex) this.#atIndex.set(index, call);
    this.#atPosition.set(position, call);
    mergeDelta(call, fragment);
    const id = asText(call.id);
    if (id !== null && !this.#byId.has(id)) this.#byId.set(id, call);
  }
}

function nameOf(call: JsonObject): string | null {
  return asText(asObject(call.function)?.name) ?? asText(asObject(call.custom)?.name);
}

function saysAnything({ function: called, custom }: JsonObject): boolean {
  return asText(asObject(called)?.arguments) !== null || asText(asObject(custom)?.input) !== null;
}

/** A later value replaces an earlier one; null never replaces an existing value. */
function keepLast(draft: JsonDraft, name: string, value: unknown): void {
  if (value === null) draft[name] ??= null;
  else draft[name] = value;
}

/** A string, or (Mistral's reasoning models) a list of pieces; adjacent pieces of the same type are merged. */
function readContent(message: JsonDraft, value: unknown): void {
  const { content } = message;
  const before = Array.isArray(content) ? content : null;
  if (!Array.isArray(value)) {
    if (before === null) mergeMember(message, 'content', value);
    else if (typeof value === 'string' && value !== '') addPieces(before, [{ type: 'text', text: value }]);
    return;
  }
  const pieces: unknown[] = before ?? (asText(content) === null ? [] : [{ type: 'text', text: content }]);
  addPieces(pieces, value);
  message.content = pieces;
}

function addPieces(pieces: unknown[], added: readonly unknown[]): void {
  for (const value of added) {
    const piece = asObject(value);
    const last = asObject(pieces.at(-1));
    if (piece === null || last === null || piece.type !== last.type || !goesOnInPiece(piece)) {
      pieces.push(structuredClone(value));
      continue;
    }
    const { thinking, ...others } = piece;
    const draft = last as JsonDraft;
    if (Array.isArray(thinking) && Array.isArray(draft.thinking)) addPieces(draft.thinking, thinking);
    else if (thinking !== undefined) mergeMember(draft, 'thinking', thinking);
    mergeDelta(draft, others);
  }
}

function goesOnInPiece({ type }: JsonObject): boolean {
  return type === 'text' || type === 'thinking' || type === 'refusal';
}
