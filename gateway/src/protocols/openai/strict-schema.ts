/**
 * Checks whether a JSON Schema meets OpenAI's rules for strict structured outputs: closed objects whose members are all
 * required, and only supported keywords. The schema itself is sent verbatim.
 * Rules: https://platform.openai.com/docs/guides/structured-outputs#supported-schemas, as of February 2026.
 */

const DEPTH_MAX = 10;
const MEMBERS_MAX = 5000;
const CHOICES_MAX = 1000;
const SCHEMA_CHARS_MAX = 120_000;

/** OpenAI refuses a strict schema with any other keyword. */
const KEYWORDS = new Set([
  ...['type', 'properties', 'required', 'additionalProperties', 'items', 'anyOf', 'enum', 'const', '$ref', '$defs'],
  ...['definitions', 'description', 'title', '$schema', 'pattern', 'multipleOf', 'minimum', 'maximum'],
  ...['exclusiveMinimum', 'exclusiveMaximum', 'minItems', 'maxItems', 'format', 'default'],
]);

const FORMATS = new Set<unknown>([
  ...['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'],
]);

type Schema = Readonly<Record<string, unknown>>;

interface Tally {
  members: number;
  choices: number;
}

/** `schema` is valid JSON. */
export function isStrictSchema(schema: string): boolean {
  if (schema.length > SCHEMA_CHARS_MAX) return false;
  const root: unknown = JSON.parse(schema);
  if (!isSchema(root) || root.type !== 'object' || 'anyOf' in root) return false;
  const tally = { members: 0, choices: 0 };
  return keepsRules(root, 1, tally) && tally.members <= MEMBERS_MAX && tally.choices <= CHOICES_MAX;
}

/** `depth`: the nesting level of this schema if it is an object. */
function keepsRules(schema: unknown, depth: number, tally: Tally): boolean {
  if (!isSchema(schema) || !Object.keys(schema).every((keyword) => KEYWORDS.has(keyword))) return false;
  const below = (child: unknown) => keepsRules(child, depth, tally);
  if (!everyMember(schema.$defs, below) || !everyMember(schema.definitions, below)) return false;
  if (schema.$ref !== undefined) return Object.keys(schema).length === 1;
  if (schema.type === undefined && schema.anyOf === undefined) return false;
  if (Array.isArray(schema.enum)) tally.choices += schema.enum.length;
  return (
    (schema.format === undefined || FORMATS.has(schema.format)) &&
    (schema.anyOf === undefined || (Array.isArray(schema.anyOf) && schema.anyOf.every(below))) &&
    (saysType(schema, 'array') ? below(schema.items) : schema.items === undefined) &&
    (!saysType(schema, 'object') || isClosed(schema, depth, tally))
  );
}

function isClosed(schema: Schema, depth: number, tally: Tally): boolean {
  const { additionalProperties, properties = {}, required = [] } = schema;
  if (additionalProperties !== false || !isSchema(properties) || !Array.isArray(required)) return false;
  const names = Object.keys(properties);
  const requiredNames = new Set<unknown>(required);
  tally.members += names.length;
  return (
    depth <= DEPTH_MAX &&
    names.length === requiredNames.size &&
    names.every((name) => requiredNames.has(name) && keepsRules(properties[name], depth + 1, tally))
  );
}

function saysType({ type }: Schema, wanted: 'object' | 'array'): boolean {
  return type === wanted || (Array.isArray(type) && type.includes(wanted));
}

function everyMember(schemas: unknown, keeps: (schema: unknown) => boolean): boolean {
  return schemas === undefined || (isSchema(schemas) && Object.values(schemas).every(keeps));
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
