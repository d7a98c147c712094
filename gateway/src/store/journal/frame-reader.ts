/** Reads the members of frames from the body of one block, which may be hostile, with the block's dictionary. */
import { WIRE } from './frame-members.ts';

/** The bytes are no frames of the journal's format. */
export class JournalFormatError extends Error {
  override readonly name = 'JournalFormatError';
}

/** Nested members of members that this version does not know. */
const DEPTH_MAX = 8;
const UTF_8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const TWO_28 = 0x1000_0000;
const TWO_32 = 0x1_0000_0000;
/** The high half of an amount between these is that of an integer that a double holds exactly. */
const HIGH_MIN = -0x20_0000;
const HIGH_MAX = 0x20_0000;

export class FrameReader {
  readonly #bytes: Buffer;
  readonly #words: string[] = [];
  /** The end of the members being read: of the frame, or of a member of members within it. */
  #end: number;
  #at = 0;
  #lastMember = 0;
  /** The wire type of the member being read. */
  #wire = 0;
  /** Counts from 1; 0: before the first. */
  frame = 0;

  constructor(body: Uint8Array) {
    this.#bytes = body instanceof Buffer ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    this.#end = body.byteLength;
  }

  /** Enters the next frame; returns its kind. */
  enterFrame(): number {
    this.frame += 1;
    this.#end = this.#bytes.length;
    const kind = this.#byte();
    const length = this.#varint();
    if (length > this.#end - this.#at) this.fail(`has ${length} bytes by its length, beyond the end of the block`);
    this.#end = this.#at + length;
    this.#lastMember = 0;
    return kind;
  }

  /** @throws JournalFormatError where bytes follow the last frame */
  finish(): void {
    if (this.#at !== this.#bytes.length) this.fail('is the last one, and bytes follow it');
  }

  /**
   * The number of the next member; 0: the members end here. `knownMax`: the highest number that the caller knows; of
   * these only `repeated` may occur several times.
   */
  next(knownMax: number, repeated: number): number {
    if (this.#at >= this.#end) return 0;
    const tag = this.#varint();
    const member = Math.floor(tag / 8);
    const last = this.#lastMember;
    if (member < last || member === 0 || (member === last && member <= knownMax && member !== repeated)) {
      this.fail(`has member ${member} after member ${last}`);
    }
    this.#lastMember = member;
    this.#wire = tag % 8;
    return member;
  }

  /** Enters the members of the current member; give the result to `leaveNested`. */
  enterNested(): number {
    if (this.#wire !== WIRE.nested) this.#failWire();
    const length = this.#length();
    const outerEnd = this.#end;
    this.#end = this.#at + length;
    this.#lastMember = 0;
    return outerEnd;
  }

  leaveNested(outerEnd: number, member: number): void {
    this.#end = outerEnd;
    this.#lastMember = member;
  }

  /** The text of the current member, whether a text or a word of the dictionary. */
  text(): string {
    switch (this.#wire) {
      case WIRE.knownWord: {
        const word = this.#words[this.#varint()];
        return word === undefined ? this.fail('refers to a word that the block does not have') : word;
      }
      case WIRE.newWord: {
        const word = this.#characters();
        this.#words.push(word);
        return word;
      }
      case WIRE.text:
        return this.#characters();
      default:
        return this.#failWire();
    }
  }

  /** The object, or the list, that the text of the current member is as JSON. */
  json(expected: 'object' | 'list'): object {
    const value = parseJson(this.text());
    const found = Array.isArray(value) ? 'list' : typeof value;
    if (value === null || found !== expected) this.fail(`has a text that is no JSON ${expected}`);
    return value as object;
  }

  number(): number {
    if (this.#wire === WIRE.varint) return this.#varint();
    if (this.#wire !== WIRE.fixed64) this.#failWire();
    const value = this.#bytes.readDoubleLE(this.#skip(8));
    return Number.isFinite(value) ? value : this.fail(`has a member that is ${value}`);
  }

  numberOrNull(): number | null {
    if (this.#wire !== WIRE.text) return this.number();
    return this.#length() === 0 ? null : this.#failWire();
  }

  flag(): boolean {
    const value = this.number();
    return value === 1 || (value === 0 ? false : this.fail(`has the flag ${value}, expected 0 or 1`));
  }

  amount(): bigint {
    return BigInt(this.#fixed64());
  }

  /** An amount as decimal text. */
  decimal(): string {
    return String(this.#fixed64());
  }

  /** Passes over a member that this version does not know; its words are in the dictionary all the same. */
  skip(depth = 0): void {
    switch (this.#wire) {
      case WIRE.varint:
        this.#varint();
        return;
      case WIRE.fixed64:
        this.#skip(8);
        return;
      case WIRE.nested: {
        if (depth === DEPTH_MAX) this.fail(`has members nested deeper than ${DEPTH_MAX}`);
        const member = this.#lastMember;
        const outerEnd = this.enterNested();
        while (this.next(0, 0) !== 0) this.skip(depth + 1);
        this.leaveNested(outerEnd, member);
        return;
      }
      default:
        this.text();
    }
  }

  fail(message: string): never {
    throw new JournalFormatError(`Frame ${this.frame} of the block ${message} (byte ${this.#at} of its body).`);
  }

  /** Most amounts are exact as a number, which is faster. */
  #fixed64(): number | bigint {
    if (this.#wire !== WIRE.fixed64) this.#failWire();
    const at = this.#skip(8);
    const high = this.#bytes.readInt32LE(at + 4);
    if (high < HIGH_MIN || high >= HIGH_MAX) return this.#bytes.readBigInt64LE(at);
    return high * TWO_32 + this.#bytes.readUInt32LE(at);
  }

  #failWire(): never {
    return this.fail(`has member ${this.#lastMember} of wire type ${this.#wire}, which it cannot be`);
  }

  #characters(): string {
    const length = this.#length();
    const bytes = this.#bytes;
    const from = this.#at;
    this.#at += length;
    for (let at = from; at < this.#at; at++) if ((bytes[at] as number) > 127) return this.#decode(from);
    return bytes.toString('latin1', from, this.#at);
  }

  #decode(from: number): string {
    try {
      return UTF_8.decode(this.#bytes.subarray(from, this.#at));
    } catch {
      return this.fail('has a text that is not UTF-8');
    }
  }

  /** The length of what follows, which lies within the members being read. */
  #length(): number {
    const length = this.#varint();
    if (length > this.#end - this.#at) this.fail(`has a member of ${length} bytes, beyond its end`);
    return length;
  }

  #varint(): number {
    let value = this.#byte();
    if (value < 128) return value;
    value -= 128;
    for (let unit = 128; ; unit *= 128) {
      const byte = this.#byte();
      value += (byte & 127) * unit;
      if (value > Number.MAX_SAFE_INTEGER) this.fail('has a number beyond 2^53');
      if (byte < 128) return value;
      if (unit > TWO_28 * TWO_28) this.fail('has a number of too many bytes');
    }
  }

  #byte(): number {
    return this.#bytes[this.#skip(1)] as number;
  }

  /** Passes over as many bytes; returns where they begin. */
  #skip(bytes: number): number {
    const at = this.#at;
    if (bytes > this.#end - at) this.fail('ends within a member');
    this.#at = at + bytes;
    return at;
  }
}

/** Null for text that is no JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
