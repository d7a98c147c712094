/** Reads a scanned JSON text: finds members and elements by the outline and decodes single values. */
import { BACKSLASH } from './json-bytes.ts';
import {
  AT_END,
  AT_KEY_END,
  AT_KEY_START,
  AT_KIND,
  AT_NEXT,
  AT_START,
  FLAG_CLOSED,
  FLAG_ESCAPED,
  FLAG_KEY_ESCAPED,
  type JsonTape,
  KIND_MASK,
  readNode,
} from './json-key-set.ts';
import type { JsonScanLimits } from './json-limits.ts';

/** The kind of a value. */
export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'true' | 'false' | 'null';

const KINDS: readonly JsonKind[] = ['object', 'array', 'string', 'number', 'true', 'false', 'null'];

/** A valid text and the positions of its outer values. */
export interface JsonOutline {
  readonly ok: true;
  readonly bytes: Uint8Array;
  readonly root: JsonNode;
  readonly tape: JsonTape;
  /** The outline of a container's own text, for one whose children are not on the tape. Throws OutlineFull. */
  open(container: JsonNode): JsonOutline;
}

/** Thrown if a container that is opened later has more values than the limits of the scan allow. */
export class OutlineFull extends RangeError {}

/**
 * One value of the text. Spans are byte offsets in the bytes of its outline with an exclusive end; a string's span
 * includes its quotes.
 */
export interface JsonNode {
  readonly kind: JsonKind;
  readonly start: number;
  readonly end: number;
  /** The span of the member's key, including quotes; -1 for an element and for the root. */
  readonly keyStart: number;
  readonly keyEnd: number;
  readonly outline: JsonOutline;
  /** Its position on the tape. */
  readonly index: number;
}

/** Scans the text of one container; null: it has more values than `limits` allow. */
export type ScanContainer = (bytes: Uint8Array, limits: JsonScanLimits) => JsonOutline | null;

/** Creates the outline of a valid text from the tape of its scan. */
export function createOutline(
  bytes: Uint8Array,
  tape: JsonTape,
  limits: JsonScanLimits,
  scanContainer: ScanContainer,
): JsonOutline {
  return new Outline(bytes, tape, limits, scanContainer);
}

class Outline implements JsonOutline {
  readonly ok = true;
  readonly root: JsonNode;
  readonly #limits: JsonScanLimits;
  readonly #scanContainer: ScanContainer;
  /** The container that was opened last: its members are mostly read one after the other. */
  #openedIndex = -1;
  #opened: JsonOutline | null = null;

  constructor(
    readonly bytes: Uint8Array,
    readonly tape: JsonTape,
    limits: JsonScanLimits,
    scanContainer: ScanContainer,
  ) {
    this.#limits = limits;
    this.#scanContainer = scanContainer;
    this.root = nodeAt(this, 0);
  }

  open({ index, start, end }: JsonNode): JsonOutline {
    if (this.#opened !== null && this.#openedIndex === index) return this.#opened;
    this.#opened = this.#scanContainer(this.bytes.subarray(start, end), this.#limits);
    this.#openedIndex = index;
    if (this.#opened === null) throw new OutlineFull(`more than ${this.#limits.outlineNodesMax} values in one place`);
    return this.#opened;
  }
}

/** The value of a member by its key, or undefined; also undefined if the node is not an object. */
export function member(node: JsonNode, name: string): JsonNode | undefined {
  if (node.kind !== 'object') return undefined;
  const { outline, index: first } = opened(node);
  const { tape } = outline;
  const last = readNode(tape, first, AT_NEXT);
  for (let index = first + 1; index < last; index = readNode(tape, index, AT_NEXT)) {
    if (hasKey(outline, index, name)) return nodeAt(outline, index);
  }
  return undefined;
}

/** The member values of an object or the elements of an array, in order; empty for a scalar. */
export function children(node: JsonNode): JsonNode[] {
  const found: JsonNode[] = [];
  if (node.kind !== 'object' && node.kind !== 'array') return found;
  const { outline, index: first } = opened(node);
  const last = readNode(outline.tape, first, AT_NEXT);
  for (let index = first + 1; index < last; index = readNode(outline.tape, index, AT_NEXT))
    found.push(nodeAt(outline, index));
  return found;
}

/** The elements of an array, in order; empty for any other value. */
export function elements(node: JsonNode): JsonNode[] {
  return node.kind === 'array' ? children(node) : [];
}

/** The key of a member, unescaped. Throws for an element and for the root. */
export function memberName(node: JsonNode): string {
  if (node.keyStart < 0) throw new TypeError('an element has no name: ask only members of an object');
  return stringText(node.outline.bytes, node.keyStart, node.keyEnd);
}

/** Whether a value is the member of that name, compared unescaped; cheaper than `memberName`. */
export function isNamed(node: JsonNode, name: string): boolean {
  return node.keyStart >= 0 && hasKey(node.outline, node.index, name);
}

/** The value of a string, unescaped, or undefined for any other value. Lone surrogates are kept. */
export function stringValue(node: JsonNode): string | undefined {
  if (node.kind !== 'string') return undefined;
  const { bytes, tape } = node.outline;
  const escaped = (readNode(tape, node.index, AT_KIND) & FLAG_ESCAPED) !== 0;
  return escaped
    ? (JSON.parse(spanText(bytes, node.start, node.end)) as string)
    : spanText(bytes, node.start + 1, node.end - 1);
}

/** The nearest double of a number, or undefined for any other value. Infinite for a number such as `1e999`. */
export function numberValue(node: JsonNode): number | undefined {
  return node.kind === 'number' ? Number(spanText(node.outline.bytes, node.start, node.end)) : undefined;
}

/** The text of a value as sent. */
export function jsonText(node: JsonNode): string {
  return spanText(node.outline.bytes, node.start, node.end);
}

/** Whether the children of this object or array were recorded by the scan (true for a scalar, which has none). */
export function isOpen(node: JsonNode): boolean {
  return (readNode(node.outline.tape, node.index, AT_KIND) & FLAG_CLOSED) === 0;
}

/** The node whose children are on its tape: the same one, or the root of the container's own outline. */
function opened(node: JsonNode): JsonNode {
  return isOpen(node) ? node : node.outline.open(node).root;
}

function nodeAt(outline: JsonOutline, index: number): JsonNode {
  const { tape } = outline;
  return {
    kind: KINDS[readNode(tape, index, AT_KIND) & KIND_MASK] as JsonKind,
    start: readNode(tape, index, AT_START),
    end: readNode(tape, index, AT_END),
    keyStart: readNode(tape, index, AT_KEY_START),
    keyEnd: readNode(tape, index, AT_KEY_END),
    outline,
    index,
  };
}

function hasKey(outline: JsonOutline, index: number, name: string): boolean {
  const { bytes, tape } = outline;
  const start = readNode(tape, index, AT_KEY_START);
  const end = readNode(tape, index, AT_KEY_END);
  if ((readNode(tape, index, AT_KIND) & FLAG_KEY_ESCAPED) !== 0) return stringText(bytes, start, end) === name;
  for (let i = 0; i < name.length; i++) {
    const unit = name.charCodeAt(i);
    if (unit > 0x7f) return stringText(bytes, start, end) === name;
    if (bytes[start + 1 + i] !== unit) return false;
  }
  return end - start - 2 === name.length;
}

/** The text of a JSON string token whose span includes the quotes, unescaped; lone surrogates are kept. */
export function stringText(bytes: Uint8Array, start: number, end: number): string {
  for (let i = start; i < end; i++)
    if (bytes[i] === BACKSLASH) return JSON.parse(spanText(bytes, start, end)) as string;
  return spanText(bytes, start + 1, end - 1);
}

const KNOWN_BYTES_MAX = 32;
/** Short ASCII texts by their hash: requests repeat them, and each new string takes memory that is cold by then. */
const known: string[] = new Array(512).fill('');

/** The text of `bytes[start, end)`, decoded as UTF-8. */
function spanText(bytes: Uint8Array, start: number, end: number): string {
  if (end - start > KNOWN_BYTES_MAX) return decode(bytes, start, end);
  let hash = 0;
  for (let pos = start; pos < end; pos++) {
    const byte = bytes[pos] as number;
    if (byte > 0x7f) return decode(bytes, start, end);
    hash = (Math.imul(hash, 31) + byte) | 0;
  }
  const place = (hash ^ (hash >>> 9)) & (known.length - 1);
  const found = known[place] as string;
  if (isTextOf(found, bytes, start, end)) return found;
  const text = decode(bytes, start, end);
  known[place] = text;
  return text;
}

function isTextOf(text: string, bytes: Uint8Array, start: number, end: number): boolean {
  if (text.length !== end - start) return false;
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) !== bytes[start + i]) return false;
  return true;
}

function decode(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString();
}

/**
 * Whether the value is a number without a fraction: `1`, `1.0`, `1e2` and `9007199254740993` are integers, `1.5` and
 * `1e-1` are not (JSON Schema 2020-12, validation, 6.1.1:
 * https://json-schema.org/draft/2020-12/json-schema-validation, 2026-11-20).
 */
export function isInteger(node: JsonNode): boolean {
  if (node.kind !== 'number') return false;
  const { bytes } = node.outline;
  let fractionDigits = 0;
  let trailingZeros = 0;
  let isZero = true;
  let inFraction = false;
  let pos = node.start;
  for (; pos < node.end; pos++) {
    const byte = bytes[pos] as number;
    if (byte === 0x2e) inFraction = true;
    else if (byte === 0x65 || byte === 0x45) break;
    else if (byte !== 0x2d) {
      if (inFraction) fractionDigits++;
      trailingZeros = byte === 0x30 ? trailingZeros + 1 : 0;
      isZero &&= byte === 0x30;
    }
  }
  // An exponent too large for a double becomes infinite, which compares correctly.
  const exponent = pos === node.end ? 0 : Number(spanText(bytes, pos + 1, node.end));
  return isZero || exponent + trailingZeros >= fractionDigits;
}
