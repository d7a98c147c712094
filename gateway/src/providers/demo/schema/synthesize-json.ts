/** Owns the making of a JSON value that fits a JSON Schema, the same value each time. Strings and numbers have own files. */
import { BodyProblem, type Path, refuse } from '../body-problem.ts';
import { isObject, type JsonObject, ownMember } from '../json-value.ts';
import { type Material, startMaterial } from './material.ts';
import { mergeSchema, requireSupported } from './resolve-schema.ts';
import { synthesizeNumber } from './synthesize-number.ts';
import { synthesizeString } from './synthesize-string.ts';

/** What a value is made for and from. */
interface SynthesisRequest {
  /** The user's message; strings and numbers are taken from it. */
  readonly text: string;
  /** `arguments` of a tool may pass over rules that this file does not know; an `answer` has promised to fit. */
  readonly purpose: 'arguments' | 'answer';
  /** Where the schema stands in the body. */
  readonly path: Path;
}

const DEPTH_MAX = 24;
/** From this depth on the shortest way out is taken: empty arrays, plain alternatives. It ends recursive schemas. */
const DEPTH_TERSE = 5;
const VALUES_MAX = 2_000;

/** One synthesis: the root for references, the raw material, and the count of values made. */
interface Synthesis extends SynthesisRequest {
  readonly root: JsonObject | boolean;
  readonly material: Material;
  values: number;
}

/** The arguments of a tool: as `synthesizeJson`, and an object whatever the schema says. */
export function synthesizeArguments(schema: JsonObject | boolean, text: string, path: Path): JsonObject {
  const value = synthesizeJson(schema, { text, purpose: 'arguments', path });
  return isObject(value) ? value : refuse(path, value, 'a schema of an object');
}

/**
 * A value that fits the schema: constants and enums first, then the required members, strings and numbers from the
 * message. Throws a BodyProblem where no such value can be made (a `false` schema, a reference that leads nowhere,
 * bounds that exclude each other) or none of bounded size.
 */
export function synthesizeJson(schema: JsonObject | boolean, request: SynthesisRequest): unknown {
  const synthesis: Synthesis = { ...request, root: schema, material: startMaterial(request.text), values: 0 };
  return makeValue(schema, synthesis, 0, '');
}

function makeValue(schema: unknown, synthesis: Synthesis, depth: number, name: string): unknown {
  synthesis.values++;
  if (depth > DEPTH_MAX || synthesis.values > VALUES_MAX) {
    throw new BodyProblem(
      synthesis.path,
      `expected a schema that ${VALUES_MAX} values of ${DEPTH_MAX} levels can answer; make it smaller`,
    );
  }
  const merged = mergeSchema(schema, synthesis.root, synthesis.path);
  if (merged === true) return synthesis.material.takePhrase(name);
  if (synthesis.purpose === 'answer') requireSupported(merged, synthesis.path);
  if (Object.hasOwn(merged, 'const')) return merged.const;
  if (Array.isArray(merged.enum) && merged.enum.length > 0) return merged.enum[0];
  const alternatives = merged.anyOf ?? merged.oneOf;
  if (Array.isArray(alternatives)) return makeAlternative(merged, alternatives, synthesis, depth, name);
  return makeTyped(merged, synthesis, depth, name);
}

function makeTyped(schema: JsonObject, synthesis: Synthesis, depth: number, name: string): unknown {
  switch (chooseType(schema, depth)) {
    case 'object':
      return makeObject(schema, synthesis, depth);
    case 'array':
      return makeArray(schema, synthesis, depth, name);
    case 'string':
      return synthesizeString(schema, synthesis, name);
    case 'integer':
      return synthesizeNumber(schema, synthesis, true);
    case 'number':
      return synthesizeNumber(schema, synthesis, false);
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      throw new BodyProblem(synthesis.path, 'found an unknown `type`; expected one of JSON Schema');
  }
}

/** The first alternative that can be answered; deep inside, the plainest ones are tried first. */
function makeAlternative(
  schema: JsonObject,
  options: unknown[],
  synthesis: Synthesis,
  depth: number,
  name: string,
): unknown {
  const { anyOf: _any, oneOf: _one, ...base } = schema;
  const ordered = depth < DEPTH_TERSE ? options : [...options].sort((one, other) => weigh(one) - weigh(other));
  let problem: BodyProblem | null = null;
  for (const option of ordered) {
    try {
      return makeValue({ ...base, allOf: [option] }, synthesis, depth + 1, name);
    } catch (thrown) {
      if (!(thrown instanceof BodyProblem)) throw thrown;
      problem = thrown;
    }
  }
  throw problem ?? new BodyProblem(synthesis.path, 'found no alternatives; expected at least one');
}

function weigh(option: unknown): number {
  if (!isObject(option)) return 1;
  if (option.type === 'null') return 0;
  return option.type === 'object' || option.type === 'array' || option.$ref !== undefined ? 2 : 1;
}

function chooseType(schema: JsonObject, depth: number): unknown {
  if (Array.isArray(schema.type)) {
    const isTerse = depth >= DEPTH_TERSE && schema.type.includes('null');
    return isTerse ? 'null' : (schema.type.find((type) => type !== 'null') ?? schema.type[0]);
  }
  if (schema.type !== undefined) return schema.type;
  if (schema.properties !== undefined || schema.required !== undefined) return 'object';
  if (schema.items !== undefined || schema.prefixItems !== undefined) return 'array';
  return schema.minimum !== undefined || schema.maximum !== undefined ? 'number' : 'string';
}

/** The required members; an answer whose schema requires none gets all that it describes. */
function makeObject(schema: JsonObject, synthesis: Synthesis, depth: number): unknown {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required.filter((name) => typeof name === 'string') : [];
  const all = synthesis.purpose === 'answer' && required.length === 0 && depth < DEPTH_TERSE;
  const names = all ? Object.keys(properties) : [...new Set<string>(required)];
  const entries = names.map((name): [string, unknown] => {
    const member = ownMember(properties, name) ?? schema.additionalProperties ?? true;
    return [name, makeValue(member, synthesis, depth + 1, name)];
  });
  requireSizes(schema, entries.length, [], synthesis);
  return Object.fromEntries(entries);
}

/** As many items as are demanded, and one where none is, unless that leads too deep. */
function makeArray(schema: JsonObject, synthesis: Synthesis, depth: number, name: string): unknown {
  const prefix = Array.isArray(schema.prefixItems) ? schema.prefixItems : [];
  const least = typeof schema.minItems === 'number' ? schema.minItems : 0;
  const most = typeof schema.maxItems === 'number' ? schema.maxItems : Number.MAX_SAFE_INTEGER;
  const usual = depth < DEPTH_TERSE ? Math.max(1, prefix.length) : 0;
  const limit = schema.items === false && least <= prefix.length ? Math.min(most, prefix.length) : most;
  const wanted = Math.min(Math.max(least, usual), limit);
  const items: unknown[] = [];
  for (let at = 0; at < wanted; at++) {
    const item = prefix[at] ?? schema.items ?? true;
    items.push(makeValue(schema.uniqueItems === true ? pickOther(item, at) : item, synthesis, depth + 1, name));
  }
  requireSizes(schema, items.length, schema.uniqueItems === true ? items : [], synthesis);
  return items;
}

/** Of an item that is one of several values, the value number `at`, so that unique items differ. */
function pickOther(item: unknown, at: number): unknown {
  return isObject(item) && Array.isArray(item.enum) && at < item.enum.length ? { const: item.enum[at] } : item;
}

/** Counts of members and equal items are the rules that only the made value can be held against. */
function requireSizes(schema: JsonObject, size: number, unique: readonly unknown[], synthesis: Synthesis): void {
  if (synthesis.purpose === 'arguments') return;
  const { minProperties, maxProperties } = schema;
  const isFew = typeof minProperties === 'number' && size < minProperties;
  const isMany = typeof maxProperties === 'number' && size > maxProperties;
  const isRepeated = new Set(unique.map((item) => JSON.stringify(item))).size < unique.length;
  if (!isFew && !isMany && !isRepeated) return;
  const rule = isRepeated ? 'uniqueItems' : isFew ? 'minProperties' : 'maxProperties';
  throw new BodyProblem(synthesis.path, `found \`${rule}\`, which the demo model cannot keep here; relax it`);
}
