/** Owns the looking into parsed JSON of unknown shape. Judges nothing: what is wrong with a value is for its reader to say. */

export type JsonObject = { readonly [member: string]: unknown };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An own member, never an inherited one: the names come from callers, and `constructor` is a name like any other. */
export function ownMember(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Both wire formats let an optional member be null and mean absent by it. */
export function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}
