/**
 * Completes the schema of a function's arguments with what OpenAI requires although it says nothing: the type and the
 * properties of the root, and the items of arrays. Tools of MCP servers often lack them, and one such tool has the whole
 * request refused ("object schema missing properties", "array schema missing items"). Everything else stays as written.
 * https://github.com/openai/openai-agents-python/issues/449 and https://github.com/anomalyco/opencode/pull/21589, read
 * 2026-11-28.
 */
import type { JsonText } from '../../generation/part.ts';
import { children, elements, type JsonNode, jsonText, member, stringValue } from '../../wire/json-node.ts';
import { keyText, scanSchema, writeObject } from '../exact-json.ts';
import { flattenRoot, REFUSED_BY_OPENAI } from '../flat-schema.ts';
import { bringToDraft2020, type Rewritten, rewriteKeyword } from '../schema-draft.ts';

type Member = readonly [key: JsonText, value: JsonText];

/** The schema as OpenAI itself takes it: complete, and without a choice at its root. */
export function fitFunctionSchema(schema: JsonText): JsonText {
  return completeSchema(flattenRoot(schema, REFUSED_BY_OPENAI));
}

/**
 * The schema with the missing keywords, in the newest draft, whose rules OpenAI checks ("None is not of type 'array'").
 * Unchanged if it is so, or if its root is of another type.
 */
export function completeSchema(written: JsonText): JsonText {
  const schema = bringToDraft2020(written);
  const root = scanSchema(schema);
  if (root === null) return schema;
  const type = member(root, 'type');
  const isObject = type === undefined || stringValue(type) === 'object';
  const missing: Member[] = [];
  if (type === undefined) missing.push(['"type"', '"object"']);
  if (isObject && member(root, 'properties') === undefined) missing.push(['"properties"', '{}']);
  const { text, isChanged } = complete(root, missing);
  return isChanged ? text : schema;
}

function complete(node: JsonNode, missing: readonly Member[] = []): Rewritten {
  if (node.kind !== 'object') return { text: jsonText(node), isChanged: false };
  const isBareArray = saysArray(member(node, 'type')) && member(node, 'items') === undefined;
  const added: readonly Member[] = isBareArray ? [...missing, ['"items"', '{}']] : missing;
  let isChanged = added.length > 0;
  const members = children(node).map((keyword): Member => {
    const completed = rewriteKeyword(keyword, (one) => complete(one));
    isChanged ||= completed.isChanged;
    return [keyText(keyword), completed.text];
  });
  return isChanged ? { text: writeObject([...members, ...added]), isChanged } : { text: jsonText(node), isChanged };
}

function saysArray(type: JsonNode | undefined): boolean {
  if (type === undefined) return false;
  return type.kind === 'array' ? elements(type).some(saysArray) : stringValue(type) === 'array';
}
