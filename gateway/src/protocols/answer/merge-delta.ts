/** Builds a JSON value from deltas by generic rules, independent of the wire format. */
import { asObject, type JsonObject } from '../json.ts';

/** A value under construction: an object without a prototype, so that `__proto__` is an ordinary member name. */
export type JsonDraft = { [member: string]: unknown };

export function startDraft(): JsonDraft {
  return Object.create(null) as JsonDraft;
}

/** Strings that providers send whole, some with every delta: the first value is kept. */
const WHOLE_TEXTS: ReadonlySet<string> = new Set(['role', 'id', 'type', 'name', 'index', 'format']);

/**
 * Merges the delta: strings are concatenated, objects merged, arrays appended (an element with the `index` of an
 * earlier one continues it), everything else is replaced. Null never replaces an existing value.
 */
export function mergeDelta(draft: JsonDraft, delta: JsonObject): void {
  for (const name of Object.keys(delta)) mergeMember(draft, name, delta[name]);
}

/** Like `mergeDelta`, for one member. */
export function mergeMember(draft: JsonDraft, name: string, value: unknown): void {
  const before = draft[name];
  const object = asObject(value);
  if (value === null) draft[name] ??= null;
  else if (WHOLE_TEXTS.has(name))
    draft[name] = before === undefined || before === null || before === '' ? value : before;
  else if (typeof value === 'string') draft[name] = typeof before === 'string' ? before + value : value;
  else if (Array.isArray(value)) draft[name] = growList(Array.isArray(before) ? before : [], value);
  else if (object !== null) draft[name] = grow(asObject(before) === null ? startDraft() : before, object);
  else draft[name] = value;
}

function grow(draft: unknown, delta: JsonObject): JsonDraft {
  mergeDelta(draft as JsonDraft, delta);
  return draft as JsonDraft;
}

/** The elements of each list under construction that have an `index`: upstream chooses how many there are. */
const numbered = new WeakMap<unknown[], Map<number, JsonDraft>>();

/** Elements are drafts, so that later deltas can continue them. */
function growList(list: unknown[], added: readonly unknown[]): unknown[] {
  const known = numbered.get(list) ?? new Map<number, JsonDraft>();
  numbered.set(list, known);
  for (const value of added) {
    const element = asObject(value);
    const index = typeof element?.index === 'number' ? element.index : null;
    const before = index === null ? undefined : known.get(index);
    if (element === null) list.push(value);
    else if (before !== undefined) grow(before, element);
    else {
      const begun = grow(startDraft(), element);
      list.push(begun);
      if (index !== null) known.set(index, begun);
    }
  }
  return list;
}
