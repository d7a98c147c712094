/**
 * Converts Google's `Schema` (`parameters`, `responseSchema`) to JSON Schema: types in capitals, `nullable`, counts as
 * strings. Members without a meaning for a model are left out. https://ai.google.dev/api/caching#Schema, read 2026-11-23.
 */
import type { JsonText } from '../../../generation/part.ts';
import { children, type JsonNode, jsonText, stringValue } from '../../../wire/json-node.ts';
import { RawJson, type WritableJson, writeJson } from '../../../wire/json-writer.ts';
import { readObject } from '../../openai/read-member.ts';
import { refuse } from '../../request/request-facts.ts';
import { listOf, nameOf } from './members.ts';

const DEPTH_MAX = 64;
const COUNTS: ReadonlySet<string> = new Set([
  ...['minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'maxProperties'],
]);
/** Keywords of JSON Schema that a converted schema has too. */
const SCHEMAS: ReadonlySet<string> = new Set(['items', 'additionalProperties']);
const NAMED_SCHEMAS: ReadonlySet<string> = new Set(['properties', 'defs']);
const LISTED_SCHEMAS: ReadonlySet<string> = new Set(['anyOf', 'prefixItems']);

/** Throws CallFailure for what is no schema. */
export function toJsonSchema(schema: JsonNode, path: string, depth = 0): JsonText {
  if (depth > DEPTH_MAX) throw refuse(path, schema, `a schema of at most ${DEPTH_MAX} levels`);
  const found: { [keyword: string]: WritableJson } = {};
  let isNullable = false;
  for (const node of children(readObject(schema, path, 'a schema (an object)'))) {
    const name = nameOf(node);
    const at = `${path}.${name}`;
    if (node.kind === 'null') continue;
    if (name === 'nullable') isNullable = node.kind === 'true';
    else if (name === 'type') found.type = typeOf(node);
    else if (name === 'example') found.examples = [new RawJson(jsonText(node))];
    else if (COUNTS.has(name)) found[name] = countOf(node, at);
    else if (SCHEMAS.has(name) && node.kind === 'object') found[name] = schemaOf(node, at, depth);
    else if (NAMED_SCHEMAS.has(name) && node.kind === 'object')
      found[name === 'defs' ? '$defs' : name] = namedSchemas(node, at, depth);
    else if (LISTED_SCHEMAS.has(name)) {
      found[name] = listOf(node).map((one, index) => schemaOf(one, `${at}.${index}`, depth));
    } else if (name === 'ref') found.$ref = new RawJson(jsonText(node));
    // The order of `properties` is that of the answer.
    else if (name !== 'propertyOrdering') found[name] = new RawJson(jsonText(node));
  }
  if (found.type === undefined) delete found.type;
  return writeJson(isNullable ? withNull(found) : found);
}

function schemaOf(node: JsonNode, path: string, depth: number): RawJson {
  return new RawJson(toJsonSchema(node, path, depth + 1));
}

function namedSchemas(node: JsonNode, path: string, depth: number): WritableJson {
  const schemas: { [name: string]: WritableJson } = Object.create(null);
  for (const one of children(node)) {
    const name = keyOf(one);
    schemas[name] = schemaOf(one, `${path}.${name}`, depth);
  }
  return schemas;
}

function keyOf(node: JsonNode): string {
  return String(JSON.parse(Buffer.from(node.outline.bytes.subarray(node.keyStart, node.keyEnd)).toString()));
}

const DIGITS = /^(?:0|[1-9]\d{0,18})$/;

/** Google writes 64-bit numbers as texts. Any other text would be written into the schema as it is. */
function countOf(node: JsonNode, path: string): RawJson {
  const text = stringValue(node);
  if (text === undefined) return new RawJson(jsonText(node));
  if (!DIGITS.test(text)) throw refuse(path, node, 'a whole number');
  return new RawJson(text);
}

/** A list of types passes, as in JSON Schema. */
function typeOf(node: JsonNode): WritableJson {
  const word = stringValue(node);
  return word === undefined ? new RawJson(jsonText(node)) : word.toLowerCase();
}

/** `enum` needs the value too. */
function withNull(schema: { readonly [keyword: string]: WritableJson }): WritableJson {
  if (typeof schema.type !== 'string') return { anyOf: [schema, { type: 'null' }] };
  if (schema.enum instanceof RawJson) return { anyOf: [schema, { type: 'null' }] };
  return { ...schema, type: [schema.type, 'null'] };
}
