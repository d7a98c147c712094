/**
 * Tests that prompts and responses are stored unchanged when the workspace records them, visible to authorized users
 * only, and stored nowhere else.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tenancyOf } from '../../src/console-api/kernel/actor.ts';
import { createContentOf, type ShownContent } from '../../src/console-api/logs/call-content.ts';
import type { Role } from '../../src/people/roles.ts';
import type { ContentStore } from '../../src/store/ports/content.ts';
import { openContentDatabase } from '../../src/store/sqlite/content/content-database.ts';
import { deriveContentKey } from '../../src/store/sqlite/content/content-seal.ts';
import { contentPath, createContentStore } from '../../src/store/sqlite/content/content-store.ts';
import { loadMasterKey } from '../../src/store/sqlite/database/master-key.ts';
import { eventually } from '../harness/eventually.ts';
import { pointAt } from '../harness/point-at.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { type Address, goodBody, post, type Side } from './calls.ts';
import { createKey } from './make-key.ts';

const CANARY = 'a word of this call only';
const UPSTREAM_KEY = 'sk-upstream-0123456789abcdef';

let pair: Pair;
let store: ContentStore;
let at: Readonly<Record<'all' | 'errors' | 'off', Address>>;

beforeAll(async () => {
  pair = await startPair((url) => ({
    ...pointAt(url, {
      chat: ['ok', 'think', 'tool', 'long:40', 'bad', 'refusing'],
      messages: ['m-ok', 'm-think'],
      apiKey: UPSTREAM_KEY,
    }),
    defaults: { log_bodies: 'all', retention: '7d' },
  }));
  const { gateway, fake } = pair;
  await fake.script('m-ok', { answer: 'ok' });
  await fake.script('m-think', { answer: 'think' });
  await fake.script('bad', { answer: 'long:20', errorEvent: 8 });
  await fake.script('refusing', { status: 400, json: { error: { message: `no, says ${UPSTREAM_KEY}`, type: 'x' } } });
  const workspace = async (id: string, bodies: string): Promise<Address> => {
    expect((await gateway.run('workspaces', 'create', id, '--bodies', bodies)).status).toBe(0);
    return { url: gateway.url, key: (await createKey(gateway, { workspace: id })).key };
  };
  at = {
    all: { url: gateway.url, key: gateway.key },
    errors: await workspace('careful', 'errors'),
    off: await workspace('silent', 'off'),
  };
  const { key } = loadMasterKey(gateway.dataDir);
  // Created before the first call: two processes that create it at the same time would lose that call's content.
  openContentDatabase(contentPath(gateway.dataDir), deriveContentKey(key)).close();
  store = createContentStore(gateway.dataDir, key, () => 1024 ** 3);
});

afterAll(async () => {
  await store.close();
  await pair.stop();
});

const contentOf = (role: Role, requestId: string, account = 'default') => {
  const grants = [{ account, role, workspaces: null }];
  const tenancy = tenancyOf({ kind: 'person', id: 'p', name: 'n', email: 'e', sessionId: 's', grants }, account);
  if (tenancy === null) throw new Error('the role has no tenancy');
  return createContentOf(store, (_, cause) => {
    throw cause;
  })(tenancy, requestId);
};

/** Sends a call, reads its whole answer, and waits for its stored content. */
async function keptOf(address: Address, side: Side, members: object, role: Role = 'owner') {
  const response = await post(address, side, goodBody(side, { ...members }));
  const answer = await response.text();
  const requestId = response.headers.get('x-request-id') ?? '';
  const shown = await eventually('the stored content', async () => {
    const found = await contentOf(role, requestId);
    return found.content === 'none' ? null : found;
  });
  return { shown, answer, requestId, status: response.status };
}

const roles = ({ conversation }: ShownContent) => conversation?.map(({ role }) => role);

describe('of a call in one piece', () => {
  test.each([
    ['short', CANARY],
    ['long', CANARY.repeat(2_000)],
  ])('%s request, upstream request and answer are stored byte for byte', async (_, text) => {
    const messages = [{ role: 'user', content: text }];
    const { shown, answer } = await keptOf(at.all, 'chat', { messages });
    expect(shown).toMatchObject({ content: 'shown', raw: { truncated: false, upstream_response: null } });
    expect(shown.raw?.request).toBe(JSON.stringify(goodBody('chat', { messages })));
    expect(shown.raw?.upstream_request).toBe(shown.raw?.request ?? '');
    expect(shown.raw?.response).toBe(answer);
    expect(roles(shown)).toEqual(['user', 'assistant']);
    expect(shown.conversation?.[0]?.parts).toEqual([{ kind: 'text', name: null, text }]);
  });

  test('a translated call is stored in both formats', async () => {
    const { shown, answer } = await keptOf(at.all, 'messages', { model: 'tool' });
    expect(shown.raw?.response).toBe(answer);
    expect(JSON.parse(shown.raw?.upstream_request ?? '')).toHaveProperty('messages');
    expect(shown.raw?.upstream_request).not.toBe(shown.raw?.request);
    expect(JSON.parse(shown.raw?.upstream_response ?? '')).toHaveProperty('choices');
    expect(shown.conversation?.at(-1)?.parts.map(({ kind }) => kind)).toContain('tool_call');
  });
});

describe('of a stream', () => {
  for (const [side, model] of [
    ['chat', 'think'],
    ['messages', 'm-think'],
    ['chat', 'm-think'],
    ['messages', 'think'],
  ] as const) {
    test(`${side} of ${model}: the sent events are stored and fold into the answer`, async () => {
      const { shown, answer } = await keptOf(at.all, side, { model, stream: true });
      expect(shown.raw?.response).toBe(answer);
      expect(shown.conversation?.at(-1)?.role).toBe('assistant');
      expect(shown.conversation?.at(-1)?.parts.map(({ kind }) => kind)).toContain('text');
    });
  }

  test('an answer that broke off is stored with its error', async () => {
    const { shown, answer } = await keptOf(at.errors, 'chat', { model: 'bad', stream: true });
    expect(shown.raw?.response).toBe(answer);
    expect(shown.conversation?.at(-1)?.parts.at(-1)).toMatchObject({ kind: 'other', name: 'error' });
  });
});

describe('under errors', () => {
  test('a refused body is stored with the refusal', async () => {
    const { shown, status } = await keptOf(at.errors, 'chat', { temperature: 'hot' });
    expect(status).toBe(400);
    expect(shown.raw).toMatchObject({ upstream_request: null, response: expect.stringContaining('temperature') });
    expect(shown.conversation?.at(-1)).toMatchObject({ role: 'error' });
  });

  test('upstream’s answer is stored without the operator’s credential', async () => {
    const { shown } = await keptOf(at.errors, 'chat', { model: 'refusing' });
    expect(shown.raw?.upstream_response).toContain('no, says');
    expect(JSON.stringify(shown)).not.toContain(UPSTREAM_KEY);
  });

  test('a successful call is not stored', async () => {
    const good = await post(at.errors, 'chat', goodBody('chat'));
    await good.text();
    const { requestId } = await keptOf(at.errors, 'chat', { temperature: 'hot' });
    expect(await contentOf('owner', requestId)).toHaveProperty('content', 'shown');
    expect(await contentOf('owner', good.headers.get('x-request-id') ?? '')).toHaveProperty('content', 'none');
  });
});

test('a workspace that keeps nothing keeps nothing, not even of errors', async () => {
  const ids: string[] = [];
  for (const members of [{}, { temperature: 'hot' }, { stream: true }]) {
    const response = await post(at.off, 'chat', goodBody('chat', members));
    await response.text();
    ids.push(response.headers.get('x-request-id') ?? '');
  }
  await keptOf(at.all, 'chat', {});
  for (const id of ids)
    expect(await contentOf('owner', id)).toEqual({ content: 'none', conversation: null, raw: null });
});

test('a workspace’s setting applies at once and can be reset to the configuration’s', async () => {
  const set = (bodies: string) => pair.gateway.run('workspaces', 'set', 'silent', '--bodies', bodies, '--json');
  expect(JSON.parse((await set('inherit')).stdout)).toMatchObject({ bodies: null, bodies_days: null });
  expect((await keptOf(at.off, 'chat', {})).shown.content).toBe('shown');
  await set('off');
});

describe('access to stored content', () => {
  test('a role without the permission sees that content is hidden', async () => {
    const { requestId } = await keptOf(at.all, 'chat', {});
    for (const role of ['viewer', 'billing'] as const) {
      expect(await contentOf(role, requestId)).toEqual({ content: 'hidden', conversation: null, raw: null });
    }
    for (const role of ['developer', 'admin'] as const) {
      expect(await contentOf(role, requestId)).toHaveProperty('content', 'shown');
    }
  });

  test('other accounts and members of other workspaces see no content', async () => {
    const { requestId } = await keptOf(at.all, 'chat', {});
    expect(await contentOf('owner', requestId, 'other')).toHaveProperty('content', 'none');
    const elsewhere = { account: 'default', workspaces: ['silent'], may: () => true };
    const read = createContentOf(store, () => undefined);
    expect(await read(elsewhere, requestId)).toHaveProperty('content', 'none');
  });
});

test('no file on disk has any of it unencrypted', async () => {
  await keptOf(at.all, 'chat', { messages: [{ role: 'user', content: CANARY }] });
  const { dataDir } = pair.gateway;
  expect(existsSync(contentPath(dataDir))).toBe(true);
  for (const name of readdirSync(dataDir).filter((each) => /\.db/.test(each))) {
    expect(readFileSync(join(dataDir, name)).includes(CANARY)).toBe(false);
  }
});
