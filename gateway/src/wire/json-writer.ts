/** Owns writing JSON in which some values are given as text that must stay as it was written. Checks no such text. */

/** A value written elsewhere, put in as it is. */
export class RawJson {
  constructor(readonly text: string) {}
}

/** What can be written. `undefined` members are left out, as JSON.stringify does. */
export type WritableJson =
  | null
  | boolean
  | number
  | string
  | RawJson
  | readonly WritableJson[]
  | { readonly [member: string]: WritableJson | undefined };

/** JSON text without white space. Numbers must be finite. */
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

/** Keys are few and come again and again: each is written once. The bound is for whoever writes names of somebody else's. */
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
  if (!Number.isFinite(value)) throw new RangeError(`JSON has no number ${value}`);
  return String(value);
}

function isList(value: object): value is readonly WritableJson[] {
  return Array.isArray(value);
}
