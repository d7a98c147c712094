/** Tests refused-members.ts: which calls a refusal affects, for how long, and in how much memory. */
import { expect, test } from 'bun:test';
import { demo, localProvider } from '../../providers/kinds/demo.ts';
import { openUpstream } from '../../providers/upstream.ts';
import { RefusedMembers } from './refused-members.ts';

const target = (model: string) => openUpstream({ provider: localProvider('p', demo), model, timeouts: null });
const HOUR_MS = 3_600_000;

test('a refusal counts for its workspace until another one finds it too, and for an hour', () => {
  const refused = new RefusedMembers();
  refused.note(target('m'), 'seed', 'a', 0);
  expect([refused.of(target('m'), 'a', 1), refused.of(target('m'), 'b', 1)]).toEqual([['seed'], []]);
  expect(refused.of(target('other'), 'a', 1)).toEqual([]);
  refused.note(target('m'), 'seed', 'a', 2);
  expect(refused.of(target('m'), 'b', 3)).toEqual([]);
  refused.note(target('m'), 'seed', 'b', 4);
  expect(['a', 'b', 'c'].map((workspace) => refused.of(target('m'), workspace, 5))).toEqual([
    ['seed'],
    ['seed'],
    ['seed'],
  ]);
  expect(refused.of(target('m'), 'b', 4 + HOUR_MS)).toEqual([]);
});

test('a second workspace that comes after the hour counts as the first', () => {
  const refused = new RefusedMembers();
  refused.note(target('m'), 'seed', 'a', 0);
  refused.note(target('m'), 'seed', 'b', HOUR_MS);
  expect([refused.of(target('m'), 'b', HOUR_MS), refused.of(target('m'), 'c', HOUR_MS)]).toEqual([['seed'], []]);
});

test('beyond the maximum number of targets the oldest is forgotten', () => {
  const refused = new RefusedMembers();
  for (let index = 0; index <= 10_000; index++) refused.note(target(`m${index}`), 'seed', 'a', 0);
  expect([refused.of(target('m0'), 'a', 1), refused.of(target('m10000'), 'a', 1)]).toEqual([[], ['seed']]);
});
