/** Tests that no fault of a schema is told in the words of its library. */
import { expect, test } from 'bun:test';
import { z } from 'zod';
import { wordIssue } from './schema-words.ts';

const shape = z.strictObject({
  name: z.string().min(1).max(4),
  count: z.int().min(1).max(9),
  list: z.array(z.string()).min(1).max(2),
  side: z.enum(['in', 'out']),
  only: z.literal('all'),
  at: z.iso.datetime(),
  id: z.uuid(),
  sure: z.boolean(),
  tags: z.record(z.string().max(3), z.string()),
  either: z.union([z.boolean(), z.array(z.string())]),
  own: z.string().regex(/^x/, 'expected an x'),
});

test('faults of a schema are told in our words', () => {
  const given = {
    name: 'abcdef',
    count: 0,
    list: [],
    side: 'up',
    only: 'some',
    at: 'today',
    id: '7',
    sure: 'yes',
    tags: { long_name: 'a' },
    either: 3,
    own: 'y',
    more: 1,
  };
  expect(faultsOf(given)).toEqual([
    'name: found 6 characters, expected at most 4',
    'count: found 0, expected at least 1',
    'list: found 0 items, expected at least 1',
    'side: expected one of in, out',
    'only: expected all',
    'at: expected a time in UTC such as 2026-01-31T12:00:00Z',
    'id: expected a UUID',
    'sure: expected true or false',
    'tags.long_name: found 9 characters, expected at most 3',
    'either: expected true or false; or expected a list',
    'own: expected an x',
    ': found the unknown member more; remove it',
  ]);
  expect(faultsOf({ ...given, name: '', count: 1.5, list: [4], tags: [] })).toContain(
    'name: found nothing, expected at least 1',
  );
  expect(faultsOf({ count: 1.5, list: [4], tags: [] }).join('\n')).not.toMatch(/invalid|too (big|small)|received/i);
});

function faultsOf(given: unknown): readonly string[] {
  const { error } = shape.safeParse(given, { error: wordIssue });
  return error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? [];
}
