/** Owns the small words in which the OpenAPI document's schemas are written. Describes no endpoint. */

/** A JSON Schema (2020-12), an OpenAPI object, or a part of one. */
export type OpenapiPart = { readonly [member: string]: unknown };

export const text = (description: string): OpenapiPart => ({ type: 'string', description });

export const flag = (description: string): OpenapiPart => ({ type: 'boolean', description });

export const count = (description: string, minimum = 0): OpenapiPart => ({ type: 'integer', minimum, description });

/** A number with both ends of its range included. */
export const range = (minimum: number, maximum: number, description: string): OpenapiPart => {
  return { type: 'number', minimum, maximum, description };
};

export const words = (values: readonly string[], description: string): OpenapiPart => {
  return { type: 'string', enum: values, description };
};

export const listOf = (items: OpenapiPart, description: string): OpenapiPart => ({ type: 'array', items, description });

export const refTo = (name: string): OpenapiPart => ({ $ref: `#/components/schemas/${name}` });

/** The member may also be null, which means the same as its absence. */
export const orNull = (schema: OpenapiPart): OpenapiPart => ({ anyOf: [schema, { type: 'null' }] });

/** An object that may hold more members than it names: the gateway hands those on. */
export const shape = (description: string, properties: OpenapiPart, required: readonly string[] = []): OpenapiPart => {
  return {
    type: 'object',
    description,
    properties,
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: true,
  };
};
