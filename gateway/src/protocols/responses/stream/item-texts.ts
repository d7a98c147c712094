/** Reads the texts of an output item, and keeps those that a stream sends in pieces. Source: responses, B.2 and B.3. */
import { asArray, asObject, type JsonObject } from '../../json.ts';

/** The member of a content part that holds its text, by the part's type. */
const PART_TEXTS: ReadonlyMap<unknown, string> = new Map([
  ['output_text', 'text'],
  ['refusal', 'refusal'],
  ['reasoning_text', 'text'],
  ['summary_text', 'text'],
]);

/** The member of an item that holds a text of its own, by the item's type. */
const ITEM_TEXTS: ReadonlyMap<unknown, string> = new Map([
  ['function_call', 'arguments'],
  ['custom_tool_call', 'input'],
  ['mcp_call', 'arguments'],
  ['code_interpreter_call', 'code'],
]);

/** The text of a content or summary part; null: its type has none. */
export function partText(part: JsonObject | null): string | null {
  const member = PART_TEXTS.get(part?.type);
  const text = member === undefined ? null : part?.[member];
  return typeof text === 'string' ? text : null;
}

/** The arguments, input or code of an item; null: its type has none. */
export function ownText(item: JsonObject): string | null {
  const member = ITEM_TEXTS.get(item.type);
  const text = member === undefined ? null : item[member];
  return typeof text === 'string' ? text : null;
}

/** The texts of an item's parts, in order. */
export function partTexts(item: JsonObject, place: 'content' | 'summary'): ReadonlyArray<string | null> {
  return asArray(item[place]).map((part) => partText(asObject(part)));
}

/** All texts of an item, to compare two of its versions. */
export function itemTexts(item: JsonObject): string {
  return JSON.stringify([ownText(item), partTexts(item, 'summary'), partTexts(item, 'content')]);
}

/** A text that arrives in pieces. */
export class GrowingText {
  /** Null: some pieces were only counted. */
  #text: string | null = '';
  #bytes = 0;
  /** A `done` event gave the whole text. */
  closed = false;

  get isEmpty(): boolean {
    return this.#bytes === 0;
  }

  push(piece: string): void {
    this.#bytes += Buffer.byteLength(piece);
    if (this.#text !== null) this.#text += piece;
  }

  /** Counts pieces that were not read. */
  skip(bytes: number): void {
    this.#bytes += bytes;
    this.#text = null;
  }

  /** Whether the pieces add up to the text; if some were only counted, whether their lengths do. */
  equals(text: string): boolean {
    return this.#text === null ? this.#bytes === Buffer.byteLength(text) : this.#text === text;
  }
}
