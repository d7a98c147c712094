/**
 * Fits the arguments of tools to what Anthropic takes: their schemas, and the names of arguments, which get aliases and are
 * given back in calls.
 */
import type { JsonText, ToolCallPart } from '../../generation/part.ts';
import { children, elements, type JsonNode, jsonText, member, memberName, stringValue } from '../../wire/json-node.ts';
import { RawJson } from '../../wire/json-writer.ts';
import { exactArguments, keyText, objectSchema, renameKeys, scanSchema, writeObject } from '../exact-json.ts';
import { flattenRoot, REFUSED_BY_ANTHROPIC } from '../flat-schema.ts';
import { bringToDraft2020 } from '../schema-draft.ts';
import { aliasText } from './tool-names.ts';

const ARGUMENT_CHARS_MAX = 64;
const ARGUMENT_NAME = /^[A-Za-z0-9_.-]{1,64}$/;

/**
 * Aliases of the arguments of one request. Anthropic, also at Bedrock, refuses a request with a tool whose first level has other names, such
 * as `$filter` ("Property keys should match pattern"); deeper ones may have any.
 * https://github.com/decocms/studio/pull/6874, read 2026-11-29.
 */
export class ArgumentAliases {
  /** By the client's name of a tool: aliases by the client's names. */
  readonly #aliases = new Map<string, ReadonlyMap<string, string>>();

  /** The schema of the tool's arguments as Anthropic takes it. Throws at `path` for a schema that is not an object's. */
  fit(tool: string, written: JsonText | null, path: string): JsonText {
    return this.#rename(tool, flattenRoot(bringToDraft2020(objectSchema(written, path)), REFUSED_BY_ANTHROPIC));
  }

  #rename(tool: string, schema: JsonText): JsonText {
    const root = scanSchema(schema);
    const properties = root === null ? undefined : member(root, 'properties');
    if (root === null || properties?.kind !== 'object') return schema;
    const odd = children(properties)
      .map(memberName)
      .filter((name) => !ARGUMENT_NAME.test(name));
    if (odd.length === 0) return schema;
    const aliases = new Map(odd.map((name) => [name, aliasText(name, ARGUMENT_CHARS_MAX)]));
    this.#aliases.set(tool, aliases);
    const members = children(root).map((keyword): readonly [JsonText, JsonText] => {
      const name = memberName(keyword);
      if (name === 'properties') return [keyText(keyword), renameKeys(jsonText(keyword), aliases)];
      if (name === 'required') return [keyText(keyword), renameItems(keyword, aliases)];
      return [keyText(keyword), jsonText(keyword)];
    });
    return writeObject(members);
  }

  /** The arguments of an earlier call, as the model knows them. Throws at `path` for what is no object. */
  renderCall({ name, arguments: written }: ToolCallPart, path: string): RawJson {
    const aliases = this.#aliases.get(name);
    const json = exactArguments(written, path);
    return new RawJson(aliases === undefined ? json : renameKeys(json, aliases));
  }

  /** For `ToolNames`. */
  get own(): ReadonlyMap<string, (json: JsonText) => JsonText> {
    return new Map(
      [...this.#aliases].map(([tool, aliases]) => {
        const names = new Map([...aliases].map(([name, alias]) => [alias, name]));
        return [tool, (json: JsonText) => renameKeys(json, names)];
      }),
    );
  }
}

/** The strings of an array, some with other texts; other values stay. */
function renameItems(list: JsonNode, names: ReadonlyMap<string, string>): JsonText {
  const items = elements(list).map((item) => {
    const name = names.get(stringValue(item) ?? '');
    return name === undefined ? jsonText(item) : JSON.stringify(name);
  });
  return list.kind === 'array' ? `[${items.join(',')}]` : jsonText(list);
}
