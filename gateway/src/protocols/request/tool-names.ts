/**
 * Replaces names of tools and of their arguments, and call ids, that upstream would refuse with aliases. An alias is the
 * same in every request, so nothing is stored; names are restored with the map of the answer's own request.
 */
import { createHash } from 'node:crypto';
import type { JsonText } from '../../generation/part.ts';
import { children, elements, type JsonNode, jsonText, member, memberName, stringValue } from '../../wire/json-node.ts';
import { keyText, renameKeys, scanSchema, writeObject } from '../exact-json.ts';

const HASH_CHARS = 8;
const GAP = '_';

/** The client's names for the tool calls of an answer. */
export interface ToolNames {
  /** From upstream's name to the client's; a name that is not in it is unchanged. */
  readonly restored: ReadonlyMap<string, string>;
  /** Client's names of custom (free-text) tools that were sent as functions with one argument, `input`. */
  readonly custom: ReadonlySet<string>;
  /** By the client's name of a tool: gives the arguments of a call their own names. Absent: none has another. */
  readonly ownArguments?: ReadonlyMap<string, (json: JsonText) => JsonText>;
}

const ARGUMENT_CHARS_MAX = 64;
const ARGUMENT_NAME = /^[A-Za-z0-9_.-]{1,64}$/;

/**
 * Aliases of arguments. Anthropic, also at Bedrock, refuses a request with a tool whose first level has other names, such
 * as `$filter` ("Property keys should match pattern"); deeper ones may have any.
 * https://github.com/decocms/studio/pull/6874, read 2026-11-29.
 */
export class ArgumentAliases {
  /** By the client's name of a tool: aliases by the client's names. */
  readonly #aliases = new Map<string, ReadonlyMap<string, string>>();

  /** The schema of the tool's arguments, with aliases where they are needed. */
  fit(tool: string, schema: JsonText): JsonText {
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

  /** The arguments of an earlier call, as the model knows them. */
  rename(tool: string, json: JsonText): JsonText {
    const aliases = this.#aliases.get(tool);
    return aliases === undefined ? json : renameKeys(json, aliases);
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

/** The text if it is at most `charsMax` characters of `[A-Za-z0-9_-]`, else its beginning and a hash of all of it. */
export function aliasText(text: string, charsMax: number): string {
  if (text.length <= charsMax && /^[A-Za-z0-9_-]+$/.test(text)) return text;
  const prefix = text.replace(/[^A-Za-z0-9_-]/g, GAP).slice(0, charsMax - HASH_CHARS - GAP.length);
  return `${prefix}${GAP}${hashOf(text).slice(0, HASH_CHARS)}`;
}

/** The id if it is nine letters and digits, else nine of its hash: Mistral's only format (wire reference D.3). */
export function shortToolCallId(id: string): string {
  return /^[A-Za-z0-9]{9}$/.test(id) ? id : hashOf(id).slice(0, 9);
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
