/** Owns the reading of `response_format`. Whether the schema can be answered is judged where the answer is made. */
import { checkObject, checkRequiredWord, checkText } from '../check-member.ts';
import { isAbsent } from '../json-value.ts';
import type { AnswerFormat } from '../prompt.ts';
import { checkSchema } from '../schema/check-schema.ts';

const TYPES = ['text', 'json_object', 'json_schema'];

/** The wanted format, or null for plain text. */
export function parseChatFormat(value: unknown): AnswerFormat | null {
  if (isAbsent(value)) return null;
  const path = ['response_format'];
  const format = checkObject(value, path);
  const type = checkRequiredWord(format.type, [...path, 'type'], TYPES);
  if (type === 'text') return null;
  if (type === 'json_object') return { schema: null, path };
  const wrapped = checkObject(format.json_schema, [...path, 'json_schema']);
  checkText(wrapped.name, [...path, 'json_schema', 'name'], 'a name for the schema');
  const schemaPath = [...path, 'json_schema', 'schema'];
  if (isAbsent(wrapped.schema)) return { schema: null, path: schemaPath };
  return { schema: checkSchema(wrapped.schema, schemaPath), path: schemaPath };
}
