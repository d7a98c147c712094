/** Tests usage by member through the console API: the name of the key's owner in a list, a file and a filter. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { Reply } from '../../src/console-api/contract/contract.ts';
import { pointAt } from '../harness/point-at.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { createKey } from '../http-contract/make-key.ts';
import { type ApiVisitor, inviteMember, type Member, must, OWNER, setUpOwner } from './api-visitor.ts';

setDefaultTimeout(60_000);

const NO_CAPS = { rpm: null, tpm: null, concurrency: null, budget_usd: null, budget_window: null };
const RANGE = new URLSearchParams({
  from: new Date(Date.now() - 3_600_000).toISOString(),
  to: new Date(Date.now() + 3_600_000).toISOString(),
});

let pair: Pair;
let owner: ApiVisitor;
let developer: Member;

beforeAll(async () => {
  pair = await startPair((fakeUrl) => pointAt(fakeUrl, { chat: ['ok'], server: { trusted_proxies: ['127.0.0.0/8'] } }));
  const { gateway } = pair;
  owner = await setUpOwner(gateway);
  developer = await inviteMember(gateway.url, owner, { account: 'default', role: 'developer' });
  // The setup page creates the first key as the new owner.
  for (const [maker, calls] of [
    [owner, 1],
    [developer, 2],
  ] as const) {
    const given = {
      name: 'a key',
      workspace: 'default',
      models: null,
      ips: null,
      scopes: ['inference'],
      strict: false,
    };
    const body = { ...given, caps: NO_CAPS, expires_at: null };
    const { secret } = await must(maker.ask('POST /accounts/default/keys', { body }));
    for (let nth = 0; nth < calls; nth++) await call(secret);
  }
  const { key } = await createKey(gateway, { name: 'of the command line' });
  for (let nth = 0; nth < 3; nth++) await call(key);
});
afterAll(() => pair.stop());

async function call(key: string): Promise<void> {
  const reply = await fetch(`${pair.gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'ok', messages: [{ role: 'user', content: 'Good day.' }] }),
  });
  const text = await reply.text();
  if (reply.status !== 200) throw new Error(text);
}

async function readUsage(query: string): Promise<Reply<'GET /accounts/{account}/usage'>> {
  return must(owner.ask(`GET /accounts/default/usage?${RANGE}&${query}`));
}

test('each group has the name of the key’s creator, also of the command line’s', async () => {
  const { groups, rest } = await readUsage('by=member');
  const shown = groups.map(({ labels: [name], sums }) => [name, sums.requests]);
  expect(shown.sort(([, one], [, other]) => Number(one) - Number(other))).toEqual([
    [OWNER.name, 1],
    ['The developer of default', 2],
    ['command line', 3],
  ]);
  expect(rest).toBeNull();
});

test('by a second dimension, and in a file', async () => {
  const { groups } = await readUsage('by=key,member');
  expect(groups.map(({ labels }) => labels)).toContainEqual(['of the command line', 'command line']);
  const { text } = await owner.ask(`GET /accounts/default/usage.csv?${RANGE}&by=member`);
  expect(text).toContain(`,${developer.person},The developer of default,2,`);
  expect(text).toContain(',,command line,3,');
});

test('a member filter selects their keys, and a member without a key has no requests', async () => {
  const { total, groups } = await readUsage(`by=member&member=${developer.person}`);
  expect([total.requests, groups.length]).toEqual([2, 1]);
  expect((await readUsage('by=model&member=nobody')).total.requests).toBe(0);
});

test('filters have names, with the id if another key has the same name', async () => {
  const { groups } = await readUsage('by=key');
  const keyOf = (name: string) => groups.find(({ labels: [label] }) => label === name)?.values[0] ?? '';
  const [alone, shared] = [keyOf('of the command line'), keyOf('a key')];
  const expected = { filter: 'member', value: developer.person, label: 'The developer of default' };
  for (const page of ['usage', 'logs'] as const) {
    const ask = async (query: string) => {
      const reply = await must(owner.ask(`GET /accounts/default/${page}?${RANGE}&${query}`));
      return reply.filter_labels;
    };
    expect(await ask(`key=${alone}&member=${developer.person}`)).toEqual([
      { filter: 'key', value: alone, label: 'of the command line' },
      expected,
    ]);
    expect(await ask(`key=${shared}`)).toEqual([{ filter: 'key', value: shared, label: `a key (${shared})` }]);
    expect(await ask('model=ok')).toEqual([]);
  }
});

test('filters list names of keys and members, but not those of other accounts and workspaces', async () => {
  const { names }: Reply<'GET /accounts/{account}/filter-names'> = await must(
    owner.ask('GET /accounts/default/filter-names'),
  );
  const labels = (filter: string) => names.filter((one) => one.filter === filter).map(({ label }) => label);
  expect(labels('member')).toContain('The developer of default');
  expect(labels('key')).toContain('of the command line');
  expect(new Set(labels('key')).size).toBe(labels('key').length);
  expect(labels('key').filter((label) => label.startsWith('a key ('))).toHaveLength(2);
  const { groups } = await readUsage('by=key');
  const known = new Set(names.map(({ value }) => value));
  expect(groups.map(({ values: [key] }) => key ?? '').filter((key) => !known.has(key))).toEqual([]);
});

test('calls of the command line alone, as sums and as a list', async () => {
  const { total, groups } = await readUsage('by=key&without=member');
  expect([total.requests, groups.map(({ labels: [name] }) => name)]).toEqual([3, ['of the command line']]);
  const list: Reply<'GET /accounts/{account}/logs'> = await must(
    owner.ask(`GET /accounts/default/logs?${RANGE}&without=member`),
  );
  expect(list.calls.map(({ key_name }) => key_name)).toEqual(Array(3).fill('of the command line'));
});
