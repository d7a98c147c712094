/**
 * Tests the database operations that the sign-in library needs: it finds the rows it created, and a row that is
 * consumed once is consumed only once.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Secret } from '../../lib/secret.ts';
import type { Store } from '../../store/ports/store.ts';
import { openStore } from '../../store/sqlite/open-store.ts';
import { temporaryFolders } from '../../store/testing/temporary-folder.ts';
import { renderSessionCookie } from './auth-cookies.ts';
import { createAuthEngine } from './auth-engine.ts';
import { hashSessionToken } from './sessions.ts';

const folder = temporaryFolders();
const secret = new Secret('ab'.repeat(32));
let store: Store;
let context: Awaited<ReturnType<typeof createAuthEngine>['$context']>;
beforeAll(async () => {
  store = await openStore({ dataDir: folder() });
  const settings = { baseUrl: 'http://gw.test', onRejected: () => undefined, service: null };
  context = await createAuthEngine({ people: store.people, secret, ...settings }).$context;
});
afterAll(() => store.close());

test('a user is read as it was created: dates are dates, flags are flags, and no picture is stored', async () => {
  const user = await context.adapter.create<Record<string, unknown>>({
    model: 'user',
    data: {
      name: 'N',
      email: 'plain@example.com',
      emailVerified: true,
      image: 'x',
      createdAt: new Date(5),
      updatedAt: new Date(6),
    },
  });
  const found = await context.internalAdapter.findUserByEmail('plain@example.com');
  expect(found?.user).toMatchObject({
    id: user.id,
    emailVerified: true,
    createdAt: new Date(5),
    twoFactorEnabled: false,
  });
  expect(String(user.id)).toStartWith('person_');
  const [row] = await store.people.find('person', { where: [['id', 'is', String(user.id)]] });
  expect(row).toEqual({
    id: String(user.id),
    name: 'N',
    email: 'plain@example.com',
    unique_email: 'plain@example.com',
    email_verified: 1,
    account: null,
    second_factor: 0,
    created_at_ms: 5,
    updated_at_ms: 6,
    seen_at_ms: null,
    time_zone: null,
  });
});

test('a session is found by its token, whose hash alone is stored', async () => {
  const [row] = await store.people.find('person', { where: [], limit: 1 });
  const session = await context.internalAdapter.createSession(String(row?.id));
  const found = await context.internalAdapter.findSession(session.token);
  expect(found).toMatchObject({ session: { id: session.id, token: session.token }, user: { id: row?.id } });
  const [kept] = await store.people.find('person_session', { where: [['id', 'is', session.id]] });
  expect(kept?.token).toBe(hashSessionToken(session.token));
  expect(await context.internalAdapter.findSession(hashSessionToken(session.token))).toBeNull();
  await context.internalAdapter.deleteSession(session.token);
  expect(await context.internalAdapter.findSession(session.token)).toBeNull();
});

test('of many concurrent uses of a step, one succeeds', async () => {
  const expiresAt = new Date(Date.now() + 60_000);
  await context.internalAdapter.createVerificationValue({ identifier: 'one', value: 'v', expiresAt });
  const where = [{ field: 'value', value: 'v' }];
  const taken = await Promise.all(
    Array.from({ length: 8 }, () => context.adapter.consumeOne({ model: 'verification', where })),
  );
  expect(taken.filter((row) => row !== null)).toMatchObject([{ value: 'v', expiresAt }]);
});

test('counting loses no step, and a guard that no longer holds changes nothing', async () => {
  const [row] = await store.people.find('person', { where: [], limit: 1 });
  const factor = await context.adapter.create<Record<string, unknown>>({
    model: 'twoFactor',
    data: { userId: row?.id, secret: 's', backupCodes: 'c', verified: false },
  });
  const where = [{ field: 'id', value: String(factor.id) }];
  const step = { model: 'twoFactor', where, increment: { failedVerificationCount: 1 } };
  await Promise.all(Array.from({ length: 8 }, () => context.adapter.incrementOne(step)));
  const [after] = await store.people.find('second_factor', { where: [] });
  expect(after?.failures).toBe(8);
  const guarded = [...where, { field: 'backupCodes', value: 'other' }];
  expect(
    await context.adapter.incrementOne({
      model: 'twoFactor',
      where: guarded,
      increment: {},
      set: { backupCodes: 'd' },
    }),
  ).toBeNull();
});

test('a question that the tables cannot answer is refused, not guessed', async () => {
  const where = [
    { field: 'email', value: 'a' },
    { field: 'name', value: 'b', connector: 'OR' as const },
  ];
  await expect(context.adapter.findMany({ model: 'user', where })).rejects.toThrow('in a way that it never did');
  await expect(
    context.adapter.findMany({ model: 'user', where: [{ field: 'name', operator: 'contains', value: 'a' }] }),
  ).rejects.toThrow('never did');
});

test('a cookie that we sign is one that the library would have', async () => {
  const [row] = await store.people.find('person', { where: [], limit: 1 });
  const session = await context.internalAdapter.createSession(String(row?.id));
  const cookie = renderSessionCookie(session.token, secret, 60).split(';', 1)[0] ?? '';
  const settings = { baseUrl: 'http://gw.test', onRejected: () => undefined, service: null };
  const { api } = createAuthEngine({ people: store.people, secret, ...settings });
  const found = await api.getSession({ headers: new Headers({ cookie }) });
  expect(found?.session.id).toBe(session.id);
  const forged = new Headers({ cookie: renderSessionCookie(session.token, new Secret('cd'.repeat(32)), 60) });
  expect(await api.getSession({ headers: forged })).toBeNull();
});
