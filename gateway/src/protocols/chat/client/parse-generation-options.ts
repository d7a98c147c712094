/** Parses output format, stop sequences, web search, stream options and end user of a chat-completions body. */
import type { OutputFormat, WebSearchRequest } from '../../../generation/request.ts';
import { type JsonNode, jsonText, stringValue } from '../../../wire/json-node.ts';
import { refuse } from '../../request/check-member.ts';
import { refuseMember } from '../../request/translation-notes.ts';
import {
  dropUnknown,
  given,
  isVoid,
  type RequestReading,
  readList,
  readName,
  readObject,
  readOptionalBoolean,
  readOptionalText,
  readText,
} from './read-member.ts';

const FORMAT_MEMBERS = new Set(['type', 'json_schema']);
const SCHEMA_MEMBERS = new Set(['name', 'description', 'schema', 'strict']);
const SEARCH_MEMBERS = new Set(['search_context_size', 'user_location']);
const FORMATS = 'one of text, json_object, json_schema';

/** Null: plain text. A `json_schema` without a schema only means that the answer is JSON. */
export function parseOutputFormat(root: JsonNode, reading: RequestReading): OutputFormat | null {
  const node = given(root, 'response_format');
  if (node === undefined) return null;
  const format = readObject(node, 'response_format', 'an object with a type');
  dropUnknown(format, FORMAT_MEMBERS, 'response_format', reading);
  const type = readName(given(format, 'type'), 'response_format.type', FORMATS);
  if (type === 'text') return null;
  reading.named.output_format = 'response_format';
  if (type === 'json_object') return { kind: 'json' };
  if (type !== 'json_schema') throw refuse('response_format.type', given(format, 'type') ?? null, FORMATS);
  return parseJsonSchema(format, reading);
}

function parseJsonSchema(format: JsonNode, reading: RequestReading): OutputFormat {
  const path = 'response_format.json_schema';
  const holder = readObject(given(format, 'json_schema'), path, 'an object with name and schema');
  dropUnknown(holder, SCHEMA_MEMBERS, path, reading);
  const schema = given(holder, 'schema');
  if (schema === undefined) return { kind: 'json' };
  return {
    kind: 'json_schema',
    name: readOptionalText(holder, 'name', `${path}.name`),
    description: readOptionalText(holder, 'description', `${path}.description`),
    schema: jsonText(readObject(schema, `${path}.schema`, 'a JSON Schema (an object)')),
    // The format's own default (wire reference A.2), made explicit because other formats have another.
    strict: readOptionalBoolean(holder, 'strict', `${path}.strict`) ?? false,
  };
}

/** One string or an array. */
export function parseStop(root: JsonNode, reading: RequestReading): string[] {
  const stop = given(root, 'stop');
  if (stop === undefined) return [];
  const single = stringValue(stop);
  const texts =
    single !== undefined
      ? [single]
      : readList(stop, 'stop', 'a string or an array of strings').map((text, index) => readText(text, `stop.${index}`));
  if (texts.length > 0) reading.named.stop = 'stop';
  return texts;
}

export function parseWebSearch(root: JsonNode, reading: RequestReading): WebSearchRequest | null {
  const node = given(root, 'web_search_options');
  if (node === undefined) return null;
  const path = 'web_search_options';
  const search = readObject(node, path, 'an object');
  dropUnknown(search, SEARCH_MEMBERS, path, reading);
  reading.named.web_search = path;
  const place = given(search, 'user_location');
  const location =
    place === undefined ? undefined : given(readObject(place, `${path}.user_location`, 'an object'), 'approximate');
  return {
    context_size: readOptionalText(search, 'search_context_size', `${path}.search_context_size`),
    location:
      location === undefined ? null : jsonText(readObject(location, `${path}.user_location.approximate`, 'an object')),
  };
}

/** Checks `stream_options`. Nothing of it goes upstream: usage is always requested, and the gateway adds no padding. */
export function checkStreamOptions(root: JsonNode, stream: boolean, reading: RequestReading): void {
  const options = given(root, 'stream_options');
  if (options === undefined) return;
  readObject(options, 'stream_options', 'an object');
  if (!stream)
    throw refuseMember('stream_options', 'is only taken where stream is true; set stream to true or leave it out');
  dropUnknown(options, new Set(['include_usage']), 'stream_options', reading);
}

/** The caller's end user; the newer member wins if both are set. */
export function parseEndUser(root: JsonNode, reading: RequestReading): string | null {
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
