/** Parses the members that have one meaning in OpenAI's two formats, and the parts of those that differ in form. */
import {
  EFFORT_ORDER,
  type GenerationRequest,
  type OutputFormat,
  type ReasoningRequest,
} from '../../generation/request.ts';
import { type JsonNode, jsonText, stringValue } from '../../wire/json-node.ts';
import { refuse } from '../request/request-facts.ts';
import {
  dropUnknown,
  given,
  isVoid,
  type RequestReading,
  readBooleanFeature,
  readName,
  readNumberFeature,
  readObject,
  readOptionalBoolean,
  readOptionalText,
  readTextFeature,
} from './read-member.ts';

type SharedMember = 'model' | 'stream' | 'parallel_tool_calls' | 'temperature' | 'top_p' | 'end_user' | 'service_tier';

/** `SHARED_MEMBERS` but for the tool choice, whose forms differ. Throws CallFailure. */
export function parseSharedMembers(root: JsonNode, reading: RequestReading): Pick<GenerationRequest, SharedMember> {
  return {
    model: readName(given(root, 'model'), 'model', 'the name of a model'),
    stream: readOptionalBoolean(root, 'stream', 'stream') ?? false,
    parallel_tool_calls: readBooleanFeature(root, 'parallel_tool_calls', reading),
    temperature: readNumberFeature(root, 'temperature', [0, 2], reading),
    top_p: readNumberFeature(root, 'top_p', [0, 1], reading),
    end_user: parseEndUser(root, reading),
    service_tier: readTextFeature(root, 'service_tier', 'service_tier', reading),
  };
}

/** Reasoning is requested, in any amount. */
export const REASONING_ON: ReasoningRequest = { mode: null, budgetTokens: null, effort: null, display: null };
export const REASONING_OFF: ReasoningRequest = { ...REASONING_ON, mode: 'off' };

/** Throws CallFailure for an unknown word. */
export function parseEffort(node: JsonNode, path: string): ReasoningRequest {
  const word = stringValue(node);
  if (word === 'none') return REASONING_OFF;
  const effort = EFFORT_ORDER.find((known) => known === word);
  if (effort === undefined) throw refuse(path, node, `one of none, ${EFFORT_ORDER.join(', ')}`);
  return { ...REASONING_ON, effort };
}

type SchemaFormat = Extract<OutputFormat, { kind: 'json_schema' }>;

const FORMATS = 'one of text, json_object, json_schema';

/** Null: plain text. `members`: those of the format's object. */
export function parseOutputFormat(
  node: JsonNode | undefined,
  path: string,
  members: ReadonlySet<string>,
  reading: RequestReading,
  parseSchemaFormat: (format: JsonNode) => OutputFormat,
): OutputFormat | null {
  if (node === undefined) return null;
  const format = readObject(node, path, 'an object with a type');
  dropUnknown(format, members, path, reading);
  const type = readName(given(format, 'type'), `${path}.type`, FORMATS);
  if (type === 'text') return null;
  reading.named.output_format = path;
  if (type === 'json_object') return { kind: 'json' };
  if (type !== 'json_schema') throw refuse(`${path}.type`, given(format, 'type') ?? null, FORMATS);
  return parseSchemaFormat(format);
}

/** `holder` has the members of the schema's format. */
export function parseSchema(holder: JsonNode, path: string): SchemaFormat {
  return {
    kind: 'json_schema',
    name: readOptionalText(holder, 'name', `${path}.name`),
    description: readOptionalText(holder, 'description', `${path}.description`),
    schema: jsonText(readObject(given(holder, 'schema'), `${path}.schema`, 'a JSON Schema (an object)')),
    strict: readOptionalBoolean(holder, 'strict', `${path}.strict`),
  };
}

/** The caller's end user; the newer member wins if both are set. */
function parseEndUser(root: JsonNode, reading: RequestReading): GenerationRequest['end_user'] {
  const identifier = readOptionalText(root, 'safety_identifier', 'safety_identifier');
  const user = readOptionalText(root, 'user', 'user');
  const end_user = identifier || user || null;
  if (end_user === null) return null;
  reading.named.end_user = identifier ? 'safety_identifier' : 'user';
  const userNode = given(root, 'user');
  if (identifier && userNode !== undefined && !isVoid(userNode) && user !== identifier) {
    reading.notes.drop('user', 'safety_identifier is set beside it and wins');
  }
  return end_user;
}
