/**
 * Flattens the root of the schema of a tool's arguments. Anthropic and OpenAI take no choice there, and one such tool, as
 * unions of MCP servers give it, has the whole request refused ("input_schema does not support oneOf, allOf, or anyOf at
 * the top level", "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level").
 * https://github.com/zereight/gitlab-mcp/pull/551 and https://github.com/langchain-ai/langchainjs/issues/9804, read
 * 2026-11-29.
 */
import type { JsonText } from '../generation/part.ts';
import { children, elements, type JsonNode, jsonText, member, memberName, stringValue } from '../wire/json-node.ts';
import { scanSchema, writeObject, writeSchema } from './exact-json.ts';

/** Keywords that a provider refuses at the root. */
export const REFUSED_BY_ANTHROPIC: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf']);
export const REFUSED_BY_OPENAI: ReadonlySet<string> = new Set([...REFUSED_BY_ANTHROPIC, 'enum', 'not']);

/** Bounds the work on schemas whose alternatives refer to each other. */
const DEPTH_MAX = 8;
const SCHEMAS_MAX = 100;

/**
 * The schema without the refused keywords at its root: the properties of the alternatives become the root's, those of
 * several alternatives as a choice, and the description has the keywords in words. Unchanged if it has none of them.
 */
export function flattenRoot(schema: JsonText, refused: ReadonlySet<string>): JsonText {
  const root = scanSchema(schema);
  const isFlat = root === null || !children(root).some((keyword) => refused.has(memberName(keyword)));
  return isFlat ? schema : new Flattening(root).flatten(refused);
}

class Flattening {
  readonly #root: JsonNode;
  #schemas = 0;

  constructor(root: JsonNode) {
    this.#root = root;
  }

  flatten(refused: ReadonlySet<string>): JsonText {
    const keywords = new Map<string, JsonText>();
    const words: string[] = [];
    for (const keyword of children(this.#root)) {
      const name = memberName(keyword);
      if (refused.has(name)) words.push(`${name}: ${jsonText(keyword)}`);
      else keywords.set(name, jsonText(keyword));
    }
    const { properties, required } = this.#read(this.#root, 0);
    const written = [...properties].map(([name, texts]) => [JSON.stringify(name), joinSchemas(texts)] as const);
    if (written.length > 0) keywords.set('properties', writeObject(written));
    if (required.size > 0) keywords.set('required', JSON.stringify([...required]));
    return writeSchema(keywords, words);
  }

  /** The properties of a schema and its alternatives, and the names that it requires in any case. */
  #read(node: JsonNode, depth: number): Arguments {
    const properties = new Map<string, Set<JsonText>>();
    const required = new Set(namesIn(member(node, 'required')));
    const described = member(node, 'properties');
    for (const property of described?.kind === 'object' ? children(described) : []) {
      add(properties, memberName(property), [jsonText(property)]);
    }
    const own = new Set(properties.keys());
    for (const keyword of REFUSED_BY_ANTHROPIC) {
      const alternatives = this.#alternatives(node, keyword, depth);
      for (const [name, texts] of alternatives.flatMap((one) => [...one.properties])) {
        if (!own.has(name)) add(properties, name, texts);
      }
      const holds = (name: string) =>
        keyword === 'allOf' || alternatives.every((one: Arguments) => one.required.has(name));
      for (const name of alternatives.flatMap((one) => [...one.required])) if (holds(name)) required.add(name);
    }
    return { properties, required };
  }

  #alternatives(node: JsonNode, keyword: string, depth: number): readonly Arguments[] {
    const list = member(node, keyword);
    if (list === undefined || depth === DEPTH_MAX) return [];
    return elements(list).map((one) => {
      this.#schemas += 1;
      return this.#schemas > SCHEMAS_MAX ? NOTHING : this.#read(this.#resolve(one), depth + 1);
    });
  }

  /** The schema that a reference inside of the schema leads to; without one, the node itself. */
  #resolve(node: JsonNode): JsonNode {
    const reference = member(node, '$ref');
    const target = reference === undefined ? undefined : stringValue(reference);
    if (target === undefined || !target.startsWith('#/')) return node;
    let found: JsonNode | undefined = this.#root;
    for (const step of target.slice(2).split('/')) {
      const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
      found = found === undefined ? undefined : member(found, name);
    }
    return found ?? node;
  }
}

interface Arguments {
  /** By name, the schemas that the alternatives give it. */
  readonly properties: ReadonlyMap<string, ReadonlySet<JsonText>>;
  readonly required: ReadonlySet<string>;
}

const NOTHING: Arguments = { properties: new Map(), required: new Set() };

function add(properties: Map<string, Set<JsonText>>, name: string, texts: Iterable<JsonText>): void {
  const known = properties.get(name) ?? new Set();
  for (const text of texts) known.add(text);
  properties.set(name, known);
}

function namesIn(list: JsonNode | undefined): string[] {
  if (list?.kind !== 'array') return [];
  return elements(list).flatMap((one) => stringValue(one) ?? []);
}

function joinSchemas(texts: ReadonlySet<JsonText>): JsonText {
  const [only = '{}', ...others] = texts;
  return others.length === 0 ? only : `{"anyOf":[${[only, ...others].join(',')}]}`;
}
