/**
 * Tests every route of the console API × every kind of caller over HTTP: allowed or refused exactly as the tables say.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { CONSOLE_ROUTES, type ConsoleRoute, rowOf } from '../../src/console-api/contract/contract.ts';
import { ROLES } from '../../src/people/roles.ts';
import { RECONCILIATION_ID, seedReconciliation } from '../browser/seed-reconciliation.ts';
import { pointAt } from '../harness/point-at.ts';
import { type Pair, startPair } from '../harness/start-pair.ts';
import { control, createKey } from '../http-contract/make-key.ts';
import {
  type Answered,
  type ApiVisitor,
  inviteMember,
  must,
  openPerson,
  openScript,
  setUpOwner,
} from './api-visitor.ts';
import { type Caller, expectAccess } from './expect-access.ts';
import { askOf, type Names } from './sample-asks.ts';

setDefaultTimeout(60_000);

const ROUTES = Object.keys(CONSOLE_ROUTES) as ConsoleRoute[];
const WRITES = ROUTES.filter((route) => !route.startsWith('GET '));
const BODIED = ROUTES.filter((route) => rowOf(route).body !== undefined);
const DEFAULT = 'default';
const OTHER = 'acme';
/** No route accepts a list: `invalid` means that the caller was let in, and nothing happened. */
const NO_BODY: readonly unknown[] = [];
const NO_ROUTE = 'there is no path this path';

let pair: Pair;
let owner: ApiVisitor;
const callers = new Map<string, Caller & { readonly visitor: ApiVisitor }>();
/** Values of the placeholders in paths, by account. */
const names: Record<string, Names> = {};

beforeAll(async () => {
  pair = await startPair((fakeUrl) =>
    pointAt(fakeUrl, { chat: ['ok'], server: { trusted_proxies: ['127.0.0.0/8', '::1'] } }),
  );
  const { gateway } = pair;
  const { url } = gateway;
  owner = await setUpOwner(gateway);
  await seedReconciliation(gateway, 'req_none');
  await control(gateway, 'accounts.create', { id: OTHER });
  await control(gateway, 'workspaces.create', { id: 'acme-main', account: OTHER });
  callers.set('anonymous', { kind: 'anonymous', visitor: openPerson(url) });
  for (const [account, workspace] of [
    [DEFAULT, 'default'],
    [OTHER, 'acme-main'],
  ] as const) {
    let person = '';
    for (const role of ROLES) {
      const member = await inviteMember(url, owner, { account, role });
      person = member.person;
      callers.set(`the ${role} of ${account}`, { kind: 'member', role, account, restricted: false, visitor: member });
      // An owner has every workspace.
      if (role === 'owner') continue;
      const some = await inviteMember(url, owner, { account, role, workspaces: [workspace] });
      callers.set(`the ${role} of a workspace of ${account}`, {
        kind: 'member',
        role,
        account,
        restricted: true,
        visitor: some,
      });
      if (role !== 'admin') continue;
      // A key never has more permissions than its creator.
      const { key } = await createKey(gateway, { workspace, scopes: ['inference', 'admin'], created_by: some.person });
      callers.set(`a key for inference and admin by the admin of a workspace of ${account}`, {
        kind: 'key',
        scope: 'inference',
        account,
        visitor: openScript(url, key),
      });
    }
    for (const scope of ['usage', 'admin', 'inference'] as const) {
      const { key } = await createKey(gateway, { workspace, scopes: [scope] });
      callers.set(`a key of ${account} for ${scope}`, { kind: 'key', scope, account, visitor: openScript(url, key) });
    }
    const { id, key } = await createKey(gateway, { workspace, name: `of ${account}` });
    const invited = await must(
      owner.ask(`POST /accounts/${account}/invitations`, {
        body: { email: `guest@${account}.example`, role: 'viewer', workspaces: null },
      }),
    );
    const given = { account, name: 'a budget', event: 'budget', threshold: '80', channel: 'inbox' };
    const guarded = { account, workspace, name: 'secrets', check: 'secrets' };
    const guardrail = (await control(gateway, 'guardrails.create', guarded)) as { readonly id: string };
    const alert = (await control(gateway, 'alerts.create', given)) as { readonly id: string };
    names[account] = {
      account,
      workspace,
      key: id,
      subject: id,
      kind: 'key',
      model: 'ok',
      provider: 'lab',
      credential: 'default',
      person,
      invitation: invited.invitation.id,
      token: String(invited.link).split('/').at(-1) ?? '',
      request: await callOnce(url, key),
      session: 'ses_none',
      passkey: 'none',
      service: 'none',
      reconciliation: RECONCILIATION_ID,
      alert: alert.id,
      guardrail: guardrail.id,
      view: 'none',
    };
  }
});
afterAll(() => pair.stop());

/** Returns the id of a recorded call. */
async function callOnce(url: string, key: string): Promise<string> {
  const reply = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-session-id': 'run-1' },
    body: JSON.stringify({ model: 'ok', messages: [{ role: 'user', content: 'Good day.' }] }),
  });
  await reply.text();
  expect(reply.status).toBe(200);
  return reply.headers.get('x-request-id') ?? '';
}

/** Uses an invented id where a route would act even without a body. */
function namesFor(route: ConsoleRoute, account: string): Names {
  const known = names[account] ?? {};
  if (!route.startsWith('DELETE ')) return known;
  const none = { provider: 'none', model: 'none', credential: 'none', alert: 'none', guardrail: 'none' };
  return { ...known, ...none, invitation: 'inv_none', person: 'usr_none' };
}

const bodyFor = (route: ConsoleRoute) => (rowOf(route).body === undefined ? {} : { body: NO_BODY });

/** The result in the tables' terms; `in` for a caller who passed authorization. */
function accessOf({ status, text, json }: Answered): string {
  const code = json?.error?.code;
  if (code === undefined) return status < 400 ? 'in' : text;
  if (code === 'invalid') return 'in';
  if (code === 'not_found' && !json.error.message.startsWith('there is no such account')) return 'in';
  return code;
}

describe.each([DEFAULT, OTHER])('of the account %s', (account) => {
  test.each(ROUTES)('%s admits the callers that the tables say', async (route) => {
    const row = rowOf(route);
    const found: Record<string, string> = {};
    const expected: Record<string, string> = {};
    const probe = askOf(route, namesFor(route, account));
    await Promise.all(
      [...callers].map(async ([name, { visitor, ...caller }]) => {
        found[name] = accessOf(await visitor.ask(probe, bodyFor(route)));
        expected[name] = expectAccess(caller, row, route.includes('{account}') ? account : DEFAULT);
      }),
    );
    expect(found).toEqual(expected);
  });
});

test.each(ROUTES.filter((route) => route.includes('{account}')))(
  '%s says to operators that an account does not exist',
  async (route) => {
    const ask = askOf(route, { ...namesFor(route, DEFAULT), account: 'none' });
    for (const caller of [owner, callers.get('a key of default for admin')?.visitor]) {
      const answered = await caller?.ask(ask, bodyFor(route));
      // Alike for those who may not enter it.
      const message = 'there is no such account, or you have no access to it';
      const isRefused = answered?.json?.error.code === 'forbidden' && caller !== owner;
      expect(answered).toMatchObject(isRefused ? { status: 403 } : { status: 404, json: { error: { message } } });
    }
  },
);

test.each(ROUTES)('%s has a handler, and replies as the table says', async (route) => {
  const row = rowOf(route);
  const answered = await owner.ask(askOf(route, namesFor(route, DEFAULT)), bodyFor(route));
  expect(answered.text).not.toContain(NO_ROUTE);
  expect(answered.status).toBeLessThan(500);
  if (!route.startsWith('GET ')) return;
  if (row.reply === 'redirect') {
    // The callback from another service, where none is configured.
    expect(answered).toMatchObject({ status: 404, json: { error: { code: 'not_found' } } });
    return;
  }
  expect({ route, status: answered.status, text: answered.text }).toMatchObject({ status: 200 });
  if (row.reply === 'csv') {
    expect(answered.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(answered.headers.get('content-disposition')).toStartWith('attachment; ');
  } else {
    const outcome = row.reply.safeParse(answered.json);
    expect(outcome.error?.issues ?? []).toEqual([]);
  }
});

describe('a cross-site request', () => {
  const FOREIGN = [
    { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
    { 'sec-fetch-site': 'same-site', origin: 'http://other.localhost' },
    { 'sec-fetch-site': 'none' },
    { 'sec-fetch-site': 'same-origin', origin: 'https://evil.example' },
    { 'sec-fetch-site': 'same-origin', origin: 'null' },
  ];
  test.each(WRITES)('%s is refused', async (route) => {
    for (const headers of FOREIGN) {
      const { status, json } = await owner.ask(askOf(route, namesFor(route, DEFAULT)), { ...bodyFor(route), headers });
      expect({ headers, status, code: json?.error?.code }).toEqual({ headers, status: 403, code: 'cross_site' });
    }
  });

  test('may read nothing: no answer is another site’s to see', async () => {
    for (const route of ROUTES.filter((one) => one.startsWith('GET '))) {
      const { headers } = await owner.ask(askOf(route, namesFor(route, DEFAULT)), {
        headers: { origin: 'https://evil.example' },
      });
      expect([route, headers.get('access-control-allow-origin')]).toEqual([route, null]);
    }
  });
});

test.each(BODIED)('%s takes JSON by its content type alone', async (route) => {
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
    const headers = { 'content-type': type };
    const { status, json } = await owner.ask(askOf(route, namesFor(route, DEFAULT)), { body: '{}', headers });
    expect({ type, status, code: json?.error?.code }).toEqual({ type, status: 415, code: 'not_json' });
  }
});

test('routes that are not in the table do not exist, for any caller', async () => {
  for (const path of ['', '/', '/accounts/default', '/accounts/default/keys/', '/session/x']) {
    const { status, json } = await owner.ask(`GET ${path}`);
    expect({ path, status, code: json?.error?.code }).toEqual({ path, status: 404, code: 'not_found' });
  }
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    const { status } = await owner.ask(`${method} /session`, { body: {} });
    expect([method, status]).toEqual([method, 404]);
  }
});
