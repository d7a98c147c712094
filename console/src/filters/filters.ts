/**
 * Defines the filters of a page, and reads and changes filters for requests without a value. The address lists those
 * separately, so that no real value is mistaken for a missing one.
 */
import type { Reply } from '../../../gateway/src/console-api/contract/contract.ts';

export interface FilterKind {
  /** Member of the address. */
  readonly name: string;
  readonly word: string;
  /** Known values, with labels where they have one; other values can be typed. */
  readonly known?: readonly (readonly [value: string, label: string | null])[];
  /** The allowed values, when no others are accepted. */
  readonly only?: readonly (readonly [value: string, label: string])[];
  /** Label for calls that have no value; left out when every call has one. */
  readonly none?: string;
}

export interface FilterChipsProps {
  readonly kinds: readonly FilterKind[];
  /** Labels of values that are ids. */
  readonly labels: Reply<'GET /accounts/{account}/logs'>['filter_labels'];
}

/**
 * The address member that lists the dimensions filtered to calls without a value: one list, so that no real value is
 * mistaken for "none".
 */
const MEMBER = 'without';

type Search = Readonly<Record<string, string | undefined>>;

/** The dimensions that the address filters to calls without a value. */
export function readWithout(search: Search): readonly string[] {
  return search[MEMBER]?.split(',').filter((name) => name !== '') ?? [];
}

/** Address changes that set a filter to a value; null: to calls without one; undefined: remove it. */
export function filterChange(search: Search, name: string, value: string | null | undefined) {
  const others = readWithout(search).filter((one) => one !== name);
  const without = value === null ? [...others, name] : others;
  return { [name]: value ?? undefined, [MEMBER]: without.length === 0 ? undefined : without.join(',') };
}

/** Address changes that remove the filters with these names. */
export function clearFilters(names: readonly string[]): Readonly<Record<string, undefined>> {
  return Object.fromEntries([...names, MEMBER].map((name) => [name, undefined]));
}

/** The list as a query parameter, limited to known dimensions; empty when none applies. */
export function withoutQuery(search: Search, known: readonly string[]): { readonly without?: string } {
  const without = readWithout(search).filter((name) => known.includes(name) && search[name] === undefined);
  return without.length === 0 ? {} : { without: [...new Set(without)].join(',') };
}
