/** Owns what people are called where something of theirs is shown. */
import type { PeopleStore } from '../store/people-port.ts';

/** Names by id. Who is not there any more is not in it. */
export type PersonNames = (ids: readonly string[]) => Promise<ReadonlyMap<string, string>>;

export function createPersonNames(people: Pick<PeopleStore, 'find'>): PersonNames {
  return async (ids) => {
    const rows = ids.length === 0 ? [] : await people.find('person', { where: [['id', 'in', [...new Set(ids)]]] });
    return new Map(rows.map(({ id, name }) => [id, name]));
  };
}
