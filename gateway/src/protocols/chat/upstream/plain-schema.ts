/**
 * Fits a JSON Schema to hosts whose schemas have an object at their root, one schema for all items of an array, and no
 * `type` beside `anyOf`. Everything else stays as written; schemas that already fit stay unchanged. Rules: Moonshot's,
 * https://github.com/MoonshotAI/walle, read 2026-11-23.
 */
import type { JsonText } from '../../../generation/part.ts';
import {
  children,
  elements,
  type JsonNode,
  jsonText,
  member,
  memberName,
  stringValue,
} from '../../../wire/json-node.ts';
import { keyText, scanSchema, writeObject } from '../../exact-json.ts';
import { modelWord } from '../../openai/render-context.ts';
import { refuseMember } from '../../request/translation-notes.ts';
import type { RenderContext } from './render-context.ts';

/** Keywords that hold schemas by name, in a list, and alone. */
const NAMED = new Set(['properties', 'patternProperties', '$defs', 'definitions']);
const LISTED = new Set(['anyOf', 'oneOf', 'allOf']);
const SINGLE = new Set(['items', 'additionalProperties', 'not']);

/**
 * The schema to send, if the host has such rules. Keywords that no longer hold are dropped below `path`; throws
 * `invalid_request` for a root that is no object.
 */
export function fitPlainSchema(schema: JsonText, path: string, context: RenderContext): JsonText {
  if (!context.traits.chat.plainSchemas) return schema;
  const root = scanSchema(schema);
  if (root === null) throw refuseRoot(path, context);
  const fitting = new Fitting();
  const fitted = fitting.fit(root, null);
  for (const keyword of fitting.lost) {
    context.notes.drop(`${path}.${keyword}`, `${modelWord(context)} takes no schema that uses it so`);
  }
  const type = member(root, 'type');
  if (type !== undefined && stringValue(type) !== 'object') throw refuseRoot(path, context);
  const isOpen = ['type', 'anyOf', '$ref'].every((keyword) => member(root, keyword) === undefined);
  if (isOpen) return withType('"object"', fitted);
  return fitting.changed ? fitted : schema;
}

function refuseRoot(path: string, context: RenderContext) {
  return refuseMember(path, `${modelWord(context)} takes only schemas of an object; wrap it in an object's property`);
}

class Fitting {
  changed = false;
  readonly lost = new Set<string>();

  /** `outer`: the `type` beside the `anyOf` that it is a branch of, as JSON; null: none. */
  fit(node: JsonNode, outer: JsonText | null): JsonText {
    if (node.kind !== 'object') return jsonText(node);
    const type = member(node, 'type');
    const isChoice = type !== undefined && member(node, 'anyOf') !== undefined;
    const tuple = ['prefixItems', 'items'].some((keyword) => member(node, keyword)?.kind === 'array');
    const members = children(node).flatMap((keyword): Array<readonly [JsonText, JsonText]> => {
      const name = memberName(keyword);
      if (isChoice && name === 'type') return [];
      if (tuple && (name === 'items' || name === 'prefixItems')) return [];
      return [[keyText(keyword), this.#fitKeyword(name, keyword, isChoice ? jsonText(type) : null)]];
    });
    if (tuple) members.push(['"items"', this.#joinItems(node)]);
    if (isChoice || tuple) this.changed = true;
    const text = writeObject(members);
    return outer === null ? text : this.#fitBranch(text, node, outer);
  }

  #fitKeyword(name: string, node: JsonNode, type: JsonText | null): JsonText {
    if (NAMED.has(name) && node.kind === 'object') {
      return writeObject(children(node).map((one) => [keyText(one), this.fit(one, null)]));
    }
    if (LISTED.has(name) && node.kind === 'array') {
      const outer = name === 'anyOf' ? type : null;
      return `[${elements(node)
        .map((one) => this.fit(one, outer))
        .join(',')}]`;
    }
    return SINGLE.has(name) ? this.fit(node, null) : jsonText(node);
  }

  /** The type moves into the branches; one with another type of its own keeps that, which accepts more. */
  #fitBranch(text: JsonText, node: JsonNode, outer: JsonText): JsonText {
    const own = member(node, 'type');
    if (own !== undefined && jsonText(own) !== outer) this.lost.add('type');
    const isSaid = ['type', '$ref', 'anyOf'].some((keyword) => member(node, keyword) !== undefined);
    return isSaid ? text : withType(outer, text);
  }

  /** Any of the tuple's schemas at any place. */
  #joinItems(node: JsonNode): JsonText {
    const of = (keyword: string) => {
      const found = member(node, keyword);
      if (found?.kind === 'array') return elements(found);
      return found?.kind === 'object' ? [found] : [];
    };
    for (const keyword of ['prefixItems', 'items']) if (member(node, keyword)?.kind === 'array') this.lost.add(keyword);
    const [first = '{}', ...others] = new Set([...of('prefixItems'), ...of('items')].map((one) => this.fit(one, null)));
    return others.length === 0 ? first : `{"anyOf":[${[first, ...others].join(',')}]}`;
  }
}

function withType(type: JsonText, schema: JsonText): JsonText {
  return schema === '{}' ? `{"type":${type}}` : `{"type":${type},${schema.slice(1)}`;
}
