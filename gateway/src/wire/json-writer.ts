/** Writes JSON in which some values are raw text that must stay exactly as written. Does not validate that text. */

/** JSON text that is inserted unchanged. */
export class RawJson {
  constructor(readonly text: string) {}
}

/** Values that can be written. `undefined` members are omitted, as in JSON.stringify. */
export type WritableJson =
  | null
  | boolean
  | number
  | string
  | RawJson
  | readonly WritableJson[]
  | { readonly [member: string]: WritableJson | undefined };

/** JSON text without white space. Throws RangeError for NaN. */
export function writeJson(value: WritableJson): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number') return writeNumber(value);
  if (value instanceof RawJson) return value.text;
  if (isList(value)) return writeList(value);
  let text = '';
  for (const name in value) {
    const member = value[name];
    if (member !== undefined) text += (text === '' ? '' : ',') + writeKey(name) + writeJson(member);
  }
  return `{${text}}`;
}

/** Keys are few and repeat, so each is escaped once. The limit covers callers that write names from outside. */
const KEYS_MAX = 1_000;
const keys = new Map<string, string>();

function writeKey(name: string): string {
  const known = keys.get(name);
  if (known !== undefined) return known;
  const written = `${JSON.stringify(name)}:`;
  if (keys.size < KEYS_MAX) keys.set(name, written);
  return written;
}

function writeList(values: readonly WritableJson[]): string {
  let text = '';
  for (let index = 0; index < values.length; index++) {
    text += `${index === 0 ? '' : ','}${writeJson(values[index] as WritableJson)}`;
  }
  return `[${text}]`;
}

function writeNumber(value: number): string {
  if (Number.isNaN(value)) throw new RangeError('JSON has no number NaN');
  // A provider's 1e400 was read as Infinity: the nearest number that the reader of this text can hold.
  return String(Number.isFinite(value) ? value : Math.sign(value) * Number.MAX_VALUE);
}

function isList(value: object): value is readonly WritableJson[] {
  return Array.isArray(value);
}
