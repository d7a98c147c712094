/** Defines how the format of an export is recognized and read. */
import type { ExactJson } from '../../lib/tables/exact-json.ts';
import { isExactObject } from '../../lib/tables/exact-json.ts';
import type { InvoiceLine } from '../invoice-line.ts';

export type JsonObject = { readonly [member: string]: ExactJson };

/** A row of CSV or one object of JSON; `at` names it in messages. */
export interface Entry {
  readonly place: number;
  readonly at: string;
  /** The text of a member, dotted below objects: `amount.value`. Null: absent, null or empty. */
  get(member: string): string | null;
  /** The first of several names that has a value. */
  first(...members: readonly string[]): string | null;
}

export interface InvoiceFormat {
  readonly name: string;
  readonly title: string;
  /** Where the vendor describes it, and when that was read. */
  readonly source: string;
  /** Whether an entry with these members is of this format. */
  recognizes(members: ReadonlySet<string>): boolean;
  /** The lines of an entry; none for entries that say nothing, such as days without use. */
  read(entry: Entry): readonly InvoiceLine[];
}

/** The entry of an object. Members of objects in it have dotted names. */
export function entryOf(object: JsonObject, place: number, at: string): Entry {
  const get = (member: string): string | null => {
    let value: ExactJson | undefined = object[member];
    if (value === undefined) {
      value = object;
      for (const step of member.split('.')) value = isExactObject(value) ? value[step] : undefined;
    }
    if (typeof value === 'boolean') return String(value);
    return typeof value === 'string' && value !== '' ? value : null;
  };
  return {
    place,
    at,
    get,
    first: (...members) => members.map(get).find((value) => value !== null) ?? null,
  };
}

/** The dotted names of the members of an object. */
export function membersOf(object: JsonObject, prefix = ''): readonly string[] {
  return Object.entries(object).flatMap(([name, value]) => [
    `${prefix}${name}`,
    ...(isExactObject(value) ? membersOf(value, `${prefix}${name}.`) : []),
  ]);
}
