/** Tests tags as text: reading, what is refused, and what changes. */
import { expect, test } from 'bun:test';
import { changedTags, readTags, tagLines } from './key-tags.ts';

test('reads one tag per line; a line without a value removes the tag', () => {
  expect(readTags(' team=web \n\ncost-center = a=b\nold=')).toEqual({
    tags: { team: 'web', 'cost-center': 'a=b', old: null },
  });
  expect(readTags('')).toEqual({ tags: {} });
  expect(tagLines({ team: 'web', env: 'prod' })).toEqual(['env=prod', 'team=web']);
});

test.each([
  ['team', '“team” isn’t a tag.'],
  ['Team=web', '“Team” isn’t a tag name.'],
  [`team=${'x'.repeat(101)}`, '101 characters'],
  ['team=a\nteam=b', 'team is entered twice'],
  [Array.from({ length: 21 }, (_, nth) => `t${nth}=x`).join('\n'), 'Found 21 tags'],
])('%p is refused', (text, fault) => {
  expect(readTags(text)).toEqual({ fault: expect.stringContaining(fault) });
});

test('finds changed, new and removed tags', () => {
  expect(changedTags({ a: '1', b: '2', c: '3' }, { a: '1', b: '4', d: '5' })).toEqual({ c: null, b: '4', d: '5' });
  expect(changedTags({ a: '1' }, { a: '1' })).toEqual({});
});
