/** Owns the joining of what a schema says by reference (`$ref`) and in parts (`allOf`) into one flat schema. */
import { BodyProblem, type Path, refuse } from '../body-problem.ts';
import { isObject, type JsonObject, ownMember } from '../json-value.ts';

const STEPS_MAX = 64;

/** Rules that a made value might break, so that an answer which promised to fit is refused beforehand. */
const UNSUPPORTED = [
  'not',
  'if',
  'dependentRequired',
  'dependentSchemas',
  'contains',
  'patternProperties',
  'propertyNames',
  '$dynamicRef',
];

/** Of two bounds of one kind, which one demands more. */
const TIGHTER: Readonly<Record<string, (a: number, b: number) => number>> = {
  ...{ minimum: Math.max, exclusiveMinimum: Math.max, minLength: Math.max, minItems: Math.max },
  ...{ maximum: Math.min, exclusiveMaximum: Math.min, maxLength: Math.min, maxItems: Math.min },
};

/** True where anything fits, else a schema without `$ref` and `allOf`. */
export function mergeSchema(schema: unknown, root: JsonObject | boolean, path: Path): JsonObject | true {
  let merged: JsonObject = {};
  const waiting: unknown[] = [schema];
  for (let step = 0; waiting.length > 0; step++) {
    if (step >= STEPS_MAX)
      throw new BodyProblem(path, 'found references that lead in a circle, or too many parts; expected an end to them');
    const part = waiting.shift();
    if (part === true) continue;
    if (!isObject(part)) return refuse(path, part, 'a schema that some value can fit');
    const { $ref, allOf, ...own } = part;
    merged = joinSchemas(merged, own);
    if ($ref !== undefined) waiting.push(resolveReference($ref, root, path));
    if (Array.isArray(allOf)) waiting.push(...allOf.slice(0, STEPS_MAX + 1));
  }
  return Object.keys(merged).length === 0 ? true : merged;
}

export function requireSupported(schema: JsonObject, path: Path): void {
  const found = UNSUPPORTED.find((keyword) => Object.hasOwn(schema, keyword));
  if (found !== undefined)
    throw new BodyProblem(path, `found \`${found}\`, which the demo model cannot promise to keep; leave it out`);
}

/** Members and demands of both, the tighter of two bounds; any other rule of the later one wins. */
function joinSchemas(one: JsonObject, other: JsonObject): JsonObject {
  const joined: Record<string, unknown> = { ...one, ...other };
  if (isObject(one.properties) && isObject(other.properties))
    joined.properties = { ...one.properties, ...other.properties };
  for (const [keyword, tighter] of Object.entries(TIGHTER)) {
    const [a, b] = [one[keyword], other[keyword]];
    if (typeof a === 'number' && typeof b === 'number') joined[keyword] = tighter(a, b);
  }
  if (Array.isArray(one.required) && Array.isArray(other.required))
    joined.required = [...one.required, ...other.required];
  return joined;
}

/** Follows a reference within the document: `#` or a JSON pointer, RFC 6901. */
function resolveReference(reference: unknown, root: JsonObject | boolean, path: Path): unknown {
  if (typeof reference !== 'string' || !/^#(\/|$)/.test(reference))
    return refuse([...path, '$ref'], reference, 'a reference that begins with #/');
  let target: unknown = root;
  for (const token of reference.split('/').slice(1)) {
    const name = decodePointer(token);
    if (Array.isArray(target)) target = target[Number(name)];
    else target = isObject(target) ? ownMember(target, name) : undefined;
  }
  if (typeof target === 'boolean' || isObject(target)) return target;
  return refuse([...path, '$ref'], reference, 'a reference to a schema of the same document');
}

/** A pointer's token; one with a stray percent sign is taken as it stands. */
function decodePointer(token: string): string {
  const plain = /%(?![0-9a-fA-F]{2})/.test(token) ? token : unescapePercent(token);
  return plain.replaceAll('~1', '/').replaceAll('~0', '~');
}

function unescapePercent(token: string): string {
  return new TextDecoder().decode(
    Buffer.from(
      token.replace(/%([0-9a-fA-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
      'latin1',
    ),
  );
}
