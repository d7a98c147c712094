/**
 * Brings schemas of older drafts to 2020-12, which Anthropic and OpenAI require of the schema of a tool ("JSON schema is
 * invalid. It must match JSON Schema draft 2020-12", "None is not of type 'array'"): one tool of an MCP server with a tuple
 * in its arguments, or null for a list, has the whole request refused. Everything else stays as written.
 * https://github.com/antvis/mcp-server-chart/issues/205 and https://github.com/karakeep-app/karakeep/issues/1831, read
 * 2026-11-29.
 */
import type { JsonText } from '../generation/part.ts';
import { children, elements, type JsonNode, jsonText, member, memberName } from '../wire/json-node.ts';
import { keyText, scanSchema, writeObject } from './exact-json.ts';

/** Keywords that hold schemas by name, in a list, and alone. */
const NAMED = new Set(['properties', 'patternProperties', '$defs', 'definitions']);
const LISTED = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems']);
const SINGLE = new Set(['items', 'additionalProperties', 'not', 'if', 'then', 'else']);
/** Other keywords that are never null; some programs write null for what they leave out. */
const WORDS = new Set(['type', 'enum', 'description', 'title', 'format']);
/** Flags of draft 4 that make a limit exclusive. */
const EXCLUSIVE = new Map([
  ['exclusiveMinimum', 'minimum'],
  ['exclusiveMaximum', 'maximum'],
]);

type Member = readonly [key: JsonText, value: JsonText];

export interface Rewritten {
  readonly text: JsonText;
  readonly isChanged: boolean;
}

/** The schema in draft 2020-12; the same text if it is, or if it is no JSON object. */
export function bringToDraft2020(schema: JsonText): JsonText {
  const root = scanSchema(schema);
  if (root === null) return schema;
  const { text, isChanged } = bring(root);
  return isChanged ? text : schema;
}

function bring(schema: JsonNode): Rewritten {
  if (schema.kind !== 'object') return { text: jsonText(schema), isChanged: false };
  let isChanged = false;
  const members = children(schema).flatMap((keyword): Member[] => {
    const older = bringOlder(memberName(keyword), keyword, schema);
    if (older !== null) {
      isChanged = true;
      return older;
    }
    const { text, isChanged: isOther } = rewriteKeyword(keyword, bring);
    isChanged ||= isOther;
    return [[keyText(keyword), text]];
  });
  return isChanged ? { text: writeObject(members), isChanged } : { text: jsonText(schema), isChanged };
}

/** The members for a keyword of an older draft; null: it is not a keyword of one. */
function bringOlder(name: string, value: JsonNode, schema: JsonNode): Member[] | null {
  const limit = EXCLUSIVE.get(name);
  const isFlag = value.kind === 'true' || value.kind === 'false';
  if (limit !== undefined && isFlag) {
    const bound = member(schema, limit);
    return value.kind === 'true' && bound !== undefined ? [[keyText(value), jsonText(bound)]] : [];
  }
  for (const [flag, bound] of EXCLUSIVE) if (name === bound && member(schema, flag)?.kind === 'true') return [];
  if (name === 'required' && value.kind !== 'array') return [];
  if (value.kind === 'null' && isKeyword(name)) return [];
  const isTuple = member(schema, 'items')?.kind === 'array';
  if (name === 'items' && isTuple) {
    const list = elements(value).map((one) => bring(one).text);
    return list.length === 0 ? [] : [['"prefixItems"', `[${list.join(',')}]`]];
  }
  return name === 'additionalItems' && isTuple ? [['"items"', bring(value).text]] : null;
}

function isKeyword(name: string): boolean {
  return NAMED.has(name) || LISTED.has(name) || SINGLE.has(name) || WORDS.has(name);
}

/** A keyword of a schema with each schema in it rewritten. */
export function rewriteKeyword(value: JsonNode, rewrite: (schema: JsonNode) => Rewritten): Rewritten {
  const name = memberName(value);
  if (NAMED.has(name) && value.kind === 'object') {
    const schemas = children(value).map((one) => ({ key: keyText(one), ...rewrite(one) }));
    const text = writeObject(schemas.map((one): Member => [one.key, one.text]));
    return { text, isChanged: schemas.some(({ isChanged }) => isChanged) };
  }
  if (LISTED.has(name) && value.kind === 'array') {
    const schemas = elements(value).map(rewrite);
    const text = `[${schemas.map((one) => one.text).join(',')}]`;
    return { text, isChanged: schemas.some(({ isChanged }) => isChanged) };
  }
  return SINGLE.has(name) ? rewrite(value) : { text: jsonText(value), isChanged: false };
}
