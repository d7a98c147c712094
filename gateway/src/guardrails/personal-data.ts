/**
 * Finds personal data: addresses and numbers whose form, and where they have one whose checksum, is right. Every pattern
 * has a bounded length and one way to match.
 */
import { isIPv6 } from 'node:net';
import { type DetectorName, labelOf } from './detectors.ts';
import {
  charClass,
  isAfterEscapeInText,
  isIn,
  type Match,
  type Matcher,
  notAfter,
  runEnd,
  tailRun,
} from './matcher.ts';

interface Pattern {
  readonly detector: DetectorName;
  /** The characters that do not come before a match, unless they end an escape. */
  readonly notAfter: RegExp;
  readonly pattern: RegExp;
  /** What every match begins with, perhaps cut by the end of the text. */
  readonly begin: RegExp;
  /** All characters of a match, and those that decide whether it ends. */
  readonly of: RegExp;
  readonly lengthMax: number;
  /** The end of the match; -1: there is no match. Absent: where the pattern ends. */
  readonly accept?: (text: string, start: number, end: number) => number;
}

const PATTERNS: readonly Pattern[] = [
  // https://www.itu.int/rec/T-REC-E.164 (2026-11-28): at most 15 digits
  {
    detector: 'phone',
    notAfter: /[\w+]/,
    pattern: /\+[1-9](?:[ ().-]{0,2}\d){6,14}(?!\d)/,
    begin: /\+/,
    of: /[+\d ().-]/,
    lengthMax: 48,
  },
  // https://www.nanpa.com/numbering (2026-11-28)
  {
    detector: 'phone',
    notAfter: /[\w.+-]/,
    pattern: /(?:\([2-9]\d{2}\) ?|[2-9]\d{2}[ .-])[2-9]\d{2}[ .-]\d{4}(?![\w-])/,
    begin: /[(2-9]/,
    of: /[\w ().-]/,
    lengthMax: 16,
  },
  {
    detector: 'credit_card',
    notAfter: /\d/,
    pattern: /\d{13,19}(?!\d)/,
    begin: /\d/,
    of: /\d/,
    lengthMax: 20,
    accept: acceptCard,
  },
  {
    detector: 'credit_card',
    notAfter: /\d/,
    pattern: /\d{4}([ -])\d{4}\1\d{4}\1\d{4}(?!\d)/,
    begin: /\d/,
    of: /[\d -]/,
    lengthMax: 24,
    accept: acceptCard,
  },
  {
    detector: 'credit_card',
    notAfter: /\d/,
    pattern: /3\d{3}([ -])\d{6}\1\d{4,5}(?!\d)/,
    begin: /\d/,
    of: /[\d -]/,
    lengthMax: 24,
    accept: acceptCard,
  },
  {
    detector: 'iban',
    notAfter: /[A-Za-z0-9]/,
    pattern: /[A-Z]{2}\d{2} ?[A-Z0-9]{4}/,
    begin: /[A-Z](?:$|[A-Z](?:$|\d(?:$|\d)))/,
    of: /[A-Za-z0-9 ]/,
    lengthMax: 48,
    accept: acceptIban,
  },
  {
    detector: 'ip_address',
    notAfter: /[\w.]/,
    pattern: /(?:\d{1,3}\.){3}\d{1,3}(?!\w|\.\d)/,
    begin: /\d/,
    of: /[\w.]/,
    lengthMax: 20,
    accept: acceptIp4,
  },
  {
    detector: 'ip_address',
    notAfter: /[\w:.]/,
    pattern: /(?:[0-9A-Fa-f]{0,4}:){3,7}[0-9A-Fa-f]{0,4}(?![\w:])/,
    begin: /[0-9A-Fa-f:]/,
    of: /[\w:]/,
    lengthMax: 48,
    accept: acceptIp6,
  },
  // https://www.ssa.gov/employer/randomization.html (2026-11-28)
  {
    detector: 'us_ssn',
    notAfter: /[\w-]/,
    pattern: /(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\w-])/,
    begin: /\d/,
    of: /[\w-]/,
    lengthMax: 16,
  },
];

export function personalDataMatchers(detectors: ReadonlySet<DetectorName>): Matcher[] {
  const patterns = PATTERNS.filter(({ detector }) => detectors.has(detector)).map(
    (pattern) => new PatternMatcher(pattern),
  );
  return detectors.has('email') ? [new EmailMatcher(), ...patterns] : patterns;
}

class PatternMatcher implements Matcher {
  readonly #parts: Pattern;
  readonly #pattern: RegExp;
  readonly #begin: RegExp;
  readonly #of: Uint8Array;

  constructor(parts: Pattern) {
    const before = notAfter(parts.notAfter);
    this.#parts = parts;
    this.#pattern = new RegExp(before + parts.pattern.source, 'g');
    this.#begin = new RegExp(before + parts.begin.source, 'g');
    this.#of = charClass(parts.of);
  }

  find(text: string, from: number, found: Match[]): void {
    const { detector: name, accept } = this.#parts;
    const pattern = this.#pattern;
    pattern.lastIndex = from;
    for (let at = pattern.exec(text); at !== null; at = pattern.exec(text)) {
      const start = at.index;
      const matchEnd = start + at[0].length;
      const end = accept === undefined ? matchEnd : accept(text, start, matchEnd);
      if (end !== -1) found.push({ start, end, name, label: labelOf(name), isTooLong: false });
      pattern.lastIndex = end === -1 ? start + 1 : end;
    }
  }

  openFrom(text: string, from: number): number {
    const begin = this.#begin;
    begin.lastIndex = tailRun(text, from, this.#of, this.#parts.lengthMax);
    return begin.exec(text)?.index ?? text.length;
  }
}

const LOCAL = charClass(/[A-Za-z0-9._%+'-]/);
const DOMAIN = charClass(/[A-Za-z0-9.-]/);
const ADDRESS = charClass(/[A-Za-z0-9._%+'@-]/);
/** https://www.rfc-editor.org/rfc/rfc5321#section-4.5.3.1 (2026-11-28) */
const LOCAL_LENGTH_MAX = 64;
const DOMAIN_LENGTH_MAX = 255;
const DOMAIN_NAME = /^(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,32}[A-Za-z]{2,63}/;

class EmailMatcher implements Matcher {
  find(text: string, from: number, found: Match[]): void {
    let least = from;
    for (let at = text.indexOf('@', from); at !== -1; at = text.indexOf('@', at + 1)) {
      let start = at;
      const first = Math.max(least, at - LOCAL_LENGTH_MAX);
      while (start > first && isIn(LOCAL, text.charCodeAt(start - 1)) && !isAfterEscapeInText(text, start)) start -= 1;
      if (start === at) continue;
      const run = text.slice(at + 1, runEnd(text, at + 1, DOMAIN, DOMAIN_LENGTH_MAX));
      const domain = DOMAIN_NAME.exec(run);
      if (domain === null) continue;
      const end = at + 1 + domain[0].length;
      found.push({ start, end, name: 'email', label: labelOf('email'), isTooLong: false });
      least = end;
    }
  }

  openFrom(text: string, from: number): number {
    return tailRun(text, from, ADDRESS, LOCAL_LENGTH_MAX + 1 + DOMAIN_LENGTH_MAX);
  }
}

/** Ranges and lengths of issuers: https://www.iso.org/standard/70484.html, as their networks publish them (2026-11-28). */
const CARDS: readonly RegExp[] = [
  /^4(?:\d{12}|\d{15}|\d{18})$/,
  /^(?:5[1-5]\d{2}|222[1-9]|22[3-9]\d|2[3-6]\d{2}|27[01]\d|2720)\d{12}$/,
  /^3[47]\d{13}$/,
  /^3(?:0[0-5]|[689]\d)\d{11}$/,
  /^(?:6011|64[4-9]\d|65\d{2})\d{12}$/,
  /^35(?:2[89]|[3-8]\d)\d{12}$/,
  /^62\d{14,17}$/,
];

function acceptCard(text: string, start: number, end: number): number {
  const digits = text.slice(start, end).replace(/\D/g, '');
  return CARDS.some((card) => card.test(digits)) && hasLuhnDigit(digits) ? end : -1;
}

/** ISO/IEC 7812-1, annex B. */
function hasLuhnDigit(digits: string): boolean {
  let sum = 0;
  for (let index = 0; index < digits.length; index++) {
    const digit = digits.charCodeAt(digits.length - 1 - index) - 0x30;
    const value = index % 2 === 0 ? digit : digit * 2;
    sum += value > 9 ? value - 9 : value;
  }
  return sum % 10 === 0;
}

/** https://www.swift.com/standards/data-standards/iban-international-bank-account-number (2026-11-28) */
const IBAN_LENGTHS: ReadonlyMap<string, number> = new Map(
  (
    'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ' +
    'ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 ' +
    'LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 ' +
    'PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30'
  )
    .split(' ')
    .map((row) => [row.slice(0, 2), Number(row.slice(2))]),
);
const WORD = charClass(/[A-Za-z0-9]/);
const IBAN_CHARS = charClass(/[A-Z0-9]/);

function acceptIban(text: string, start: number): number {
  const length = IBAN_LENGTHS.get(text.slice(start, start + 2));
  if (length === undefined) return -1;
  let chars = '';
  let end = start;
  while (chars.length < length && end < text.length) {
    const code = text.charCodeAt(end);
    if (isIn(IBAN_CHARS, code)) chars += text[end];
    else if (code !== 0x20 || text.charCodeAt(end - 1) === 0x20) return -1;
    end += 1;
  }
  if (chars.length < length || isIn(WORD, text.charCodeAt(end))) return -1;
  // ISO 13616: 97 divides the number that it is, with the first four characters last, less 1.
  let rest = 0;
  for (const char of chars.slice(4) + chars.slice(0, 4)) {
    const value = Number.parseInt(char, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1 ? end : -1;
}

function acceptIp4(text: string, start: number, end: number): number {
  const parts = text.slice(start, end).split('.');
  const isAddress = parts.every((part) => Number(part) <= 255 && (part === '0' || !part.startsWith('0')));
  return isAddress && parts[0] !== '0' && parts[0] !== '127' ? end : -1;
}

/** Names of code, such as `a::b`, have no digit or fewer parts. */
function acceptIp6(text: string, start: number, end: number): number {
  const address = text.slice(start, end);
  return isIPv6(address) && /\d/.test(address) && address.replace(/[:0]/g, '') !== '1' ? end : -1;
}
