/** Tests any implementation of the people store against its contract. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { PeopleStore, PersonRow } from '../ports/people.ts';
import { outcomeOf, type StoreRig } from './store-rig.ts';

function person(id: string, members: Partial<PersonRow> = {}): PersonRow {
  return {
    id,
    name: id,
    email: `${id}@example.com`,
    unique_email: `${id}@example.com default`,
    email_verified: 0,
    account: 'default',
    second_factor: 0,
    created_at_ms: 1,
    updated_at_ms: 1,
    seen_at_ms: null,
    time_zone: null,
    ...members,
  };
}

/** Runs the suite; `openRig` opens new data. The tests build on one another. */
export function testPeople(name: string, openRig: () => Promise<StoreRig<'people'>>): void {
  describe(`${name} as a people store`, () => {
    let rig: StoreRig<'people'>;
    let people: PeopleStore;
    beforeAll(async () => {
      rig = await openRig();
      people = rig.store.people;
    });
    afterAll(() => rig.close());

    test('rows are found by conditions, in the requested order and number', async () => {
      const kept = ['a', 'b', 'c'].map((id, nth) => person(id, { seen_at_ms: nth === 0 ? null : nth }));
      expect(await people.save(kept.map((insert) => ({ of: 'person' as const, insert })))).toBe(true);
      const ids = async (...args: Parameters<typeof find>) => (await find(...args)).map(({ id }) => id);
      const find = (selection: Parameters<typeof people.find<'person'>>[1]) => people.find('person', selection);
      expect(await find({ where: [['id', 'is', 'b']] })).toEqual([kept[1] as PersonRow]);
      expect(await ids({ where: [['seen_at_ms', 'is', null]] })).toEqual(['a']);
      expect(await ids({ where: [['seen_at_ms', 'is not', null]], orderBy: ['id', 'desc'] })).toEqual(['c', 'b']);
      expect(
        await ids({
          where: [
            ['seen_at_ms', '>=', 1],
            ['seen_at_ms', '<', 2],
          ],
        }),
      ).toEqual(['b']);
      expect(await ids({ where: [['id', 'in', ['c', 'a']]], orderBy: ['id', 'asc'], limit: 1, offset: 1 })).toEqual([
        'c',
      ]);
      expect(await ids({ where: [['name', 'is', "' or 1 = 1 --"]] })).toEqual([]);
    });

    test('changes apply all or none', async () => {
      const outcome = await people.save([
        { of: 'person', insert: person('d') },
        { of: 'person', update: { name: 'x' }, where: [['id', 'is', 'nobody']], rows: 1 },
      ]);
      expect(outcome).toBe(false);
      expect(
        await people.save([
          { of: 'person', insert: person('d') },
          { of: 'person', insert: person('d') },
        ]),
      ).toBe(false);
      expect(await people.find('person', { where: [['id', 'is', 'd']] })).toEqual([]);
    });

    test('an update sets and adds, a removal removes, and either may change any number of rows', async () => {
      const where = [['id', 'in', ['a', 'b']]] as const;
      const add = { seen_at_ms: 5 };
      expect(await people.save([{ of: 'person', update: { name: 'n' }, add, where, rows: null }])).toBe(true);
      expect((await people.find('person', { where, orderBy: ['id', 'asc'] })).map((row) => row.seen_at_ms)).toEqual([
        5, 6,
      ]);
      expect(await people.save([{ of: 'person', remove: where, rows: 2 }])).toBe(true);
      expect(await people.save([{ of: 'person', remove: where, rows: null }])).toBe(true);
      expect(await people.save([{ of: 'person', remove: where, rows: 1 }])).toBe(false);
    });

    test('rejects a value that a member cannot hold', async () => {
      const insert = person('e', { email_verified: 2 as 1 });
      expect(await outcomeOf(people.save([{ of: 'person', insert }]))).toBe('invalid');
    });
  });
}
