/**
 * Fits a JSON Schema to what Anthropic can enforce: closes its objects and moves the keywords that Anthropic refuses
 * into descriptions, where the model reads them. Everything else stays as written, digit by digit. Leaves schemas that
 * already fit unchanged. Rules:
 * https://docs.claude.com/en/docs/build-with-claude/structured-outputs#json-schema-limitations, read 2026-11-22.
 */
import type { JsonText } from '../../generation/part.ts';
import { children, elements, type JsonNode, jsonText, member, memberName, stringValue } from '../../wire/json-node.ts';
import { keyText, scanSchema, writeObject, writeSchema } from '../exact-json.ts';
import type { TranslationNotes } from './translation-notes.ts';

/** A schema that fits, and the keywords, each once, that are no longer enforced. */
export interface FittedSchema {
  readonly schema: JsonText;
  readonly unenforced: readonly string[];
  /** Closing its objects leaves out members that the schema describes, as of a map from names to numbers. */
  readonly losesMembers: boolean;
  /** Its root describes no members: arguments without members, or an answer with any. */
  readonly isBare: boolean;
  /** Anthropic refuses it in any form: it refers to itself ("Circular reference detected"), or joins references by `allOf`. */
  readonly isRefused: boolean;
}

/** Keywords that are sent with their value unchanged. */
const KEPT = new Set(['type', 'title', 'description', 'default', 'required', '$ref']);
/** Keywords that hold schemas by name. */
const NAMED_SCHEMAS = new Set(['properties', '$defs', 'definitions']);
/** Keywords without effect on validity or on a model. */
const SILENT = new Set(['$schema', '$id', '$anchor', '$comment']);
/** Keywords without effect on validity; the model reads them in the description. */
const ANNOTATIONS = new Set(['examples', 'example', 'deprecated', 'readOnly', 'writeOnly', 'discriminator']);
const FORMATS = new Set<unknown>([
  ...['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid'],
]);

/** A schema under construction: its keywords in order, and those moved to the description. */
class Draft {
  readonly keywords = new Map<string, JsonText>();
  readonly properties = new Map<string, JsonText>();
  readonly required = new Set<JsonText>();
  readonly words: string[] = [];
}

/** Fits the schema. A text that is not a JSON object, or has duplicate members, is left to upstream to judge. */
export function fitSchema(schema: JsonText): FittedSchema {
  const root = scanSchema(schema);
  if (root === null) return { schema, unenforced: [], losesMembers: false, isBare: false, isRefused: false };
  const fitting = new Fitting(root);
  const fitted = fitting.fit(root);
  const { changed, unenforced, losesMembers, isBare } = fitting;
  const isRefused = fitting.joinsReferences || circularReferences(root).size > 0;
  return { schema: changed ? fitted : schema, unenforced: [...unenforced], losesMembers, isBare, isRefused };
}

/**
 * The schema to send. Reports each keyword that moved to a description below `path`, because it is not enforced for the
 * client.
 */
export function renderSchema(written: JsonText, path: string, notes: TranslationNotes): JsonText {
  const { schema, unenforced } = fitSchema(written);
  for (const keyword of unenforced) {
    notes.drop(`${path}.${keyword}`, 'Anthropic holds no answer to it; the model is only told of it in words');
  }
  return schema;
}

class Fitting {
  changed = false;
  losesMembers = false;
  isBare = false;
  joinsReferences = false;
  readonly unenforced = new Set<string>();
  readonly #root: JsonNode;

  constructor(root: JsonNode) {
    this.#root = root;
  }

  /** A schema as text. A value that is not an object (such as `true`) stays unchanged. */
  fit(node: JsonNode): JsonText {
    if (node.kind !== 'object') return jsonText(node);
    const draft = new Draft();
    for (const source of this.#sources(node))
      for (const keyword of children(source)) this.#take(keyword, source, draft);
    if (draft.keywords.has('$ref')) this.#isolate(draft);
    else this.#close(node, draft);
    return writeSchema(draft.keywords, draft.words);
  }

  /** The schema and, if all of `allOf` can be merged, its entries: together they form one schema. */
  #sources(node: JsonNode): readonly JsonNode[] {
    const all = elements(member(node, 'allOf') ?? node);
    const isPlain = all.length > 0 && all.every((one) => one.kind === 'object' && isMergeable(one, all.length));
    return isPlain ? [node, ...all] : [node];
  }

  #take(node: JsonNode, holder: JsonNode, draft: Draft): void {
    const keyword = memberName(node);
    if (NAMED_SCHEMAS.has(keyword) && node.kind === 'object') {
      const schemas = children(node).map((one) => [keyText(one), this.fit(one)] as const);
      if (keyword === 'properties') for (const [name, text] of schemas) draft.properties.set(name, text);
      draft.keywords.set(keyword, writeObject(keyword === 'properties' ? draft.properties : schemas));
    } else if (keyword === 'required' && node.kind === 'array') {
      for (const name of elements(node)) draft.required.add(jsonText(name));
      draft.keywords.set(keyword, `[${[...draft.required].join(',')}]`);
    } else if (KEPT.has(keyword)) this.#keepFirst(keyword, jsonText(node), draft);
    else if (SILENT.has(keyword)) this.changed = true;
    else if (keyword === 'additionalProperties') this.#keepClosed(node, draft);
    else if (keyword === 'items' && node.kind === 'object') draft.keywords.set(keyword, this.fit(node));
    else if (keyword === 'anyOf' || keyword === 'oneOf' || keyword === 'allOf')
      this.#takeChoice(keyword, node, holder, draft);
    else if (isTaken(keyword, node)) draft.keywords.set(keyword, jsonText(node));
    else this.#describe(keyword, node, draft);
  }

  /** If a keyword occurs several times in `allOf`, the outermost one applies. */
  #keepFirst(keyword: string, text: JsonText, draft: Draft): void {
    if (!draft.keywords.has(keyword)) draft.keywords.set(keyword, text);
  }

  #keepClosed(node: JsonNode, draft: Draft): void {
    if (node.kind === 'false') draft.keywords.set('additionalProperties', 'false');
    else this.#lose('additionalProperties');
    this.losesMembers ||= children(node).length > 0;
  }

  /**
   * `oneOf` becomes `anyOf`, which Anthropic supports. Conditions that are not complete schemas move to the
   * description.
   */
  #takeChoice(keyword: string, node: JsonNode, holder: JsonNode, draft: Draft): void {
    const choices = elements(node);
    if (keyword === 'allOf' && this.#sources(holder).length > 1) {
      this.changed = true;
      return;
    }
    const isClear = choices.length > 0 && choices.every(saysType);
    if (!isClear || (keyword === 'oneOf' && member(holder, 'anyOf') !== undefined)) {
      this.#describe(keyword, node, draft);
      return;
    }
    if (keyword === 'oneOf') this.#lose(keyword);
    if (keyword === 'allOf') this.joinsReferences ||= choices.some((one) => member(one, '$ref') !== undefined);
    draft.keywords.set(keyword === 'oneOf' ? 'anyOf' : keyword, `[${choices.map((one) => this.fit(one)).join(',')}]`);
  }

  #describe(keyword: string, node: JsonNode, draft: Draft): void {
    this.changed = true;
    draft.words.push(`${keyword}: ${jsonText(node)}`);
    if (!ANNOTATIONS.has(keyword)) this.#lose(keyword);
  }

  #lose(keyword: string): void {
    this.changed = true;
    this.unenforced.add(keyword);
  }

  /** Only definitions are allowed next to `$ref`. */
  #isolate({ keywords, words }: Draft): void {
    for (const keyword of [...keywords.keys()]) {
      if (keyword === '$ref' || keyword === '$defs' || keyword === 'definitions') continue;
      keywords.delete(keyword);
      if (['title', 'description', 'default'].includes(keyword)) this.changed = true;
      else this.#lose(keyword);
    }
    words.length = 0;
  }

  #close(node: JsonNode, { keywords, properties }: Draft): void {
    const isLiteral = keywords.has('enum') || keywords.has('const');
    if (isLiteral && keywords.get('type')?.startsWith('[')) {
      keywords.delete('type');
      this.changed = true;
    }
    if (!isLiteral && !keywords.has('type') && keywords.has('properties')) {
      keywords.set('type', '"object"');
      this.changed = true;
    }
    if (!names(keywords.get('type'), 'object')) return;
    // Closed without a property, the object could only be empty, which the client may not intend.
    const others = member(node, 'additionalProperties');
    const isOpen = others?.kind !== 'false';
    if (isOpen && !keywords.has('properties')) this.#lose('additionalProperties');
    const isBare = others === undefined && !keywords.has('properties');
    if (isBare && node === this.#root) this.isBare = true;
    else if (isBare || others !== undefined) this.losesMembers ||= isOpen && properties.size === 0;
    if (!keywords.has('properties')) keywords.set('properties', '{}');
    if (isOpen) this.changed = true;
    keywords.set('additionalProperties', 'false');
  }
}

/**
 * The references to definitions, or `#` to the whole schema, that lead to themselves, also through others; besides, those
 * on the way from one circle to another.
 */
export function circularReferences(root: JsonNode): ReadonlySet<string> {
  const schemas = new Map([...definitionsOf(root), ['#', root]]);
  const to = new Map<string, string[]>();
  const from = new Map([...schemas.keys()].map((name): [string, string[]] => [name, []]));
  for (const [name, schema] of schemas) {
    const known = referencesIn(schema).filter((reference) => schemas.has(reference));
    to.set(name, known);
    for (const reference of known) from.get(reference)?.push(name);
  }
  const left = new Set(schemas.keys());
  removeEnds(left, to, from);
  removeEnds(left, from, to);
  return left;
}

/** Removes what leads nowhere, and then what leads only there. `back` is `to` in the other direction. */
function removeEnds(
  left: Set<string>,
  to: ReadonlyMap<string, readonly string[]>,
  back: ReadonlyMap<string, readonly string[]>,
): void {
  const counts = new Map([...left].map((name) => [name, to.get(name)?.filter((one) => left.has(one)).length ?? 0]));
  const ends = [...left].filter((name) => counts.get(name) === 0);
  for (let end = ends.pop(); end !== undefined; end = ends.pop()) {
    left.delete(end);
    for (const name of back.get(end) ?? []) {
      if (!left.has(name)) continue;
      const count = (counts.get(name) ?? 0) - 1;
      counts.set(name, count);
      if (count === 0) ends.push(name);
    }
  }
}

/** A name as a step of a JSON pointer. */
export function escapeName(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** The definitions by the references that lead to them. */
function definitionsOf(root: JsonNode): ReadonlyMap<string, JsonNode> {
  const found = new Map<string, JsonNode>();
  for (const group of ['$defs', 'definitions']) {
    const named = member(root, group);
    for (const schema of named?.kind === 'object' ? children(named) : []) {
      found.set(`#/${group}/${escapeName(memberName(schema))}`, schema);
    }
  }
  return found;
}

/** The references of a schema, without those of its definitions. */
function referencesIn(schema: JsonNode): string[] {
  const found: string[] = [];
  const open = [schema];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    for (const child of children(node)) {
      const name = node.kind === 'object' ? memberName(child) : null;
      if (name === '$ref' && child.kind === 'string') found.push(stringValue(child) ?? '');
      else if (node !== schema || (name !== '$defs' && name !== 'definitions')) open.push(child);
    }
  }
  return found;
}

/** Whether it is a complete schema: one that constrains its values' type. */
function saysType(node: JsonNode): boolean {
  const words = ['type', 'enum', 'const', '$ref', 'anyOf', 'oneOf', 'allOf', 'properties'];
  return node.kind === 'object' && words.some((word) => member(node, word) !== undefined);
}

/** Whether an entry of `allOf` can be merged into the schema around it; a reference only if it is the only entry. */
function isMergeable(entry: JsonNode, count: number): boolean {
  if (member(entry, '$ref') !== undefined) return count === 1;
  return ['anyOf', 'oneOf', 'allOf', 'enum', 'const'].every((word) => count === 1 || member(entry, word) === undefined);
}

/** Keywords that Anthropic accepts only with some values. */
function isTaken(keyword: string, node: JsonNode): boolean {
  switch (keyword) {
    case 'enum': {
      const values = elements(node);
      return values.length > 0 && values.every(isPrimitive);
    }
    case 'const':
      return isPrimitive(node);
    case 'format':
      return FORMATS.has(stringValue(node));
    case 'minItems':
      return jsonText(node) === '0' || jsonText(node) === '1';
    default:
      return false;
  }
}

function isPrimitive({ kind }: JsonNode): boolean {
  return kind !== 'object' && kind !== 'array';
}

/** Whether a `type`, one name or several, includes this one. */
function names(type: JsonText | undefined, word: string): boolean {
  return type?.includes(`"${word}"`) ?? false;
}
