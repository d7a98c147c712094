/** Owns how the demo model refuses a body: where, what was found, what was expected. The wire shape is each protocol's. */

export type Path = readonly (string | number)[];

/** A request that a strict provider would refuse with 400. The message never repeats more than a short piece of the body. */
export class BodyProblem extends Error {
  readonly path: Path;
  /** Members of the error object by which an SDK knows what to leave out and try again. */
  readonly details: object | null;

  constructor(path: Path, message: string, details: object | null = null) {
    super(message);
    this.path = path;
    this.details = details;
  }
}

/** Throws the common refusal. `wanted` completes the sentence "expected …". */
export function refuse(path: Path, found: unknown, wanted: string): never {
  throw new BodyProblem(path, `found ${describeValue(found)}; expected ${wanted}`);
}

/** A short, safe description of a JSON value: scalars as they are (strings cut at 40 characters), others by size. */
function describeValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  if (typeof value !== 'string') return String(value);
  const shown = value.length > 40 ? `${value.slice(0, 40)}…` : value;
  return JSON.stringify(shown.toWellFormed());
}
