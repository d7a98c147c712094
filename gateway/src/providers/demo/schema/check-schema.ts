/** Owns the first look at a JSON Schema in a request: that it is one at all. What it demands is read when it is answered. */
import { type Path, refuse } from '../body-problem.ts';
import { isObject, type JsonObject } from '../json-value.ts';

export function checkSchema(value: unknown, path: Path): JsonObject | boolean {
  if (typeof value === 'boolean' || isObject(value)) return value;
  return refuse(path, value, 'a JSON Schema (an object)');
}
