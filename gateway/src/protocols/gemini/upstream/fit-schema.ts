/**
 * Fits a JSON Schema to the keywords that Gemini takes. What it does not take moves into descriptions, where the model
 * reads it. Values stay as written, digit by digit. The keywords are those of `responseJsonSchema`:
 * https://ai.google.dev/api/generate-content#GenerationConfig, read 2026-11-22.
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
import { keyText, scanSchema, writeObject, writeSchema } from '../../exact-json.ts';
import { circularReferences, escapeName } from '../../request/fit-schema.ts';
import type { TranslationNotes } from '../../request/translation-notes.ts';

/** Keywords that are sent with their value unchanged. */
const KEPT: ReadonlySet<string> = new Set([
  ...['$id', '$anchor', 'type', 'format', 'title', 'description', 'enum', 'minItems', 'maxItems', 'minimum', 'maximum'],
  ...['required', 'propertyOrdering'],
]);
const NAMED_SCHEMAS: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions']);
const LISTED_SCHEMAS: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'prefixItems']);
/** Keywords without effect on validity or on a model. */
const SILENT: ReadonlySet<string> = new Set(['$schema', '$comment']);
/** Keywords without effect on validity; the model reads them in the description. */
const ANNOTATIONS: ReadonlySet<string> = new Set([
  ...['default', 'examples', 'example', 'deprecated', 'readOnly', 'writeOnly', 'discriminator'],
]);

/**
 * The schema to send. Reports each keyword that Gemini does not enforce below `path`; `notes` null: the client does not expect it.
 * A text that is not a JSON object, or has duplicate members, is left to Google to judge.
 */
export function renderSchema(written: JsonText, path: string, notes: TranslationNotes | null): JsonText {
  const root = scanSchema(written);
  if (root === null) return written;
  const fitting = new Fitting(circularReferences(root));
  const fitted = fitting.fit(root);
  for (const keyword of notes === null ? [] : fitting.unenforced) {
    notes?.drop(`${path}.${keyword}`, 'Gemini holds no answer to it; the model is only told of it in words');
  }
  return fitting.changed ? fitted : written;
}

class Fitting {
  changed = false;
  readonly unenforced = new Set<string>();
  readonly #circular: ReadonlySet<string>;
  /** The schema that is being fitted is part of a circle of references. */
  #isCircular: boolean;

  constructor(circular: ReadonlySet<string>) {
    this.#circular = circular;
    this.#isCircular = circular.has('#');
  }

  /** A schema as text. A value that is not an object (such as `true`) stays unchanged. */
  fit(node: JsonNode): JsonText {
    if (node.kind !== 'object') return jsonText(node);
    const keywords = new Map<string, JsonText>();
    const words: string[] = [];
    for (const source of this.#sources(node)) {
      for (const keyword of children(source)) this.#take(keyword, node, keywords, words);
    }
    if (keywords.has('$ref')) this.#isolate(keywords, words);
    return writeSchema(keywords, words);
  }

  /** The schema, and the only schema of its `allOf`: together they are one. */
  #sources(node: JsonNode): readonly JsonNode[] {
    const [only, ...others] = elements(member(node, 'allOf') ?? node);
    return only?.kind === 'object' && others.length === 0 ? [node, only] : [node];
  }

  #take(node: JsonNode, holder: JsonNode, keywords: Map<string, JsonText>, words: string[]): void {
    const keyword = memberName(node);
    const keep = (name: string, text: JsonText) => {
      if (!keywords.has(name)) keywords.set(name, text);
    };
    if (keyword === 'required' && this.#isCircular) keep(keyword, this.#openCircle(node, holder));
    else if (KEPT.has(keyword)) keep(keyword, jsonText(node));
    else if (keyword === '$ref') keep(keyword, this.#reference(node));
    else if (NAMED_SCHEMAS.has(keyword) && node.kind === 'object') this.#takeNamed(keyword, node, keep);
    else if (LISTED_SCHEMAS.has(keyword) && node.kind === 'array') keep(keyword, this.#list(node));
    else if (keyword === 'items' && node.kind === 'object') keep(keyword, this.fit(node));
    else if (keyword === 'items' && node.kind === 'array') {
      this.changed = true;
      keep('prefixItems', this.#list(node));
    } else if (keyword === 'additionalProperties') keep(keyword, this.fit(node));
    else if (keyword === 'const') {
      this.changed = true;
      keep('enum', `[${jsonText(node)}]`);
    } else if (SILENT.has(keyword)) this.changed = true;
    else if (keyword === 'allOf' && this.#sources(holder).length > 1) this.changed = true;
    else this.#describe(keyword, node, words);
  }

  #takeNamed(keyword: string, node: JsonNode, keep: (name: string, text: JsonText) => void): void {
    const isOuterCircular = this.#isCircular;
    const schemas = children(node).map((one): readonly [JsonText, JsonText] => {
      if (keyword !== 'properties')
        this.#isCircular = this.#circular.has(`#/${keyword}/${escapeName(memberName(one))}`);
      return [keyText(one), this.fit(one)];
    });
    this.#isCircular = isOuterCircular;
    if (keyword === 'definitions') this.changed = true;
    keep(keyword === 'properties' ? keyword : '$defs', writeObject(schemas));
  }

  /**
   * The required members but those that lead round a circle: Gemini refuses a schema whose values could have no end
   * ("a ref loop of required fields was found"). https://github.com/juspay/juspay-mcp/pull/132, read 2026-11-29.
   */
  #openCircle(required: JsonNode, holder: JsonNode): JsonText {
    const properties = member(holder, 'properties');
    const kept = elements(required).filter((name) => {
      const property = properties === undefined ? undefined : member(properties, stringValue(name) ?? '');
      return property === undefined || !this.#leadsRound(property);
    });
    if (kept.length === elements(required).length) return jsonText(required);
    this.changed = true;
    this.unenforced.add('required');
    return `[${kept.map(jsonText).join(',')}]`;
  }

  /** Objects in it open the circle themselves, and lists that may be empty do. */
  #leadsRound(schema: JsonNode): boolean {
    const reference = member(schema, '$ref');
    if (reference !== undefined) return this.#circular.has(stringValue(reference) ?? '');
    const items = member(schema, 'items');
    const least = member(schema, 'minItems');
    const isFilled = items !== undefined && least !== undefined && jsonText(least) !== '0';
    const inner = ['anyOf', 'oneOf', 'allOf'].flatMap((keyword) => elements(member(schema, keyword) ?? schema));
    return inner.some((one) => this.#leadsRound(one)) || (isFilled && this.#leadsRound(items));
  }

  #list(node: JsonNode): JsonText {
    return `[${elements(node)
      .map((one) => this.fit(one))
      .join(',')}]`;
  }

  /** Definitions are found under one name only. */
  #reference(node: JsonNode): JsonText {
    const target = stringValue(node) ?? '';
    if (!target.startsWith('#/definitions/')) return jsonText(node);
    this.changed = true;
    return JSON.stringify(target.replace('#/definitions/', '#/$defs/'));
  }

  #describe(keyword: string, node: JsonNode, words: string[]): void {
    this.changed = true;
    words.push(`${keyword}: ${jsonText(node)}`);
    if (!ANNOTATIONS.has(keyword)) this.unenforced.add(keyword);
  }

  /** Only keywords that begin with `$` are allowed beside `$ref`. */
  #isolate(keywords: Map<string, JsonText>, words: string[]): void {
    for (const keyword of [...keywords.keys()]) {
      if (keyword.startsWith('$')) continue;
      keywords.delete(keyword);
      this.changed = true;
      if (keyword !== 'title' && keyword !== 'description') this.unenforced.add(keyword);
    }
    words.length = 0;
  }
}
