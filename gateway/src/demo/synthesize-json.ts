/**
 * Generates a JSON value that fits a JSON Schema: deterministic, with words and numbers of the user's message in it.
 */
import { CallFailure } from '../errors/call-failure.ts';
import { asArray, asObject, type JsonObject } from '../protocols/json.ts';
import { refuseMember } from '../protocols/request/translation-notes.ts';
import type { Material } from './read-prompt.ts';

const DEPTH_MAX = 24;
/** From this depth on, arrays are empty and plain alternatives come first. Ends recursive schemas. */
const DEPTH_TERSE = 5;
const SCHEMAS_MAX = 2_000;
const UNSUPPORTED = 'not if dependentRequired dependentSchemas contains patternProperties propertyNames $dynamicRef';

/**
 * Constants and enums first, then the required members. Throws CallFailure `invalid_request` if no value of bounded
 * size is possible: a `false` schema, a reference without a target, bounds that exclude each other.
 */
export function synthesizeJson(schema: unknown, request: SynthesisRequest): unknown {
  return new Synthesis(schema, request).make(schema, 0, '');
}

class Synthesis {
  #schemas = 0;

  constructor(
    readonly root: unknown,
    readonly request: SynthesisRequest,
  ) {}

  make(part: unknown, depth: number, name: string): unknown {
    if (depth > DEPTH_MAX) throw this.#refusal(`needs more than ${DEPTH_MAX} levels; make the schema smaller`);
    const schema = this.#merge(part);
    this.#require(schema, UNSUPPORTED, () => false);
    if (Object.hasOwn(schema, 'const')) return schema.const;
    if (Array.isArray(schema.enum) && schema.enum.length > 0) return schema.enum[0];
    const alternatives = schema.anyOf ?? schema.oneOf;
    if (Array.isArray(alternatives)) return this.#makeAlternative(schema, alternatives, depth, name);
    const type = chooseType(schema, depth);
    if (type === 'object') return this.#makeObject(schema, depth);
    if (type === 'array') return this.#makeArray(schema, depth, name);
    if (type === 'string') return synthesizeString(schema, this.request, name);
    if (type === 'integer' || type === 'number') return synthesizeNumber(schema, this.request, type === 'integer');
    if (type === 'boolean' || type === 'null') return type === 'boolean' ? true : null;
    throw this.#refusal('found an unknown `type`; expected one of JSON Schema');
  }

  /** The schema without `$ref` and `allOf`. */
  #merge(part: unknown): JsonObject {
    let merged: JsonObject = {};
    const waiting: unknown[] = [part];
    while (waiting.length > 0) {
      if (++this.#schemas > SCHEMAS_MAX) throw this.#refusal(`needs more than ${SCHEMAS_MAX} schemas; make it smaller`);
      const next = waiting.shift();
      const schema = next === true ? {} : asObject(next);
      if (schema === null) throw this.#refusal('expected a schema that some value fits; found none');
      const { $ref, allOf, ...own } = schema;
      merged = joinSchemas(merged, own);
      if ($ref !== undefined) waiting.push(this.#resolve($ref));
      waiting.push(...asArray(allOf).slice(0, SCHEMAS_MAX));
    }
    return merged;
  }

  /** Follows a reference within the document: `#` or a JSON pointer (RFC 6901). */
  #resolve(reference: unknown): unknown {
    const [document, ...tokens] = typeof reference === 'string' ? reference.split('/') : [];
    let target: unknown = document === '#' ? this.root : undefined;
    for (const token of tokens) {
      const name = token.replaceAll('%20', ' ').replaceAll('~1', '/').replaceAll('~0', '~');
      const isMember = typeof target === 'object' && target !== null && Object.hasOwn(target, name);
      target = isMember ? (target as JsonObject)[name] : undefined;
    }
    if (target !== undefined) return target;
    const found = JSON.stringify(reference).slice(0, 80);
    throw this.#refusal(`found the reference ${found}; expected one to a schema of the same document`);
  }

  /** The first alternative that a value can be generated for. */
  #makeAlternative(schema: JsonObject, options: readonly unknown[], depth: number, name: string): unknown {
    const { anyOf: _, oneOf: __, ...base } = schema;
    const ordered = depth < DEPTH_TERSE ? options : options.toSorted((one, other) => weigh(one) - weigh(other));
    let refusal = this.#refusal('found no alternatives; expected at least one');
    for (const option of ordered) {
      try {
        return this.make({ ...base, allOf: [option] }, depth + 1, name);
      } catch (error) {
        if (!(error instanceof CallFailure)) throw error;
        refusal = error;
      }
    }
    throw refusal;
  }

  /** The required members; if an answer's schema requires none, all members that it describes. */
  #makeObject(schema: JsonObject, depth: number): unknown {
    const properties = asObject(schema.properties) ?? {};
    const required = new Set(asArray(schema.required).filter((name) => typeof name === 'string'));
    const takesAll = this.request.mustFit && required.size === 0 && depth < DEPTH_TERSE;
    const entries = [...(takesAll ? Object.keys(properties) : required)].map((name): [string, unknown] => {
      const own = Object.hasOwn(properties, name) ? properties[name] : undefined;
      return [name, this.make(own ?? schema.additionalProperties ?? true, depth + 1, name)];
    });
    this.#require(schema, 'minProperties', (least) => entries.length >= Number(least));
    this.#require(schema, 'maxProperties', (most) => entries.length <= Number(most));
    return Object.fromEntries(entries);
  }

  /** As many items as required; if none is, one item, unless that nests too deep. */
  #makeArray({ prefixItems, items, minItems, maxItems, ...schema }: JsonObject, depth: number, name: string): unknown {
    const prefix = asArray(prefixItems);
    const usual = depth < DEPTH_TERSE ? Math.max(items === false ? 0 : 1, prefix.length) : 0;
    const least = Math.max(typeof minItems === 'number' ? minItems : 0, usual);
    const size = typeof maxItems === 'number' ? Math.min(least, maxItems) : least;
    const made: unknown[] = [];
    while (made.length < size) {
      const item = prefix[made.length] ?? items ?? true;
      const options = schema.uniqueItems === true ? asArray(asObject(item)?.enum) : [];
      made.push(this.make(made.length < options.length ? { const: options[made.length] } : item, depth + 1, name));
    }
    const different = new Set(made.map((item) => JSON.stringify(item)));
    this.#require(schema, 'uniqueItems', (isDemanded) => isDemanded !== true || different.size === made.length);
    return made;
  }

  /** Refuses a rule that an answer's value violates. */
  #require(schema: JsonObject, keywords: string, isKept: (rule: unknown) => boolean): void {
    const broken = keywords.split(' ').find((word) => Object.hasOwn(schema, word) && !isKept(schema[word]));
    if (!this.request.mustFit || broken === undefined) return;
    throw this.#refusal(`found \`${broken}\`, which the demo model cannot keep here; relax it or leave it out`);
  }

  #refusal(why: string): CallFailure {
    return refuseMember(this.request.member, why);
  }
}

/** Merges members and requirements, with the tighter of two bounds; of any other rule the later one. */
function joinSchemas(one: JsonObject, other: JsonObject): JsonObject {
  const joined: Record<string, unknown> = { ...one, ...other };
  if (one.properties !== undefined) joined.properties = { ...asObject(one.properties), ...asObject(other.properties) };
  joined.required = [...asArray(one.required), ...asArray(other.required)];
  for (const [keyword, bound] of Object.entries(one)) {
    const others = other[keyword];
    if (typeof bound !== 'number' || typeof others !== 'number') continue;
    joined[keyword] = /^(?:m|exclusiveM)in/.test(keyword) ? Math.max(bound, others) : Math.min(bound, others);
  }
  return joined;
}

/** 1 for an alternative that may nest deeper. */
function weigh(option: unknown): number {
  const { type, $ref } = asObject(option) ?? {};
  return type === 'object' || type === 'array' || $ref !== undefined ? 1 : 0;
}

function chooseType({ type, properties, items, prefixItems, ...schema }: JsonObject, depth: number): unknown {
  const types = type === undefined ? [] : [type].flat();
  if (types.length > 0 && depth >= DEPTH_TERSE && types.includes('null')) return 'null';
  if (types.length > 0) return types.find((one) => one !== 'null') ?? 'null';
  if (properties !== undefined || asArray(schema.required).length > 0) return 'object';
  if (items !== undefined || prefixItems !== undefined) return 'array';
  return schema.minimum !== undefined || schema.maximum !== undefined ? 'number' : 'string';
}

interface SynthesisRequest {
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
function synthesizeString(schema: JsonObject, request: SynthesisRequest, name: string): string {
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
function synthesizeNumber(schema: JsonObject, request: SynthesisRequest, isInteger: boolean): number {
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
