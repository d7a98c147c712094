/**
 * Generates JSON texts, valid and broken ones, for comparing two scanners: random values, changed bodies of clients,
 * soups of tokens and bytes, and texts at the limits. The same seed and bodies give the same texts.
 */
import { DEFAULT_JSON_SCAN_LIMITS, type JsonScanLimits } from '../json-limits.ts';

/** A text and the limits under which to scan it. */
export interface GeneratedText {
  readonly bytes: Uint8Array;
  readonly limits: JsonScanLimits;
}

/** In all texts one character is one byte, so that a piece of text can be any bytes. */
const CHARACTERS = ['é', 'ß', '\u07ff', '€', '人', '\ud7ff', '\uffff', '😀', '\u{10ffff}'].map(inBytes);
const ESCAPES = ['\\"', '\\\\', '\\/', '\\b', '\\f', '\\n', '\\r', '\\t', '\\u0041', '\\u00e9', '\\uD83D\\ude00'];
const LONE_SURROGATES = ['\\ud800', '\\uDFFF', '\\ude00\\ud83d', '\\ud83d\\u0041'];
const NO_STRING = ['\x00', '\x1f', '\n', '\\x', '\\u12g4', '\\u123', '\\U0041', '\\', '\\u', '\\\n', '\\u00"'];
const NO_UTF8 = [
  ...['\x80', '\xbf', '\xc0\x80', '\xc1\xbf', '\xc3', '\xc3(', '\xe0\x80\x80', '\xe0\x9f\xbf', '\xe2\x82', '\xe2(\xa1'],
  ...['\xed\xa0\x80', '\xed\xbf\xbf', '\xf0\x80\x80\x80', '\xf0\x8f\xbf\xbf', '\xf0\x9f\x98', '\xf4\x90\x80\x80'],
  ...['\xf5\x80\x80\x80', '\xf8\x88\x80\x80\x80', '\xfe', '\xff', '\xef\xbb\xbf'],
];
const NUMBERS = ['0', '-0', '1', '10', '-12.5', '0.0', '1e2', '1E+2', '-1.50e-03', '9007199254740993', '1e999', '0e0'];
const NO_NUMBERS = [
  '01',
  '-',
  '+1',
  '.5',
  '1.',
  '1.e1',
  '1e',
  '1e+',
  '--1',
  '0x1',
  'NaN',
  '1_0',
  '1-',
  '00',
  '-a',
  '1e1.5',
];
const WORDS = ['true', 'false', 'null'];
const NO_WORDS = [
  'tru',
  'True',
  'truee',
  'nul',
  'nulll',
  'fals',
  'falsy',
  'undefined',
  'n',
  't1',
  'true1',
  'truefalse',
];
const KEYS = [
  'a',
  'b',
  'ab',
  'model',
  '__proto__',
  '',
  'messages',
  'content',
  'role',
  'type',
  inBytes('é'),
  inBytes('😀'),
];
const KEYS_WITH_ESCAPES = [
  '\\u0061',
  '\\u0062',
  'a\\u0062',
  '\\ud83d\\ude00',
  '\\ud800',
  '\\uD800',
  '\\u00e9',
  '\\n',
  '\\"',
];
const BLANKS = [' ', '\n', '\t', '\r', '\r\n  ', '        '];
const TOKENS = [
  ...['{', '}', '[', ']', ':', ',', '"', '\\', '\\"', '\\\\', '{}', '[]', '"a":', '"",', ' ', '\n', '0', '1', '-', '.'],
  ...[
    'e',
    'E',
    '+',
    'true',
    'false',
    'null',
    'tr',
    'u',
    '\\u00',
    '\x01',
    '\x0c',
    '\x1a',
    '\x7f',
    '\x80',
    '\xc3\xa9',
    '/',
  ],
];
/** Lengths that end near a border of 16 or 64 bytes. */
const BORDERS = [14, 15, 16, 17, 30, 31, 32, 33, 47, 48, 61, 62, 63, 64, 65, 66, 79, 126, 127, 128, 129, 130, 192];
const LARGE_BYTES = 1024 * 1024;

export class JsonTexts {
  readonly #bodies: readonly string[];
  #state: number;
  /** Whether strings, numbers and words of the present text may be broken. */
  #mayBreak = false;

  /** `bodies`: what clients sent, which some texts are changed copies of. */
  constructor(seed: number, bodies: readonly Uint8Array[]) {
    this.#state = seed >>> 0;
    this.#bodies = bodies.map((body) => Buffer.from(body).toString('latin1'));
  }

  next(): GeneratedText {
    this.#mayBreak = this.#below(4) === 0;
    const text = this.#text();
    const shift = this.#below(8);
    const bytes = new Uint8Array(shift + text.length);
    bytes.set(Buffer.from(text, 'latin1'), shift);
    return { bytes: bytes.subarray(shift), limits: this.#limits() };
  }

  #limits(): JsonScanLimits {
    const kind = this.#below(8);
    if (kind > 2) return DEFAULT_JSON_SCAN_LIMITS;
    if (kind === 0) return { ...DEFAULT_JSON_SCAN_LIMITS, depthMax: 1_000, outlineDepth: this.#below(70) };
    return {
      depthMax: this.#below(7),
      keysPerObjectMax: 1 + this.#below(5),
      keyBytesMax: this.#below(10),
      outlineDepth: this.#below(6),
      outlineNodesMax: 1 + this.#below(40),
    };
  }

  #text(): string {
    const kind = this.#below(1_000);
    if (kind < 400) return this.#blank() + this.#value(0) + this.#blank();
    if (kind < 600) return this.#changed(this.#blank() + this.#value(0));
    if (kind < 750) return this.#changed(this.#pick(this.#bodies));
    if (kind < 850) return this.#many(60, () => this.#pick(TOKENS));
    if (kind < 880) return this.#many(40, () => String.fromCharCode(this.#below(256)));
    if (kind < 910) return this.#deep();
    if (kind < 960) return this.#keys();
    if (kind < 998) return this.#strings();
    return this.#large();
  }

  #value(depth: number): string {
    const kind = this.#below(depth > 6 ? 6 : 10);
    if (kind < 3) return `"${this.#string()}"`;
    if (kind === 3) return this.#mayBreak && this.#below(8) === 0 ? this.#pick(NO_NUMBERS) : this.#number();
    if (kind < 6) return this.#mayBreak && this.#below(9) === 0 ? this.#pick(NO_WORDS) : this.#pick(WORDS);
    const isObject = kind < 8;
    const items: string[] = [];
    for (let left = this.#below(5); left > 0; left--) {
      const value = this.#blank() + this.#value(depth + 1) + this.#blank();
      items.push(isObject ? `${this.#blank()}"${this.#key()}"${this.#blank()}:${value}` : value);
    }
    const inner = items.length === 0 ? this.#blank() : items.join(',');
    return isObject ? `{${inner}}` : `[${inner}]`;
  }

  #key(): string {
    const kind = this.#below(20);
    if (kind === 0) return this.#pick(KEYS_WITH_ESCAPES);
    if (kind === 1) return this.#string();
    return kind < 12 ? this.#pick(KEYS) : this.#name(1 + this.#below(12));
  }

  #string(): string {
    let text = '';
    for (let left = this.#below(6); left > 0; left--) text += this.#piece();
    return text;
  }

  #piece(): string {
    const kind = this.#below(16);
    if (this.#mayBreak && kind === 0) return this.#pick(this.#below(2) === 0 ? NO_STRING : NO_UTF8);
    if (kind < 3) return this.#pick(CHARACTERS);
    if (kind < 5) return this.#pick(ESCAPES);
    if (kind === 5) return this.#pick(LONE_SURROGATES);
    if (kind === 6) return '\\\\'.repeat(this.#below(40));
    if (kind === 7) return this.#name(this.#pick(BORDERS));
    if (kind === 8) return this.#pick(['{', '}', '[,]', ':', '\x7f', ' ', '//', "'"]);
    return this.#name(this.#below(12));
  }

  #number(): string {
    if (this.#below(3) > 0) return this.#pick(NUMBERS);
    const digits = () => this.#many(12, () => String(this.#below(10)));
    const exponent = this.#below(2) === 0 ? '' : `${this.#pick(['e', 'E', 'e-', 'E+'])}${this.#below(400)}`;
    return `${this.#pick(['', '-'])}${this.#below(1_000)}${this.#below(2) === 0 ? '' : `.1${digits()}`}${exponent}`;
  }

  #blank(): string {
    const kind = this.#below(24);
    if (kind > 3) return '';
    return kind === 0 ? ' '.repeat(this.#below(130)) : this.#pick(BLANKS);
  }

  /** One to three bytes or tokens of the text set, removed, added or doubled. */
  #changed(source: string): string {
    let text = source;
    for (let left = 1 + this.#below(3); left > 0; left--) {
      const at = this.#below(text.length + 1);
      const end = at + this.#below(this.#below(4) === 0 ? 200 : 4);
      const kind = this.#below(6);
      const added = kind === 0 ? String.fromCharCode(this.#below(256)) : this.#pick(TOKENS);
      if (kind < 3) text = text.slice(0, at) + added + text.slice(end);
      else if (kind === 3) text = text.slice(0, at) + added + text.slice(at);
      else if (kind === 4) text = text.slice(0, end) + text.slice(at);
      else text = this.#below(8) === 0 ? text.slice(0, at) : text.slice(0, at) + this.#blank() + text.slice(at);
    }
    return text;
  }

  /** Nested up to and beyond the limits, often closed by the wrong brackets. */
  #deep(): string {
    const opening = Array.from({ length: this.#pick([3, 60, 64, 65, 66, 250, 255, 256, 257]) }, () =>
      this.#below(2) === 0 ? '[' : '{"a":',
    );
    const closing: string[] = opening.map((open) => (open === '[' ? ']' : '}')).reverse();
    if (this.#below(3) === 0) closing[this.#below(closing.length)] = this.#pick([']', '}', '']);
    return `${opening.join('')}${this.#pick(['1', '[]', '{}', '"x"'])}${closing.join('')}`;
  }

  /** An object of many keys, or of long ones, in which one may come twice. */
  #keys(): string {
    const bytes = this.#below(12) === 0 ? this.#pick(BORDERS) : this.#below(12);
    const count = this.#below(40) === 0 ? this.#pick([127, 128, 129, 9_999, 10_000, 10_001]) : this.#below(30);
    const start = this.#name(bytes);
    const keys = Array.from({ length: count }, (_, index) => `${start}${index}`);
    if (this.#below(2) === 0 && count > 0) {
      const again = keys[this.#below(count)] as string;
      keys[this.#below(count)] = this.#below(3) === 0 ? escapeFirst(again) : again;
    }
    const members = keys.map((key) => `"${key}":${this.#below(3) === 0 ? '{"k0":1,"k1":[{}]}' : '0'}`);
    const object = `{${members.join(',')}}`;
    return this.#below(2) === 0 ? object : `${this.#blank()}[{"k0":${object},"k1":${object}}]`;
  }

  /** Strings of runs of backslashes and of plain characters, which end at any place of a block. */
  #strings(): string {
    const parts = Array.from({ length: 1 + this.#below(6) }, () => {
      const run = '\\'.repeat(this.#below(6) === 0 ? this.#below(140) : 2 * this.#below(5));
      const broken = this.#mayBreak ? this.#pick(NO_STRING) + this.#name(this.#below(130)) : '';
      return `"${this.#name(this.#below(70))}${run}${broken}"`;
    });
    return `${' '.repeat(this.#below(66))}[${parts.join(this.#pick([',', ', ', ' ,\n']))}]`;
  }

  /** About as large as the scan at once takes: in bytes, in values, in quotes and signs. */
  #large(): string {
    const more = this.#below(5) - 2;
    const kind = this.#below(4);
    if (kind === 0) return `["${'x'.repeat(LARGE_BYTES - 4 + more)}"]`;
    if (kind === 1) return `[${'1,'.repeat(32_766 + more)}1]`;
    if (kind === 2) return `[[[[[[[${'1,'.repeat(65_528 + more)}1]]]]]]]`;
    const body = this.#pick(this.#bodies);
    return this.#changed(`[${Array.from({ length: Math.ceil(150_000 / (body.length + 1)) }, () => body).join(',')}]`);
  }

  #name(length: number): string {
    let text = '';
    for (let left = length; left > 0; left--) text += String.fromCharCode(97 + this.#below(26));
    return text;
  }

  #many(countMax: number, piece: () => string): string {
    let text = '';
    for (let left = this.#below(countMax); left > 0; left--) text += piece();
    return text;
  }

  #pick<Item>(items: readonly Item[]): Item {
    return items[this.#below(items.length)] as Item;
  }

  /** A number from 0 below `limit`: the generator mulberry32. */
  #below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  }
}

function inBytes(character: string): string {
  return Buffer.from(character).toString('latin1');
}

/** The same key with its first character as an escape. */
function escapeFirst(key: string): string {
  return key === '' ? key : `\\u${key.charCodeAt(0).toString(16).padStart(4, '0')}${key.slice(1)}`;
}
