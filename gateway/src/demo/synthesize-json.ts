/**
 * Generates a JSON value that fits a JSON Schema: deterministic, with words and numbers of the user's message in it.
 */
import { CallFailure } from '../errors/call-failure.ts';
import { asArray, asObject, type JsonObject } from '../protocols/json.ts';
import { refuseMember } from '../protocols/request/translation-notes.ts';
import { type SynthesisRequest, synthesizeNumber, synthesizeString } from './synthesize-scalar.ts';

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
