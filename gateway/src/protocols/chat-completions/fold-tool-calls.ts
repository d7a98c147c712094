/** Owns putting the tool calls of one message together from fragments, as calls stand in an answer in one piece. */
import { asObject, asText, type JsonObject } from '../json.ts';
import { type JsonDraft, mergeDelta, startDraft } from '../merge-delta.ts';
import { goesOn } from './tool-call-reader.ts';

const SAID: ReadonlySet<string> = new Set(['id', 'type', 'name', 'index']);

export class ToolCallsFold {
  readonly #calls: JsonDraft[] = [];
  readonly #atIndex = new Map<number, JsonDraft>();
  readonly #atPosition = new Map<number, JsonDraft>();

  push(fragments: readonly unknown[]): void {
    for (const [position, value] of fragments.entries()) {
      const fragment = asObject(value);
      if (fragment !== null) this.#read(fragment, position);
    }
  }

  /** The calls, in the order in which they began, without the index that only a stream has. */
  finish(): readonly JsonObject[] {
    return this.#calls.map(({ index: _, ...call }) => call);
  }

  #read(fragment: JsonObject, position: number): void {
    const { index } = fragment;
    const hasIndex = typeof index === 'number';
    const claim = { id: asText(fragment.id), name: nameOf(fragment) };
    const before = hasIndex ? this.#atIndex.get(index) : (this.#withId(claim.id) ?? this.#atPosition.get(position));
    const goes = before !== undefined && goesOn({ id: asText(before.id), name: nameOf(before) }, claim, hasIndex);
    // A fragment that says nothing begins no call.
    if (!goes && claim.id === null && claim.name === null && !saysAnything(fragment)) return;
    const call = goes ? before : startDraft();
    if (!goes) this.#calls.push(call);
    if (hasIndex) this.#atIndex.set(index, call);
    this.#atPosition.set(position, call);
    mergeDelta(call, fragment, SAID);
  }

  #withId(id: string | null): JsonDraft | undefined {
    return id === null ? undefined : this.#calls.find((call) => call.id === id);
  }
}

function nameOf(call: JsonObject): string | null {
  return asText(asObject(call.function)?.name) ?? asText(asObject(call.custom)?.name);
}

function saysAnything({ function: called, custom }: JsonObject): boolean {
  return asText(asObject(called)?.arguments) !== null || asText(asObject(custom)?.input) !== null;
}
