/**
 * Generates strings and numbers that fit a schema's format, pattern, length and bounds, from the user's message if
 * possible.
 */
import type { JsonObject } from '../protocols/json.ts';
import { refuseMember } from '../protocols/request/translation-notes.ts';
import type { Material } from './excerpt.ts';

export interface SynthesisRequest {
  /** The user's message, the source of values. */
  readonly material: Material;
  /** The member of the request that holds the schema, for refusals. */
  readonly member: string;
  /** An answer promises to fit, so an unsatisfiable rule is refused. Tool arguments ignore such rules. */
  readonly mustFit: boolean;
}

/** Greater lengths are refused: the demo model does not fill memory on request. */
const LENGTH_MAX = 10_000;

/** An example of each format; the two-digit number keeps several of them distinct. */
const FORMATS: ReadonlyMap<unknown, (n: string) => string> = new Map([
  ['date-time', (n) => `2026-01-${n}T12:00:00Z`],
  ['date', (n) => `2026-01-${n}`],
  ['time', (n) => `12:${n}:00Z`],
  ['duration', (n) => `PT${n}M`],
  ['email', (n) => `person${n}@example.com`],
  ['hostname', (n) => `host${n}.example.com`],
  ['ipv4', (n) => `192.0.2.1${n}`],
  ['ipv6', (n) => `2001:db8::${n}`],
  ['uri', (n) => `https://example.com/${n}`],
  ['uuid', (n) => `00000000-0000-4000-8000-0000000000${n}`],
]);

/** A string for the member `name`. */
export function synthesizeString(schema: JsonObject, request: SynthesisRequest, name: string): string {
  const { material, member, mustFit } = request;
  const { pattern, minLength, maxLength } = schema;
  const format = FORMATS.get(schema.format);
  if (format !== undefined) return format(String((material.ordinal++ % 28) + 1).padStart(2, '0'));
  if (typeof pattern === 'string') {
    const written = writePattern(pattern);
    if (written !== null) return written;
    const shown = JSON.stringify(pattern.slice(0, 80));
    if (mustFit) throw refuseMember(member, `found the pattern ${shown}, which the demo model cannot write to`);
  }
  const least = typeof minLength === 'number' ? Math.ceil(minLength) : 0;
  const most = Math.min(typeof maxLength === 'number' ? maxLength : LENGTH_MAX, LENGTH_MAX);
  if (least > most) throw refuseMember(member, `found minLength ${least}; expected at most ${most}`);
  const characters = Array.from(material.takePhrase(name)).slice(0, most);
  return characters.join('') + '.'.repeat(Math.max(0, least - characters.length));
}

const NUMBER_RULES: Readonly<Record<string, (value: number, bound: number) => boolean>> = {
  minimum: (value, bound) => value >= bound,
  maximum: (value, bound) => value <= bound,
  exclusiveMinimum: (value, bound) => value > bound,
  exclusiveMaximum: (value, bound) => value < bound,
  multipleOf: (value, unit) => unit <= 0 || Number.isInteger(value / unit),
};

/** A number of the message that fits, else 1 or a number near the bounds. */
export function synthesizeNumber(schema: JsonObject, request: SynthesisRequest, isInteger: boolean): number {
  const rules = Object.entries(NUMBER_RULES).flatMap(([keyword, keeps]) => {
    const bound = schema[keyword];
    return typeof bound === 'number' ? [{ bound, keeps }] : [];
  });
  const fits = (value: number) =>
    rules.every(({ bound, keeps }) => keeps(value, bound)) && (!isInteger || Number.isInteger(value));
  const step = typeof schema.multipleOf === 'number' && schema.multipleOf > 0 ? schema.multipleOf : 1;
  const bounds = rules.map(({ bound }) => bound);
  const near = bounds.flatMap((bound) => [0, -1, 1].map((steps) => (Math.round(bound / step) + steps) * step));
  const middle = bounds.reduce((sum, bound) => sum + bound, 0) / bounds.length;
  const found = request.material.takeNumber(fits) ?? [1, 0, ...bounds, ...near, middle].find(fits);
  if (found !== undefined) return found;
  throw refuseMember(request.member, 'found bounds that no number fits that was tried; widen them or `multipleOf`');
}

/** The start of a group, a class, an escape, a repetition, or any other character. */
const TOKENS = /\((?:\?(?::|<[A-Za-z_]\w*>))?|\[\^?(?:\\.|[^\]\\])+\]|\\.|(?:[*+?]|\{\d{1,6}(?:,\d{0,6})?\})\??|./gs;
const REPETITION = /^(?:[*+?]|\{\d+(?:,\d*)?\})\??$/;
/** A character class yields the first of these that it contains. */
const SAMPLES = [...'a1A- _.~é\n\t', ...Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index))];
const PATTERN_CHARS_MAX = 2_000;

class UnsupportedPattern extends Error {}

/**
 * A text that the regular expression accepts. Null if it uses more than literals, classes, groups, alternatives and
 * repetition, or if the text would be too long. Never runs the expression: it comes from a client, and may never end.
 */
export function writePattern(pattern: string): string | null {
  if (pattern.length > PATTERN_CHARS_MAX) return null;
  const waiting = (pattern.match(TOKENS) ?? []).reverse();
  try {
    const text = writeAlternatives(waiting);
    return waiting.length === 0 ? text : null;
  } catch (error) {
    if (error instanceof UnsupportedPattern || error instanceof SyntaxError) return null;
    throw error;
  }
}

/** Takes the tokens up to `)` or the end. Writes the first alternative. */
function writeAlternatives(waiting: string[]): string {
  const first = writeSequence(waiting);
  while (waiting.at(-1) === '|') {
    waiting.pop();
    writeSequence(waiting);
  }
  return first;
}

/** The written text matches the whole expression, so anchors at its two ends add nothing. */
function writeSequence(waiting: string[]): string {
  let text = '';
  if (waiting.at(-1) === '^') waiting.pop();
  for (let token = waiting.at(-1); token !== undefined && token !== '|' && token !== ')'; token = waiting.at(-1)) {
    waiting.pop();
    if (token === '$' && [undefined, '|', ')'].includes(waiting.at(-1))) continue;
    const atom = writeAtom(token, waiting);
    const times = REPETITION.test(waiting.at(-1) ?? '') ? countTimes(waiting.pop() ?? '') : 1;
    if (text.length + atom.length * times > LENGTH_MAX) throw new UnsupportedPattern();
    text += atom.repeat(times);
  }
  return text;
}

function writeAtom(token: string, waiting: string[]): string {
  if (token.startsWith('(')) {
    const text = writeAlternatives(waiting);
    if (waiting.pop() !== ')') throw new UnsupportedPattern();
    return text;
  }
  if (/^\\?[\W_]$|^\w$/.test(token) && !/^[\^$*+?.{}[\]]$/.test(token)) return token.slice(-1);
  // A single character class cannot backtrack, so it is safe to run.
  const isClass = /^(?:\.|\[.+\]|\\[dwsDWSnrt])$/s.test(token);
  const chosen = isClass ? SAMPLES.find((sample) => new RegExp(`^${token}$`).test(sample)) : undefined;
  if (chosen === undefined) throw new UnsupportedPattern();
  return chosen;
}

/** The minimum allowed, but once if that is zero. */
function countTimes(repetition: string): number {
  const [least, most] = repetition.match(/\d+/g) ?? ['1'];
  return Number(least) > 0 || most === '0' || !repetition.includes(',') ? Number(least) : 1;
}
