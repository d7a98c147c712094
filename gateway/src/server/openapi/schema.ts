/** Provides helpers to build JSON Schemas (2020-12) concisely. */

/** A JSON Schema, an OpenAPI object, or a part of one. */
export type OpenapiPart = { readonly [member: string]: unknown };

export const TEXT: OpenapiPart = { type: 'string' };
export const FLAG: OpenapiPart = { type: 'boolean' };
export const COUNT: OpenapiPart = { type: 'integer', minimum: 0 };
export const TIME: OpenapiPart = { type: 'string', format: 'date-time' };
export const NANO_USD: OpenapiPart = { type: 'string', pattern: '^-?[0-9]+$', description: 'In 10^-9 US dollars.' };

export const is = (value: string): OpenapiPart => ({ const: value });

export const oneOf = (...values: readonly string[]): OpenapiPart => ({ type: 'string', enum: values });

export const listOf = (items: OpenapiPart): OpenapiPart => ({ type: 'array', items });

export const orNull = (schema: OpenapiPart): OpenapiPart => ({ anyOf: [schema, { type: 'null' }] });

/** Members with the same schema. */
export const each = (schema: OpenapiPart, ...names: readonly string[]): OpenapiPart =>
  Object.fromEntries(names.map((name) => [name, schema]));

export const refTo = (name: string): OpenapiPart => ({ $ref: `#/components/schemas/${name}` });

/** An object; a name that ends in `?` is optional. Other members are allowed. */
export function object(members: OpenapiPart, description?: string): OpenapiPart {
  const entries = Object.entries(members).map(([name, schema]) => [name.replace(/\?$/, ''), schema] as const);
  const required = Object.keys(members).filter((name) => !name.endsWith('?'));
  return {
    type: 'object',
    ...(description === undefined ? {} : { description }),
    properties: Object.fromEntries(entries),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: true,
  };
}
