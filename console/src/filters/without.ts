/** Owns filters for calls that have nothing of a kind: in the address all of them are one list, so that no value is taken for none. */

const MEMBER = 'without';

type Search = Readonly<Record<string, string | undefined>>;

/** The kinds of which the address asks for calls without. */
export function readWithout(search: Search): readonly string[] {
  return search[MEMBER]?.split(',').filter((name) => name !== '') ?? [];
}

/** The changes to the address that set a filter to a value; null: to calls without one; undefined: take it away. */
export function filterChange(search: Search, name: string, value: string | null | undefined) {
  const others = readWithout(search).filter((one) => one !== name);
  const without = value === null ? [...others, name] : others;
  return { [name]: value ?? undefined, [MEMBER]: without.length === 0 ? undefined : without.join(',') };
}

/** The changes that take away filters of such kinds, whichever are set. */
export function clearFilters(names: readonly string[]): Readonly<Record<string, undefined>> {
  return Object.fromEntries([...names, MEMBER].map((name) => [name, undefined]));
}

/** The list as a query has it, of the kinds that are known; nothing where none of them is asked for. */
export function withoutQuery(search: Search, known: readonly string[]): { readonly without?: string } {
  const without = readWithout(search).filter((name) => known.includes(name) && search[name] === undefined);
  return without.length === 0 ? {} : { without: [...new Set(without)].join(',') };
}
