/** Tests that text is found in the stored bodies of one's own account and workspaces, within the other filters. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { Role } from '../../src/people/roles.ts';
import { eventually } from '../harness/eventually.ts';
import { pointAt } from '../harness/point-at.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { goodBody, post } from '../http-contract/calls.ts';
import { control, createKey } from '../http-contract/make-key.ts';
import { type ApiVisitor, inviteMember, must, setUpOwner } from './api-visitor.ts';

setDefaultTimeout(60_000);

let pair: Pair;
let owner: ApiVisitor;
const sent: string[] = [];
let other = '';

async function call(key: string, content: string, members: object = {}): Promise<string> {
  const messages = [{ role: 'user', content }];
  const response = await post({ url: pair.gateway.url, key }, 'chat', goodBody('chat', { messages, ...members }));
  await response.text();
  return response.headers.get('x-request-id') ?? '';
}

const list = (who: ApiVisitor, search: string) => who.ask(`GET /accounts/default/logs?${search}`);

/** The ids of the list, after checks of what a page of a search says. */
async function found(who: ApiVisitor, q: string, more = ''): Promise<readonly string[]> {
  const page = await must(list(who, `q=${encodeURIComponent(q)}${more}`));
  expect(page).toMatchObject({ newest: null, histogram: null });
  return page.calls.map(({ request_id }: { request_id: string }) => request_id);
}

beforeAll(async () => {
  pair = await startPair((url) => ({
    ...pointAt(url, { chat: ['ok', 'long:40'] }),
    defaults: { log_bodies: 'all' },
  }));
  const { gateway } = pair;
  owner = await setUpOwner(gateway);
  for (let nth = 0; nth < 5; nth++) {
    sent.unshift(await call(gateway.key, `Where is the Walrus number ${nth}?`, nth === 3 ? { stream: true } : {}));
  }
  sent.unshift(await call(gateway.key, 'Nothing of interest', { model: 'long:40' }));
  await control(gateway, 'workspaces.create', { id: 'research', account: 'default' });
  other = await call((await createKey(gateway, { workspace: 'research' })).key, 'A walrus of research');
  await control(gateway, 'accounts.create', { id: 'acme' });
  await control(gateway, 'workspaces.create', { id: 'acme-main', account: 'acme' });
  await call((await createKey(gateway, { workspace: 'acme-main' })).key, 'A walrus of acme');
  await eventually('all bodies', async () => ((await found(owner, '-nowhere')).length === 7 ? true : null));
});
afterAll(() => pair.stop());

test('words, quoted text and their absence choose requests, newest first', async () => {
  expect(await found(owner, 'walrus')).toEqual([other, ...sent.slice(1)]);
  expect(await found(owner, '"walrus number 3"')).toEqual([sent[2] as string]);
  expect(await found(owner, 'walrus -number')).toEqual([other]);
  expect(await found(owner, 'walrus interest')).toEqual([]);
});

test('the other filters hold', async () => {
  expect(await found(owner, 'walrus workspace:research')).toEqual([other]);
  expect(await found(owner, 'walrus stream:yes')).toEqual([sent[2] as string]);
  expect(await found(owner, '-walrus model:long*')).toEqual([sent[0] as string]);
  expect(await found(owner, 'walrus', '&to=2020-01-01T00:00:00Z')).toEqual([]);
});

test('pages continue where the one before ended', async () => {
  const pages: string[] = [];
  let before = '';
  do {
    const page = await must(list(owner, `q=walrus&limit=2${before}`));
    expect(page.calls.length).toBeLessThanOrEqual(2);
    expect(page.searched).toBeGreaterThanOrEqual(page.calls.length);
    pages.push(...page.calls.map(({ request_id }: { request_id: string }) => request_id));
    before = page.next === null ? '' : `&before=${page.next}`;
  } while (before !== '');
  expect(pages).toEqual([other, ...sent.slice(1)]);
});

test('members search their own workspaces, and only where they may read prompts', async () => {
  const invite = (role: Role) =>
    inviteMember(pair.gateway.url, owner, { account: 'default', role, workspaces: ['research'] });
  expect(await found(await invite('developer'), 'walrus')).toEqual([other]);
  const refused = await list(await invite('viewer'), 'q=walrus');
  expect(refused.status).toBe(403);
  expect(refused.json.error.message).toContain('your role may not read prompts and responses');
});

test.each([
  ['logs?q=walrus&sort=-cost', 'a search for text is not sorted'],
  ['logs?q=walrus&after=1', 'the live tail does not search text'],
  ['logs.csv?q=walrus', 'a file does not search text'],
  ['reasons?q=walrus', 'reasons are not searched for text'],
])('%s says that %s', async (path, words) => {
  const { status, json } = await owner.ask(`GET /accounts/default/${path}`);
  expect({ status, member: json.error.member }).toEqual({ status: 400, member: 'q' });
  expect(json.error.message).toContain(words);
});
