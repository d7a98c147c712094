/** Tests the change feed of one process, and what the stores publish on it. */
import { beforeEach, describe, expect, test } from 'bun:test';
import { testChangeFeed } from '../contracts/change-feed-contract.ts';
import type { Change } from '../ports/change-feed.ts';
import type { PeopleChange } from '../ports/people.ts';
import { createChangeFeed, publishChanges } from './change-feed.ts';

testChangeFeed(createChangeFeed);

describe('a change is in force once its write resolves', () => {
  let told: (readonly Change[])[];
  let outcome: () => Promise<boolean>;
  const open = () => {
    const feed = createChangeFeed();
    feed.subscribe({ follow: (changes) => void told.push(changes), reload: async () => undefined });
    const kept = () => outcome().then(() => undefined);
    const stores = {
      policies: { save: kept },
      people: { save: () => outcome() },
      providers: { save: kept },
      guardrails: { createRule: kept, changeRule: kept, deleteRule: kept },
    };
    return publishChanges(stores as never, feed) as ReturnType<typeof publishChanges>;
  };
  beforeEach(() => {
    told = [];
    outcome = () => Bun.sleep(1).then(() => true);
  });
  const account = { of: 'account', isNew: true, account: { id: 'team' } } as Change & { of: 'account' };

  test('policy, as one commit', async () => {
    await open().policies.save([account, account]);
    expect(told).toEqual([[account, account]]);
  });

  test('entries that models are built from; the test of a provider is not one', async () => {
    const { providers } = open();
    const target = { kind: 'target', owner: 'm', name: 'lab/b' } as const;
    await providers.save([
      { of: 'provider', isNew: true, provider: { name: 'lab' } as never },
      { of: 'provider', removed: 'old' },
      { of: 'credential', isNew: true, credential: { provider: 'lab' } as never },
      { of: 'credential', removed: { provider: 'lab', name: 'spare' } },
      { of: 'route', isNew: false, route: { model: 'm' } as never },
      { of: 'route', removed: 'n' },
      { of: 'out_of_rotation', out: { ...target, sinceMs: 1 } },
      { of: 'out_of_rotation', back: target },
      { of: 'test', test: { provider: 'lab' } as never },
      { of: 'price', price: { model: 'm' } as never },
    ]);
    expect(told).toEqual([
      [
        { of: 'provider', name: 'lab' },
        { of: 'provider', name: 'old' },
        { of: 'provider', name: 'lab' },
        { of: 'provider', name: 'lab' },
        { of: 'route', model: 'm' },
        { of: 'route', model: 'n' },
        { of: 'rotation', ...target },
        { of: 'rotation', ...target },
        { of: 'price', model: 'm' },
      ],
    ]);
    await providers.save([{ of: 'test', test: { provider: 'lab' } as never }]);
    expect(told).toHaveLength(1);
  });

  test('guardrail rules, by their ids', async () => {
    const { guardrails } = open();
    await guardrails.createRule({ id: 'a' } as never, []);
    await guardrails.changeRule({ id: 'b' } as never, []);
    await guardrails.deleteRule('c', []);
    expect(told).toEqual(['a', 'b', 'c'].map((id) => [{ of: 'guardrail', id }]));
  });

  test('memberships with their member, users and sessions', async () => {
    const { people } = open();
    const where = [
      ['account', 'is', 'team'],
      ['person', 'is', 'eve'],
    ] as const;
    const changes: PeopleChange[] = [
      { of: 'membership', insert: { person: 'ada' } as never },
      { of: 'membership', update: { role: 'admin' }, where, rows: 1 },
      { of: 'membership', remove: where, rows: 1 },
      { of: 'person_session', remove: [], rows: null },
      { of: 'passkey', remove: [], rows: null },
    ];
    expect(await people.save(changes)).toBe(true);
    const members = ['ada', 'eve', 'eve'].map((person) => ({ of: 'member', person }));
    expect(told).toEqual([[...members, { of: 'session' }]] as never);
  });

  test('not where nothing was kept, or the write failed', async () => {
    const { people, policies } = open();
    outcome = async () => false;
    expect(await people.save([{ of: 'person_session', remove: [], rows: 1 }])).toBe(false);
    outcome = () => Promise.reject(new Error('full'));
    await expect(policies.save([account])).rejects.toThrow('full');
    await expect(people.save([{ of: 'person_session', remove: [], rows: 1 }])).rejects.toThrow('full');
    expect(told).toEqual([]);
  });

  test('not for memberships of all users: that change is refused before it is stored', async () => {
    outcome = () => Promise.reject(new Error('it was written'));
    await expect(open().people.save([{ of: 'membership', remove: [], rows: null }])).rejects.toThrow('name its member');
  });
});
