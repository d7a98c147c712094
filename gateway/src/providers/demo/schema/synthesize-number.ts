/** Owns the making of a number that fits a schema's bounds. */
import { BodyProblem, type Path } from '../body-problem.ts';
import type { JsonObject } from '../json-value.ts';
import type { Material } from './material.ts';

/** A number of the message that fits, else 1 or the nearest number within the bounds. */
export function synthesizeNumber(
  schema: JsonObject,
  { material, path }: { readonly material: Material; readonly path: Path },
  isInteger: boolean,
): number {
  const fits = (value: number) => fitsBounds(value, schema) && (!isInteger || Number.isInteger(value));
  const found = material.takeNumber(fits) ?? candidates(schema, isInteger).find(fits);
  if (found !== undefined) return found;
  throw new BodyProblem(
    path,
    'found bounds of a number that no tried value fits; widen `minimum`, `maximum` or `multipleOf`',
  );
}

function fitsBounds(value: number, schema: JsonObject): boolean {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  if (typeof minimum === 'number' && (value < minimum || (exclusiveMinimum === true && value === minimum)))
    return false;
  if (typeof maximum === 'number' && (value > maximum || (exclusiveMaximum === true && value === maximum)))
    return false;
  if (typeof exclusiveMinimum === 'number' && value <= exclusiveMinimum) return false;
  if (typeof exclusiveMaximum === 'number' && value >= exclusiveMaximum) return false;
  return typeof multipleOf !== 'number' || multipleOf <= 0 || Number.isInteger(value / multipleOf);
}

function candidates(schema: JsonObject, isInteger: boolean): readonly number[] {
  const low = firstNumber(schema.minimum, schema.exclusiveMinimum);
  const high = firstNumber(schema.maximum, schema.exclusiveMaximum);
  const unit = firstNumber(schema.multipleOf) ?? 1;
  const tried = [1, 0, unit];
  if (low !== null) tried.push(low, low + 1, Math.ceil(low / unit) * unit, (Math.floor(low / unit) + 1) * unit);
  if (high !== null) tried.push(high, high - 1, Math.floor(high / unit) * unit, (Math.ceil(high / unit) - 1) * unit);
  if (low !== null && high !== null && !isInteger) tried.push((low + high) / 2);
  return isInteger ? [...tried, ...tried.map(Math.ceil), ...tried.map(Math.floor)] : tried;
}

function firstNumber(...values: readonly unknown[]): number | null {
  return values.find((value) => typeof value === 'number') ?? null;
}
