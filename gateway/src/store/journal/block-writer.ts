/**
 * Writes frames into a growing buffer, which becomes the body of one block, with the block's dictionary of repeated
 * words. Reused from block to block: a plain frame allocates nothing but entries of the dictionary.
 */
import { ConstraintViolation } from '../ports/store-errors.ts';
import { FRAME_BYTES_MAX, WIRE } from './frame-members.ts';

/** Longer texts are written by the runtime; shorter ones are faster in a loop. */
const LOOP_CHARS_MAX = 48;
const BUFFER_BYTES = 64 * 1024;
/** A larger buffer is not kept for the next block. */
const KEPT_BYTES_MAX = 4 * 1024 * 1024;
/** A tag and a varint, or a tag and 8 bytes. */
const SCALAR_BYTES = 16;
const TWO_32 = 0x1_0000_0000;

export class BlockWriter {
  readonly #headBytes: number;
  readonly #dictionary = new Map<string, number>();
  #buffer: Buffer;
  #view: DataView;
  #at: number;
  /** Of the frame being written. */
  #frameStart = 0;
  #wordsBefore = 0;

  /** `headBytes`: kept free at the front of the buffer for the caller, such as for the block's header. */
  constructor(headBytes = 0) {
    this.#headBytes = headBytes;
    this.#at = headBytes;
    this.#buffer = Buffer.alloc(headBytes + BUFFER_BYTES);
    this.#view = new DataView(this.#buffer.buffer, this.#buffer.byteOffset);
  }

  /** Bytes written since the last reset, with the head. */
  get length(): number {
    return this.#at;
  }

  /** The head and all frames, without a copy: valid until the next call of any method that writes. */
  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#at);
  }

  /** Begins the next block, with an empty dictionary. */
  reset(): void {
    this.#at = this.#headBytes;
    this.#dictionary.clear();
    if (this.#buffer.length > KEPT_BYTES_MAX) this.#resize(this.#headBytes + BUFFER_BYTES);
  }

  beginFrame(kind: number): void {
    this.#frameStart = this.#at;
    this.#wordsBefore = this.#dictionary.size;
    this.#reserve(SCALAR_BYTES);
    this.#buffer[this.#at] = kind;
    this.#at += 3;
  }

  /** @throws ConstraintViolation `invalid` for a frame of more than 1 MiB */
  endFrame(): void {
    this.#writeLength(this.#frameStart + 1, 2);
    if (this.#at - this.#frameStart > FRAME_BYTES_MAX) throw tooLarge();
  }

  /** Takes back the frame being written: the writer is as before `beginFrame`. */
  dropFrame(): void {
    this.#at = this.#frameStart;
    for (const [word, index] of this.#dictionary) if (index >= this.#wordsBefore) this.#dictionary.delete(word);
  }

  /** Begins a member of members; give the result to `endNested`. */
  beginNested(member: number): number {
    this.#reserve(SCALAR_BYTES);
    this.#writeTag(member, WIRE.nested);
    this.#at += 1;
    return this.#at;
  }

  endNested(start: number): void {
    this.#writeLength(start - 1, 1);
  }

  /** Unpaired surrogates become U+FFFD. Null is left out. */
  writeText(member: number, text: string | null): void {
    if (text === null) return;
    this.#reserve(SCALAR_BYTES);
    this.#writeTag(member, WIRE.text);
    this.#writeCharacters(text);
  }

  /** As `writeText`; a text that the block has already takes one or two bytes. */
  writeWord(member: number, word: string | null): void {
    if (word === null) return;
    this.#reserve(SCALAR_BYTES);
    const index = this.#dictionary.get(word);
    if (index !== undefined) {
      this.#writeTag(member, WIRE.knownWord);
      this.#writeVarint(index);
      return;
    }
    this.#writeTag(member, WIRE.newWord);
    this.#writeCharacters(word);
    this.#dictionary.set(word, this.#dictionary.size);
  }

  /** Zero is left out. @throws ConstraintViolation `invalid` for a number that is not finite */
  writeCount(member: number, count: number): void {
    if (count !== 0) this.writeNumber(member, count);
  }

  /** Any finite number; null is written, undefined left out. -0 becomes 0. @throws ConstraintViolation as `writeCount` */
  writeNumber(member: number, value: number | null | undefined): void {
    if (value === undefined) return;
    this.#reserve(SCALAR_BYTES);
    if (value === null) {
      this.#writeTag(member, WIRE.text);
      this.#put(0);
    } else if (value >= 0 && Number.isSafeInteger(value)) {
      this.#writeTag(member, WIRE.varint);
      this.#writeVarint(value);
    } else {
      if (!Number.isFinite(value)) throw invalid(`A member is ${value}, expected a number.`);
      this.#writeTag(member, WIRE.fixed64);
      this.#view.setFloat64(this.#at, value, true);
      this.#at += 8;
    }
  }

  /** False is left out. */
  writeFlag(member: number, flag: boolean): void {
    if (flag) this.writeNumber(member, 1);
  }

  /** Null is left out, zero is written. @throws ConstraintViolation `invalid` beyond 64 bits */
  writeAmount(member: number, amount: bigint | null): void {
    if (amount === null) return;
    this.#reserve(SCALAR_BYTES);
    this.#writeTag(member, WIRE.fixed64);
    const near = Number(amount);
    if (Number.isSafeInteger(near)) this.#writeSafeAmount(near);
    else {
      if (BigInt.asIntN(64, amount) !== amount) throw invalid(`The amount ${amount} is beyond 64 bits.`);
      this.#view.setBigInt64(this.#at, amount, true);
      this.#at += 8;
    }
  }

  /** An amount as decimal text; null is left out. @throws ConstraintViolation `invalid` beyond 64 bits, or for other text */
  writeDecimal(member: number, text: string | null): void {
    if (text === null) return;
    const near = parseShortDecimal(text);
    if (near === null) {
      if (!DECIMAL.test(text)) throw invalid('A cost is no decimal number.');
      this.writeAmount(member, BigInt(text));
      return;
    }
    this.#reserve(SCALAR_BYTES);
    this.#writeTag(member, WIRE.fixed64);
    this.#writeSafeAmount(near);
  }

  #writeSafeAmount(amount: number): void {
    const high = Math.floor(amount / TWO_32);
    this.#view.setUint32(this.#at, amount - high * TWO_32, true);
    this.#view.setInt32(this.#at + 4, high, true);
    this.#at += 8;
  }

  #writeTag(member: number, wire: number): void {
    this.#writeVarint((member << 3) | wire);
  }

  #writeVarint(value: number): void {
    let rest = value;
    while (rest >= TWO_32) {
      this.#put((rest % 128) | 128);
      rest = Math.floor(rest / 128);
    }
    for (; rest >= 128; rest >>>= 7) this.#put((rest & 127) | 128);
    this.#put(rest);
  }

  #put(byte: number): void {
    this.#buffer[this.#at] = byte;
    this.#at += 1;
  }

  #writeCharacters(text: string): void {
    const length = text.length;
    this.#reserve(length * 3 + SCALAR_BYTES);
    if (length <= LOOP_CHARS_MAX) {
      const buffer = this.#buffer;
      const start = this.#at + 1;
      let index = 0;
      for (; index < length; index++) {
        const unit = text.charCodeAt(index);
        if (unit > 127) break;
        buffer[start + index] = unit;
      }
      if (index === length) {
        buffer[this.#at] = length;
        this.#at = start + length;
        return;
      }
    }
    this.#writeVarint(Buffer.byteLength(text, 'utf8'));
    this.#at += this.#buffer.write(text, this.#at, 'utf8');
  }

  /** Writes the length of what follows `at + reserved` as a varint at `at`, and moves what follows if it takes other than `reserved` bytes. */
  #writeLength(at: number, reserved: number): void {
    const from = at + reserved;
    const length = this.#at - from;
    const needed = length < 128 ? 1 : length < 16_384 ? 2 : length < 2_097_152 ? 3 : 4;
    const end = this.#at + needed - reserved;
    if (needed !== reserved) {
      this.#reserve(SCALAR_BYTES);
      this.#buffer.copyWithin(at + needed, from, this.#at);
    }
    this.#at = at;
    this.#writeVarint(length);
    this.#at = end;
  }

  #reserve(bytes: number): void {
    const needed = this.#at + bytes;
    if (needed <= this.#buffer.length) return;
    // Three times the characters of a text is a bound that text of one byte each does not reach.
    if (needed - this.#frameStart > FRAME_BYTES_MAX * 4) throw tooLarge();
    this.#resize(Math.max(needed, this.#buffer.length * 2));
  }

  #resize(bytes: number): void {
    const larger = Buffer.alloc(bytes);
    this.#buffer.copy(larger, 0, 0, this.#at);
    this.#buffer = larger;
    this.#view = new DataView(larger.buffer, larger.byteOffset);
  }
}

const DECIMAL = /^(0|-?[1-9][0-9]{0,18})$/;

/** The number that at most 15 digits without a leading zero stand for; null for any other text. */
function parseShortDecimal(text: string): number | null {
  const length = text.length;
  if (length > 15 || length === 0) return null;
  let value = 0;
  for (let index = 0; index < length; index++) {
    const digit = text.charCodeAt(index) - 48;
    if (digit < 0 || digit > 9) return null;
    value = value * 10 + digit;
  }
  return text.charCodeAt(0) === 48 && length > 1 ? null : value;
}

function invalid(message: string): ConstraintViolation {
  return new ConstraintViolation('invalid', message);
}

function tooLarge(): ConstraintViolation {
  return invalid(`A frame of the journal takes at most ${FRAME_BYTES_MAX} bytes.`);
}
