/** Tests the labels of filter values: the name if the reader may see it, with the id if two share a name. */
import { expect, test } from 'bun:test';
import type { KeyDirectory } from '../identity/key-directory.ts';
import { usageLabels } from './open-console.ts';

const KEYS = [
  ['key_1', 'billing', 'acme', 'live', 'usr_ann'],
  ['key_2', 'nightly', 'acme', 'live', 'usr_bob'],
  ['key_3', 'nightly', 'acme', 'lab', 'usr_ann_2'],
  ['key_4', 'billing', 'other', 'live', null],
] as const;
const NAMES = new Map([
  ['usr_ann', 'Ann'],
  ['usr_ann_2', 'Ann'],
  ['usr_bob', 'Bob'],
]);
const keys = new Map(
  KEYS.map(([id, name, accountId, workspaceId, createdBy]) => [id, { id, name, accountId, workspaceId, createdBy }]),
) as unknown as KeyDirectory['keys'];

test.each([
  [{ key: 'key_1', member: 'usr_bob' }, null, ['billing', 'Bob']],
  [{ key: 'key_2', member: 'usr_ann' }, null, ['nightly (key_2)', 'Ann (usr_ann)']],
  [{ key: 'key_2', member: 'usr_ann' }, ['live'], ['nightly', 'Ann']],
  [{ key: 'key_3', member: 'usr_ann_2' }, ['live'], []],
  [{ key: 'key_4', member: 'usr_gone' }, null, []],
  [{}, null, []],
] as const)('%j, of keys in %j, are called %j', async (query, workspaces, called) => {
  const { namesOfIds } = await usageLabels({ keys }, async () => NAMES, 'acme');
  const labels = namesOfIds(query, workspaces);
  expect(labels.map(({ label }) => label)).toEqual([...called]);
  expect(labels.every(({ filter, value }) => query[filter as keyof typeof query] === value)).toBe(true);
});
