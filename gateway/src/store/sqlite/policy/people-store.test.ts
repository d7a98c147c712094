/** Tests how people are stored: all or none, by conditions, and visible as soon as they are durable. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { PeopleStore, PersonRow } from '../../ports/people.ts';
import type { Store } from '../../ports/store.ts';
import { openStore } from '../open-store.ts';
import { temporaryFolders } from '../testing/temporary-folder.ts';

const folder = temporaryFolders();
let store: Store;
let people: PeopleStore;
beforeAll(async () => {
  store = await openStore({ dataDir: folder() });
  people = store.people;
});
afterAll(() => store.close());

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
    ...members,
  };
}

test('what was kept is found by conditions, in the order and number asked for', async () => {
  const kept = ['a', 'b', 'c'].map((id, nth) => person(id, { seen_at_ms: nth === 0 ? null : nth }));
  expect(await people.keep(kept.map((insert) => ({ of: 'person' as const, insert })))).toBe(true);
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
  expect(await ids({ where: [['id', 'in', ['c', 'a']]], orderBy: ['id', 'asc'], limit: 1, offset: 1 })).toEqual(['c']);
  expect(await ids({ where: [['name', 'is', "' or 1 = 1 --"]] })).toEqual([]);
});

test('of changes that do not all meet what they must, none is kept', async () => {
  const outcome = await people.keep([
    { of: 'person', insert: person('d') },
    { of: 'person', update: { name: 'x' }, where: [['id', 'is', 'nobody']], rows: 1 },
  ]);
  expect(outcome).toBe(false);
  expect(
    await people.keep([
      { of: 'person', insert: person('d') },
      { of: 'person', insert: person('d') },
    ]),
  ).toBe(false);
  expect(await people.find('person', { where: [['id', 'is', 'd']] })).toEqual([]);
});

test('an update sets and adds, a removal removes, and either may change any number of rows', async () => {
  const where = [['id', 'in', ['a', 'b']]] as const;
  const add = { seen_at_ms: 5 };
  expect(await people.keep([{ of: 'person', update: { name: 'n' }, add, where, rows: null }])).toBe(true);
  expect((await people.find('person', { where, orderBy: ['id', 'asc'] })).map((row) => row.seen_at_ms)).toEqual([5, 6]);
  expect(await people.keep([{ of: 'person', remove: where, rows: 2 }])).toBe(true);
  expect(await people.keep([{ of: 'person', remove: where, rows: null }])).toBe(true);
  expect(await people.keep([{ of: 'person', remove: where, rows: 1 }])).toBe(false);
});

test('a value that a column cannot hold is refused aloud', async () => {
  const insert = person('e', { email_verified: 2 as 1 });
  await expect(people.keep([{ of: 'person', insert }])).rejects.toThrow('refused a value');
});
