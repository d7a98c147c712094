/** Owns the making of a string that fits a schema's format, pattern and length. */
import { BodyProblem, type Path } from '../body-problem.ts';
import type { JsonObject } from '../json-value.ts';
import type { Material } from './material.ts';
import { synthesizePattern } from './synthesize-pattern.ts';

/** Longer demands are refused: the demo model does not fill memory on request. */
const LENGTH_MAX = 10_000;

/** One example per format of JSON Schema's vocabulary; `n` keeps several of them apart. */
const FORMATS: Readonly<Record<string, (n: number) => string>> = {
  'date-time': (n) => `2026-01-${day(n)}T12:00:00Z`,
  date: (n) => `2026-01-${day(n)}`,
  time: (n) => `12:${String(n % 60).padStart(2, '0')}:00Z`,
  duration: (n) => `PT${n}M`,
  email: (n) => `person${n}@example.com`,
  'idn-email': (n) => `person${n}@example.com`,
  hostname: (n) => `host${n}.example.com`,
  'idn-hostname': (n) => `host${n}.example.com`,
  ipv4: (n) => `192.0.2.${n % 256}`,
  ipv6: (n) => `2001:db8::${(n % 65536).toString(16)}`,
  uri: (n) => `https://example.com/${n}`,
  'uri-reference': (n) => `/${n}`,
  iri: (n) => `https://example.com/${n}`,
  uuid: (n) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
  'json-pointer': (n) => `/${n}`,
  regex: () => '^.*$',
};

/** A string for the member `name`; from the message where nothing but its length is demanded. */
export function synthesizeString(
  schema: JsonObject,
  {
    material,
    path,
    purpose,
  }: { readonly material: Material; readonly path: Path; readonly purpose: 'arguments' | 'answer' },
  name: string,
): string {
  const format =
    typeof schema.format === 'string' && Object.hasOwn(FORMATS, schema.format) ? FORMATS[schema.format] : undefined;
  if (format !== undefined) return format(material.nextOrdinal());
  if (typeof schema.pattern === 'string') {
    const made = synthesizePattern(schema.pattern, LENGTH_MAX);
    if (made !== null) return made;
    if (purpose === 'answer') {
      throw new BodyProblem(
        path,
        `found the pattern ${JSON.stringify(schema.pattern.slice(0, 80))}, which the demo model cannot write to; use a simpler one`,
      );
    }
  }
  return fitLength(material.takePhrase(name), schema, path);
}

function fitLength(text: string, schema: JsonObject, path: Path): string {
  const least = typeof schema.minLength === 'number' ? schema.minLength : 0;
  const most = typeof schema.maxLength === 'number' ? schema.maxLength : LENGTH_MAX;
  if (least > LENGTH_MAX || least > most) {
    throw new BodyProblem(
      path,
      `found a string of at least ${least} characters; expected \`minLength\` of at most ${Math.min(most, LENGTH_MAX)}`,
    );
  }
  const characters = Array.from(text);
  if (characters.length > most) return characters.slice(0, most).join('');
  return text + '.'.repeat(Math.max(0, Math.ceil(least) - characters.length));
}

function day(n: number): string {
  return String((n % 28) + 1).padStart(2, '0');
}
