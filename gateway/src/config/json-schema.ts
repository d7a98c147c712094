/** Owns the published JSON Schema of the configuration file, for editors and for the documentation page. */
import { z } from 'zod';
import { fileSchema } from './file-schema.ts';

/** A node of the schema, as far as its readers look at it. */
export interface SchemaNode {
  readonly description?: string;
  readonly default?: unknown;
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly anyOf?: readonly SchemaNode[];
  readonly properties?: { readonly [name: string]: SchemaNode };
  readonly required?: readonly string[];
  readonly additionalProperties?: SchemaNode | false;
  readonly items?: SchemaNode;
  readonly [member: string]: unknown;
}

/** JSON Schema 2020-12 of the file. Wherever it wants a single value, an expression such as `${NAME}` fits as well. */
export function renderConfigSchema(): SchemaNode {
  const schema = z.toJSONSchema(fileSchema, {
    io: 'input',
    override: ({ zodSchema, jsonSchema }) => {
      // The converter drops what a transformed value has as its default; the page and editors want it.
      const fallback = z.globalRegistry.get(zodSchema)?.default;
      if (fallback !== undefined) jsonSchema.default = fallback as typeof jsonSchema.default;
    },
  });
  return { title: 'Tollgate configuration', ...schema } as SchemaNode;
}
