/**
 * Checks a value against a JSON Schema in tests: the keywords that the synthesis promises to satisfy, implemented
 * independently of it.
 */

type Schema = Readonly<Record<string, unknown>> | boolean;

/** The first place where the value violates the schema, as `path: keyword`; null if it fits. */
export function findMisfit(value: unknown, schema: Schema, root: Schema = schema, path = '$'): string | null {
  if (typeof schema === 'boolean') return schema ? null : `${path}: false`;
  const nested = checkNested(value, schema, root, path);
  if (nested !== null) return nested;
  for (const [keyword, holds] of Object.entries(CHECKS)) {
    if (schema[keyword] !== undefined && !holds(value, schema[keyword] as never)) return `${path}: ${keyword}`;
  }
  return null;
}

const CHECKS: Readonly<Record<string, (value: unknown, rule: never) => boolean>> = {
  type: (value, rule: string | string[]) => [rule].flat().some((type) => isOfType(value, type)),
  const: (value, rule: unknown) => JSON.stringify(value) === JSON.stringify(rule),
  enum: (value, rule: unknown[]) => rule.some((one) => JSON.stringify(one) === JSON.stringify(value)),
  minimum: (value, rule: number) => typeof value !== 'number' || value >= rule,
  maximum: (value, rule: number) => typeof value !== 'number' || value <= rule,
  exclusiveMinimum: (value, rule: number) => typeof value !== 'number' || value > rule,
  exclusiveMaximum: (value, rule: number) => typeof value !== 'number' || value < rule,
  multipleOf: (value, rule: number) => typeof value !== 'number' || Number.isInteger(value / rule),
  minLength: (value, rule: number) => typeof value !== 'string' || [...value].length >= rule,
  maxLength: (value, rule: number) => typeof value !== 'string' || [...value].length <= rule,
  pattern: (value, rule: string) => typeof value !== 'string' || new RegExp(rule).test(value),
  minItems: (value, rule: number) => !Array.isArray(value) || value.length >= rule,
  maxItems: (value, rule: number) => !Array.isArray(value) || value.length <= rule,
  uniqueItems: (value, rule: boolean) =>
    !rule || !Array.isArray(value) || new Set(value.map((item) => JSON.stringify(item))).size === value.length,
  required: (value, rule: string[]) => !isPlain(value) || rule.every((name) => Object.hasOwn(value, name)),
};

function checkNested(value: unknown, schema: Exclude<Schema, boolean>, root: Schema, path: string): string | null {
  const { $ref, allOf, anyOf, properties, additionalProperties, items } = schema as Record<string, never>;
  if ($ref !== undefined) return findMisfit(value, follow($ref, root), root, path);
  for (const part of (allOf ?? []) as Schema[]) {
    const misfit = findMisfit(value, part, root, path);
    if (misfit !== null) return misfit;
  }
  if (anyOf !== undefined && !(anyOf as Schema[]).some((part) => findMisfit(value, part, root, path) === null))
    return `${path}: anyOf`;
  const children = isPlain(value)
    ? Object.entries(value).map(([name, child]): [string, unknown, Schema] => {
        const own = properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined;
        return [name, child, own ?? additionalProperties ?? true];
      })
    : Array.isArray(value)
      ? value.map((child, at): [string, unknown, Schema] => [String(at), child, items ?? true])
      : [];
  for (const [name, child, rule] of children) {
    const misfit = findMisfit(child, rule, root, `${path}.${name}`);
    if (misfit !== null) return misfit;
  }
  return null;
}

function follow(reference: string, root: Schema): Schema {
  return reference
    .split('/')
    .slice(1)
    .reduce<Schema>((at, token) => (at as Record<string, Schema>)[token] ?? false, root);
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isOfType(value: unknown, type: string): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  return type === 'object' ? isPlain(value) : typeof value === type;
}
