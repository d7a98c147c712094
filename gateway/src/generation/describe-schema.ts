/**
 * Owns what a model is shown of a tool's JSON Schema where its prompt declares tools as functions of a typed language, not as
 * JSON. The text is for counting only; nobody is sent it.
 */
import type { JsonText } from './part.ts';

/** A schema in short. Of a text that is no JSON object, or of null: no properties and no text. */
export interface SchemaOutline {
  /** Properties at all depths. */
  readonly properties: number;
  /** The type, as a declaration has it: `{\n// Which one.\ncity: string,\nunit?: "C" | "F", // default: C\n}`; empty: takes none. */
  readonly declaration: string;
}

/** Deeper schemas are cut: no vendor takes them, and the recursion stays small whatever was sent. */
const DEPTH_MAX = 24;

type Schema = { readonly [member: string]: unknown };

/** The outline of a schema's text. Never throws. */
export function describeSchema(json: JsonText | null): SchemaOutline {
  const schema = parse(json);
  if (schema === null) return { properties: 0, declaration: '' };
  const count = { properties: 0 };
  const declaration = typeOf(schema, count, DEPTH_MAX);
  return { properties: count.properties, declaration: count.properties === 0 ? '' : declaration };
}

function parse(json: JsonText | null): Schema | null {
  if (json === null) return null;
  try {
    return asSchema(JSON.parse(json));
  } catch {
    return null;
  }
}

function asSchema(value: unknown): Schema | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Schema) : null;
}

function typeOf(value: unknown, count: { properties: number }, depth: number): string {
  const schema = asSchema(value);
  if (schema === null || depth === 0) return 'any';
  if (Array.isArray(schema.enum)) return schema.enum.map((one) => JSON.stringify(one)).join(' | ');
  if ('const' in schema) return JSON.stringify(schema.const);
  for (const alternatives of [schema.anyOf, schema.oneOf, schema.allOf]) {
    if (Array.isArray(alternatives)) return alternatives.map((one) => typeOf(one, count, depth - 1)).join(' | ');
  }
  if (schema.properties !== undefined) return objectType(schema, count, depth);
  if (schema.items !== undefined) return `${typeOf(schema.items, count, depth - 1)}[]`;
  if (typeof schema.$ref === 'string') return schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1);
  return Array.isArray(schema.type) ? schema.type.join(' | ') : typeof schema.type === 'string' ? schema.type : 'any';
}

function objectType(schema: Schema, count: { properties: number }, depth: number): string {
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  let text = '{\n';
  for (const [name, value] of Object.entries(asSchema(schema.properties) ?? {})) {
    count.properties += 1;
    const property = asSchema(value);
    for (const comment of [property?.title, property?.description]) {
      if (typeof comment === 'string' && comment !== '') text += `// ${comment}\n`;
    }
    const fallback = property?.default;
    const note = fallback === undefined || fallback === null ? '' : ` // default: ${JSON.stringify(fallback)}`;
    text += `${name}${required.has(name) ? '' : '?'}: ${typeOf(value, count, depth - 1)},${note}\n`;
  }
  return `${text}}`;
}
