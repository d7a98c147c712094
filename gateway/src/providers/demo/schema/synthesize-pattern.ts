/** Owns the writing of a text that a regular expression accepts. It never runs the expression, which a caller wrote. */

/** Where the reading of one pattern stands. `written` holds back runaway repetition. */
interface Reading {
  readonly pattern: string;
  readonly lengthMax: number;
  at: number;
}

class Unsupported extends Error {}

const CLASSES: Readonly<Record<string, string>> = { d: '1', w: 'a', s: ' ', D: 'a', W: '-', S: 'a' };
const ESCAPED_CONTROLS: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', f: '\f', v: '\v', '0': '\0' };
/** What a dot or a negated class is answered with: the first of these that fits. */
const SAMPLES = ['a', '1', 'A', '-', ' ', '_', '.', '~', 'é'];

/**
 * A text that matches, or null where the pattern uses more than literals, classes, groups, alternatives and repetition
 * (no look-around, no references back, no Unicode properties), or where the text would be longer than `lengthMax`.
 * An expression without anchors accepts a text that matches it whole, so anchors need no care at the two ends.
 */
export function synthesizePattern(pattern: string, lengthMax: number): string | null {
  const reading: Reading = { pattern, lengthMax, at: 0 };
  try {
    const text = readAlternatives(reading, 0);
    return reading.at === pattern.length ? text : null;
  } catch (problem) {
    if (problem instanceof Unsupported) return null;
    throw problem;
  }
}

/** Reads up to `)` or the end; the first alternative is the one that is written. */
function readAlternatives(reading: Reading, depth: number): string {
  if (depth > 20) throw new Unsupported();
  const first = readSequence(reading, depth);
  while (reading.pattern[reading.at] === '|') {
    reading.at++;
    readSequence(reading, depth);
  }
  return first;
}

function readSequence(reading: Reading, depth: number): string {
  let text = '';
  while (reading.at < reading.pattern.length && !'|)'.includes(reading.pattern[reading.at] ?? '')) {
    const isFirst = reading.at === 0 || '(|:'.includes(reading.pattern[reading.at - 1] ?? '');
    const atom = readAtom(reading, depth, isFirst);
    text += repeat(atom, readRepetition(reading), reading.lengthMax);
    if (text.length > reading.lengthMax) throw new Unsupported();
  }
  return text;
}

function readAtom(reading: Reading, depth: number, isFirst: boolean): string {
  const character = take(reading);
  if (character === '^' && isFirst) return '';
  if (character === '$' && isSequenceEnd(reading)) return '';
  if (character === '.') return 'a';
  if (character === '[') return readClass(reading);
  if (character === '\\') return readEscape(reading);
  if ('^$*+?{}])'.includes(character)) throw new Unsupported();
  if (character !== '(') return character;
  if (reading.pattern[reading.at] === '?') readGroupKind(reading);
  const text = readAlternatives(reading, depth + 1);
  if (take(reading) !== ')') throw new Unsupported();
  return text;
}

function isSequenceEnd({ pattern, at }: Reading): boolean {
  return at === pattern.length || pattern[at] === ')' || pattern[at] === '|';
}

/** Only groups that do not look around: `(?:…)` and `(?<name>…)`. */
function readGroupKind(reading: Reading): void {
  const kind = /^\?(?::|<[A-Za-z_]\w*>)/.exec(reading.pattern.slice(reading.at, reading.at + 80));
  if (kind === null) throw new Unsupported();
  reading.at += kind[0].length;
}

function readEscape(reading: Reading): string {
  const character = take(reading);
  const known = CLASSES[character] ?? ESCAPED_CONTROLS[character];
  if (known !== undefined) return known;
  if (/[A-Za-z1-9]/.test(character)) throw new Unsupported();
  return character;
}

/** One character of a class; of a negated one, a sample that stands outside it. */
function readClass(reading: Reading): string {
  const isNegated = reading.pattern[reading.at] === '^';
  if (isNegated) reading.at++;
  const ranges: [low: string, high: string][] = [];
  for (let next = take(reading); next !== ']'; next = take(reading)) {
    const escaped = next === '\\' ? (reading.pattern[reading.at] ?? '') : '';
    const low = next === '\\' ? readEscape(reading) : next;
    if (isNegated && Object.hasOwn(CLASSES, escaped)) throw new Unsupported();
    const isRange = reading.pattern[reading.at] === '-' && reading.pattern[reading.at + 1] !== ']';
    if (isRange && !Object.hasOwn(CLASSES, escaped)) {
      reading.at++;
      const end = take(reading);
      ranges.push([low, end === '\\' ? readEscape(reading) : end]);
    } else ranges.push([low, low]);
  }
  const chosen = isNegated
    ? SAMPLES.find((sample) => !ranges.some(([low, high]) => sample >= low && sample <= high))
    : ranges[0]?.[0];
  if (chosen === undefined) throw new Unsupported();
  return chosen;
}

/** How often the atom before is written: the least that is allowed, and once where none and many are. */
function readRepetition(reading: Reading): number {
  const mark = /^(?:[*+?]|\{(\d{1,6})(?:,(\d{0,6}))?\})\??/.exec(reading.pattern.slice(reading.at, reading.at + 20));
  if (mark === null) return 1;
  reading.at += mark[0].length;
  if (mark[1] === undefined) return 1;
  const least = Number(mark[1]);
  const most = mark[2] === undefined ? least : mark[2] === '' ? Number.MAX_SAFE_INTEGER : Number(mark[2]);
  return Math.min(Math.max(least, 1), most);
}

function repeat(text: string, times: number, lengthMax: number): string {
  if (text.length * times > lengthMax) throw new Unsupported();
  return text.repeat(times);
}

function take(reading: Reading): string {
  const character = reading.pattern[reading.at++];
  if (character === undefined) throw new Unsupported();
  return character;
}
