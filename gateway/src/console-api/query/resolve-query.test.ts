/** Tests queries of the lists of requests: names of keys and members, tags, what narrows the search, orders and their pages. */
import { describe, expect, test } from 'bun:test';
import type { CallCondition } from '../../store/ports/usage.ts';
import { temporaryFolders } from '../../store/testing/temporary-folder.ts';
import type { Reply } from '../contract/contract.ts';
import { EVERY_CALL } from '../logs/call-condition.ts';
import { BOUND, openUsageRig } from '../testing/usage-rig.ts';
import type { UsageLabels } from '../usage/usage-parts.ts';
import { readOrder, readPlace, readQuery, renderPlace, resolveQuery } from './resolve-query.ts';

const NAMES = [
  { filter: 'key', value: 'key_1', label: 'Prod web' },
  { filter: 'key', value: 'key_2', label: 'prod batch' },
  { filter: 'member', value: 'person_1', label: 'Ada' },
] as const;
const LABELS: UsageLabels = {
  keyName: () => null,
  owners: new Map([
    ['key_1', 'person_1'],
    ['key_2', 'person_2'],
  ]),
  memberName: () => null,
  namesOfIds: () => [],
  namesToChoose: (workspaces) => (workspaces === null ? [...NAMES] : []),
  tagged: (tag, workspaces) =>
    new Map(
      workspaces !== null || tag !== 'team'
        ? []
        : [
            ['key_1', 'web'],
            ['key_2', 'batch'],
          ],
    ),
  tagNames: (workspaces) => (workspaces === null ? ['team'] : []),
  hasKeys: () => true,
};

const resolve = (q: string, workspaces: readonly string[] | null = null) =>
  resolveQuery(readQuery(q).terms, EVERY_CALL, LABELS, workspaces);
const keyTerm = (isNot: boolean, ...ids: readonly string[]) => ({
  field: 'key',
  isNot,
  texts: ids.map((text) => ({ text, isPrefix: false })),
  ranges: [],
});

describe('a query', () => {
  test.each<[string, Partial<CallCondition>]>([
    ['model:m user:none', { model: 'm', end_user: '' }],
    ['key:"prod web"', { keys: ['key_1'] }],
    ['key:prod*', { keys: ['key_1', 'key_2'] }],
    ['key:key_9', { keys: ['key_9'] }],
    ['member:ada', { keys: ['key_1'] }],
    ['tag.team:web', { keys: ['key_1'] }],
    ['tag.team:web,ba*', { keys: ['key_1', 'key_2'] }],
    ['-tag.team:none', { keys: ['key_1', 'key_2'] }],
    ['protocol:chat session:s', { protocol: 'chat', session: 's' }],
  ])('%s narrows the search', (q, condition) => {
    expect(resolve(q)).toEqual({ condition: { ...EVERY_CALL, ...condition }, terms: [], idPrefix: null });
  });

  test('that a condition cannot say keeps its terms', () => {
    const { condition, terms } = resolve('model:a model:b -key:"Prod web" provider:x,y');
    expect(condition).toEqual({ ...EVERY_CALL, model: 'a' });
    expect(terms.map(({ field }) => field)).toEqual(['model', 'key', 'provider']);
    expect(terms[1]).toEqual(keyTerm(true, 'key_1') as never);
  });

  test('names keys that no member owns, with or without those of a member', () => {
    expect(resolve('member:none').terms).toEqual([keyTerm(true, 'key_1', 'key_2') as never]);
    expect(resolve('-member:none').condition.keys).toEqual(['key_1', 'key_2']);
    expect(resolve('tag.team:none').terms).toEqual([keyTerm(true, 'key_1', 'key_2') as never]);
    expect(resolve('-tag.team:web').terms).toEqual([keyTerm(true, 'key_1') as never]);
    expect(resolve('tag.team:web,none').terms).toEqual([keyTerm(true, 'key_2') as never]);
    expect(resolve('member:ada,none').terms).toEqual([keyTerm(true, 'key_2') as never]);
  });

  test('of one beginning of an id reads that range only', () => {
    expect(resolve('req_0193ab')).toEqual({ condition: EVERY_CALL, terms: [], idPrefix: 'req_0193ab' });
  });

  test.each([
    ['key:"prod wep"', 'q: key: found "prod wep", expected Prod web?'],
    ['member:Bob', 'q: member: found "Bob", expected the name of a member'],
    ['tag.teem:web', 'q: found the tag "teem", expected team?'],
    ['tag.team:wab', 'q: tag.team: found "wab", expected web?'],
    ['key:none', 'q: key: found none'],
    ['modle:x', 'q: found the field "modle", expected model?'],
  ])('%s is refused by name', (q, message) => {
    expect(() => resolve(q)).toThrow(message);
  });

  test('tells a member of some workspaces no name of the others', () => {
    expect(() => resolve('key:"prod web"', ['team'])).toThrow('expected the name of a key');
  });
});

test('a position survives names with any character', () => {
  const order = readOrder('-model');
  const place = { value: 'a\nb', id: 'req_1' };
  expect(readPlace(renderPlace(place), order)).toEqual({ order, beforeId: null, afterPlace: place } as never);
  expect(() => readPlace('req_1', order)).toThrow('position of another order');
});

describe('the list of requests', () => {
  const newFolder = temporaryFolders();
  type Page = Reply<'GET /accounts/{account}/logs'>;

  test('takes a query and an order, page by page, within the rights of its reader', async () => {
    const { store, calls, get } = await openUsageRig(newFolder(), 120);
    try {
      const read = async (query: string, grants?: Parameters<typeof get>[1]): Promise<Page> => {
        const response = await get(`/accounts/default/logs?${query}`, grants);
        expect(response.status).toBe(200);
        return (await response.json()) as Page;
      };
      const own = calls.filter(({ account }) => account === 'default');
      const costs = (list: readonly { readonly cost_nano_usd: string | null }[]) =>
        list.map(({ cost_nano_usd: cost }) => BigInt(cost ?? -1));
      const first = await read('sort=-cost&limit=7&q=cost>0.001');
      const second = await read(`sort=-cost&limit=200&q=cost>0.001&before=${encodeURIComponent(first.next ?? '')}`);
      const expected = costs(own)
        .filter((cost) => cost > 1_000_000n)
        .sort((one, other) => Number(other - one));
      expect(costs([...first.calls, ...second.calls])).toEqual(expected);
      expect(second.next).toBeNull();
      const bound = await read('q=-status:299&limit=200', [BOUND]);
      expect(new Set(bound.calls.map(({ workspace }) => workspace))).toEqual(new Set(['default-w0']));
      const refused = await get('/accounts/default/logs?q=modle:x');
      expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('expected model?')]);
      const lines = (await (await get('/accounts/default/logs.csv?q=duration>30s')).text()).trim().split('\n');
      expect(lines).toHaveLength(1 + own.filter(({ duration_ms }) => duration_ms > 30_000).length);
    } finally {
      await store.close();
    }
  });
});
