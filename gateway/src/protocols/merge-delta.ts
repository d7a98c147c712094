/** Owns putting a JSON value together that comes in deltas, by rules that need no list of members. Knows no format. */
import { asObject, type JsonObject } from './json.ts';

/** A value in the making: an object without a prototype, so that no name of somebody else's means anything. */
export type JsonDraft = { [member: string]: unknown };

export function startDraft(): JsonDraft {
  return Object.create(null) as JsonDraft;
}

/**
 * Merges the delta: texts are joined, objects merged, lists grow (what names an `index` goes on where that began), all else is
 * replaced. Null changes nothing that is there. Of members in `said` the first word counts: hosts say them again and again.
 */
export function mergeDelta(draft: JsonDraft, delta: JsonObject, said: ReadonlySet<string>): void {
  for (const name of Object.keys(delta)) mergeMember(draft, name, delta[name], said);
}

/** As `mergeDelta`, of one member. */
export function mergeMember(draft: JsonDraft, name: string, value: unknown, said: ReadonlySet<string>): void {
  const before = draft[name];
  const object = asObject(value);
  if (value === null) draft[name] ??= null;
  else if (said.has(name)) draft[name] = before === undefined || before === null || before === '' ? value : before;
  else if (typeof value === 'string') draft[name] = typeof before === 'string' ? before + value : value;
  else if (Array.isArray(value)) draft[name] = growList(Array.isArray(before) ? before : [], value, said);
  else if (object !== null) draft[name] = grow(asObject(before) === null ? startDraft() : before, object, said);
  else draft[name] = value;
}

function grow(draft: unknown, delta: JsonObject, said: ReadonlySet<string>): JsonDraft {
  mergeDelta(draft as JsonDraft, delta, said);
  return draft as JsonDraft;
}

/** Elements are drafts, so that later ones can go on in them. */
function growList(list: unknown[], added: readonly unknown[], said: ReadonlySet<string>): unknown[] {
  for (const value of added) {
    const element = asObject(value);
    if (element === null) {
      list.push(value);
      continue;
    }
    const { index } = element;
    const known = typeof index === 'number' ? list.find((one) => asObject(one)?.index === index) : undefined;
    if (known === undefined) list.push(grow(startDraft(), element, said));
    else grow(known, element, said);
  }
  return list;
}
