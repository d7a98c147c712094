/**
 * Tests who may change whose membership: invitations, roles, the last owner, and that rights end at once with the
 * membership.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, spyOn, test } from 'bun:test';
import { authenticate } from '../../identity/principal.ts';
import { sampleRule } from '../../store/contracts/alerts-contract.ts';
import { Unavailable } from '../../store/ports/store-errors.ts';
import { temporaryFolders } from '../../store/testing/temporary-folder.ts';
import {
  type Browser,
  inviteMember,
  OWNER,
  openPeopleRig,
  type PeopleRig,
  setUpOwner,
  stateOf,
  tokenOf,
} from '../testing/people-rig.ts';

/** Each sign-in hashes a password, which takes long on a busy machine. */
setDefaultTimeout(30_000);
const folder = temporaryFolders();
let rig: PeopleRig;
let owner: Browser;
let ownerId: string;
beforeAll(async () => {
  rig = await openPeopleRig(folder());
  owner = await setUpOwner(rig);
  ownerId = (await owner.ask('GET /session')).json.person.id;
  await rig.run('workspaces.create', { id: 'lab' });
  await rig.run('accounts.create', { id: 'team' });
  await rig.run('workspaces.create', { id: 'team-lab', account: 'team' });
});
afterAll(async () => {
  await rig.close();
  expect(rig.faults).toEqual([]);
});

const invite = (browser: Browser, body: object, account = 'default') =>
  browser.ask(`POST /accounts/${account}/invitations`, { body: { workspaces: null, role: 'viewer', ...body } });
const accept = (browser: Browser, token: string) =>
  browser.ask(`POST /invitations/${token}`, { body: { name: 'New', password: OWNER.password } });
/** A session is cached for a second; the test's clock continues. */
const untilForgotten = async () => {
  rig.nowMs += 1_000;
};

test('rights that end while the body of a request arrives are gone for that request', async () => {
  const admin = await inviteMember(rig, owner, { email: 'slow@example.com', role: 'admin' });
  const beforeBody = async () => {
    expect((await owner.ask(`DELETE /accounts/default/members/${admin.person}`)).status).toBe(200);
  };
  const body = { email: 'friend@example.com', role: 'admin', workspaces: null };
  const answered = await admin.ask('POST /accounts/default/invitations', { body, beforeBody });
  expect(answered.status).toBe(401);
  const { invitations } = (await owner.ask('GET /accounts/default/members')).json;
  expect(invitations).toEqual([]);
});

test('rights that end while a request is carried out are not used any more', async () => {
  const target = await inviteMember(rig, owner, { email: 'target@example.com', role: 'viewer', workspaces: ['lab'] });
  const requests: readonly (readonly [string, object?])[] = [
    ['POST /accounts/default/invitations', { email: 'friend@example.com', role: 'admin', workspaces: null }],
    [`PATCH /accounts/default/members/${target.person}`, { role: 'admin', workspaces: null }],
    [`DELETE /accounts/default/members/${target.person}`],
    [`POST /accounts/default/members/${target.person}/reset-link`, {}],
  ];
  const before = (await owner.ask('GET /accounts/default/members')).json;
  for (const [at, [route, body]] of requests.entries()) {
    const admin = await inviteMember(rig, owner, { email: `late${at}@example.com`, role: 'admin' });
    const find = rig.store.people.find.bind(rig.store.people);
    let isRemoved = false;
    // The handler reads others before it writes: the request was allowed by then.
    const reads = spyOn(rig.store.people, 'find').mockImplementation(async (table, selection) => {
      const found = await find(table, selection);
      const isOwn = selection.where.some(([, , value]) => value === admin.person);
      if (!isRemoved && table === 'membership' && !isOwn) {
        isRemoved = true;
        const where = [['person', 'is', admin.person]] as const;
        await rig.store.people.save([{ of: 'membership', remove: where, rows: 1 }]);
      }
      return found;
    });
    const answered = await admin.ask(route, { body });
    reads.mockRestore();
    expect([route, isRemoved, answered.status]).toEqual([route, true, 409]);
  }
  expect((await owner.ask('GET /accounts/default/members')).json).toEqual(before);
  expect(await rig.store.people.find('reset_link', { where: [] })).toEqual([]);
});

test('invitations of an operator to other accounts end with their membership, or their role, in the operator’s', async () => {
  const end = {
    removed: (person: string) => owner.ask(`DELETE /accounts/default/members/${person}`),
    demoted: (person: string) => owner.ask(`PATCH /accounts/default/members/${person}`, { body: { role: 'viewer' } }),
  };
  for (const [how, finish] of Object.entries(end)) {
    const operator = await inviteMember(rig, owner, { email: `${how}@example.com`, role: 'admin' });
    const { json } = await invite(operator, { email: `friend-${how}@example.com`, role: 'admin' }, 'team');
    expect((await finish(operator.person)).status).toBe(200);
    expect((await accept(rig.browser(), tokenOf(json))).status).toBe(410);
    await owner.ask(`DELETE /accounts/default/members/${operator.person}`);
  }
});

test('a change of a member to what they are changes nothing, and their invitations stay', async () => {
  const admin = await inviteMember(rig, owner, { email: 'same@example.com', role: 'admin' });
  const { json } = await invite(admin, { email: 'guest@example.com' });
  const notedBefore = rig.notes.length;
  for (const body of [{}, { role: 'admin' }, { role: 'admin', workspaces: null }]) {
    const changed = await owner.ask(`PATCH /accounts/default/members/${admin.person}`, { body });
    expect([changed.status, changed.json.role]).toEqual([200, 'admin']);
  }
  expect(rig.notes.slice(notedBefore)).toEqual([]);
  expect((await rig.browser().ask(`GET /invitations/${tokenOf(json)}`)).json.valid).toBe(true);
  await owner.ask(`DELETE /accounts/default/members/${admin.person}`);
});

test('alerts no longer email an address whose member was removed', async () => {
  const member = await inviteMember(rig, owner, { email: 'leaver@example.com', role: 'viewer' });
  const rule = (id: string, receiver: string, account = 'default') =>
    sampleRule(id, { account, channel: 'email', receiver, sealed: null });
  const before = [
    rule('alr_both', 'ada@example.com, Leaver@example.com'),
    rule('alr_one', 'leaver@example.com'),
    rule('alr_team', 'leaver@example.com', 'team'),
  ];
  for (const one of before) await rig.store.alerts.createRule(one, []);
  const away = spyOn(rig.store.alerts, 'readRules').mockRejectedValueOnce(new Unavailable('failed', 'away'));
  expect((await owner.ask(`DELETE /accounts/default/members/${member.person}`)).status).toBe(503);
  away.mockRestore();
  expect((await owner.ask(`DELETE /accounts/default/members/${member.person}`)).status).toBe(200);
  const rules = await rig.store.alerts.readRules();
  expect(rules.map(({ id, channel, receiver }) => [id, channel, receiver])).toEqual([
    ['alr_both', 'email', 'ada@example.com'],
    ['alr_one', 'inbox', ''],
    ['alr_team', 'email', 'leaver@example.com'],
  ]);
});

test('the invitations of a member stay when they get more rights', async () => {
  const admin = await inviteMember(rig, owner, { email: 'rising@example.com', role: 'admin', workspaces: ['lab'] });
  const { json } = await invite(admin, { email: 'guest@example.com', workspaces: ['lab'] });
  const isOpen = async () => (await rig.browser().ask(`GET /invitations/${tokenOf(json)}`)).json.valid;
  for (const body of [{ workspaces: ['default', 'lab'] }, { role: 'owner', workspaces: null }]) {
    expect((await owner.ask(`PATCH /accounts/default/members/${admin.person}`, { body })).status).toBe(200);
    expect(await isOpen()).toBe(true);
  }
  await owner.ask(`PATCH /accounts/default/members/${admin.person}`, { body: { role: 'admin' } });
  expect(await isOpen()).toBe(false);
  await owner.ask(`DELETE /accounts/default/members/${admin.person}`);
});

test('the audit trail has each invitation that ends with its inviter’s rights, or with a newer one', async () => {
  const admin = await inviteMember(rig, owner, { email: 'inviter@example.com', role: 'admin' });
  const notedBefore = rig.notes.length;
  const first = (await invite(admin, { email: 'one@example.com' }, 'team')).json.invitation;
  const second = (await invite(admin, { email: 'one@example.com', role: 'developer' }, 'team')).json.invitation;
  await owner.ask(`PATCH /accounts/default/members/${admin.person}`, { body: { role: 'viewer' } });
  await owner.ask(`PATCH /accounts/default/members/${admin.person}`, { body: { role: 'admin' } });
  const third = (await invite(admin, { email: 'two@example.com' })).json.invitation;
  await owner.ask(`DELETE /accounts/default/members/${admin.person}`);
  const withdrawn = rig.notes
    .slice(notedBefore)
    .flatMap(({ act, account, actor, subject, before }) =>
      act === 'invitation.withdraw' ? [[account, actor?.name, subject.id, before]] : [],
    );
  expect(withdrawn).toEqual([
    ['team', 'inviter@example.com', first.id, { email: 'one@example.com', role: 'viewer' }],
    ['team', 'Ada', second.id, { email: 'one@example.com', role: 'developer' }],
    ['default', 'Ada', third.id, { email: 'two@example.com', role: 'viewer' }],
  ]);
});

describe('an invitation', () => {
  test('creates a member with the role and workspaces, once', async () => {
    const { json } = await invite(owner, { email: 'Nia@example.com', role: 'developer', workspaces: ['lab'] });
    const token = tokenOf(json);
    expect(json.link).toBe(`http://gw.test/app/invitations/${token}`);
    expect(json.invitation).toMatchObject({ email: 'nia@example.com', role: 'developer', invited_by: 'Ada' });
    const browser = rig.browser();
    expect((await browser.ask(`GET /invitations/${token}`)).json).toMatchObject({
      valid: true,
      role: 'developer',
    });
    const answers = await Promise.all([accept(browser, token), accept(rig.browser(), token)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 410]);
    const { accounts } = (await (answers[0]?.status === 200 ? browser : rig.browser()).ask('GET /session')).json;
    if (answers[0]?.status === 200)
      expect(accounts).toMatchObject([{ account: 'default', role: 'developer', workspaces: ['lab'] }]);
    expect((await accept(rig.browser(), token)).json.error.code).toBe('gone');
    expect((await rig.browser().ask(`GET /invitations/${token}`)).json.valid).toBe(false);
    const members = (await owner.ask('GET /accounts/default/members')).json;
    expect(members.members.filter(({ email }: { email: string }) => email === 'nia@example.com')).toMatchObject([
      { role: 'developer', workspaces: ['lab'], second_factor: false, email_verified: false },
    ]);
    expect(members.invitations).toEqual([]);
    expect((await invite(owner, { email: 'nia@example.com' })).json.error.code).toBe('conflict');
  });

  test('ends after a week, when it is revoked, and when another replaces it', async () => {
    const [first, second] = [
      (await invite(owner, { email: 'l@example.com' })).json,
      (await invite(owner, { email: 'l@example.com' })).json,
    ];
    expect((await accept(rig.browser(), tokenOf(first))).status).toBe(410);
    const startMs = rig.nowMs;
    rig.nowMs += 7 * 86_400_000;
    expect((await accept(rig.browser(), tokenOf(second))).status).toBe(410);
    rig.nowMs = startMs;
    const { json } = await invite(owner, { email: 'l@example.com' });
    expect((await owner.ask(`DELETE /accounts/default/invitations/${json.invitation.id}`)).status).toBe(200);
    expect((await owner.ask(`DELETE /accounts/default/invitations/${json.invitation.id}`)).status).toBe(404);
    expect((await accept(rig.browser(), tokenOf(json))).status).toBe(410);
  });

  test('to another account is accepted only by the signed-in verified user, whose token changes', async () => {
    const member = await inviteMember(rig, owner, { email: 'pat@example.com', role: 'viewer' });
    await rig.run('person.verify', { email: 'pat@example.com' });
    const token = tokenOf((await invite(owner, { email: 'pat@example.com', role: 'admin' }, 'team')).json);
    const wrong = await owner.ask(`POST /invitations/${token}`, { body: { name: null, password: null } });
    expect([wrong.status, wrong.json.error.code]).toEqual([409, 'conflict']);
    const before = new Map(member.cookies);
    await untilForgotten();
    const done = await member.ask(`POST /invitations/${token}`, { body: { name: null, password: null } });
    expect(done.json.accounts).toMatchObject([
      { account: 'default', role: 'viewer' },
      { account: 'team', role: 'admin' },
    ]);
    expect(await stateOf(member)).toBe('signed_in');
    const thief = rig.browser();
    for (const [name, value] of before) thief.cookies.set(name, value);
    expect(await stateOf(thief)).toBe('signed_out');
    expect((await member.ask('POST /me/totp', { body: { password: OWNER.password } })).status).toBe(200);
  });

  test('to a former account is accepted by the former member', async () => {
    const member = await inviteMember(rig, owner, { email: 'back@example.com', role: 'viewer' });
    await owner.ask(`DELETE /accounts/default/members/${member.person}`);
    const token = tokenOf((await invite(owner, { email: 'back@example.com' })).json);
    expect((await accept(rig.browser(), token)).json.error).toMatchObject({ code: 'signed_out', page: '/app/sign-in' });
    const again = rig.browser();
    await again.ask('POST /sign-in', { body: { email: 'back@example.com', password: OWNER.password } });
    const done = await again.ask(`POST /invitations/${token}`, { body: { name: null, password: null } });
    expect(done.json).toMatchObject({ person: { id: member.person }, accounts: [{ account: 'default' }] });
  });
});

describe('roles', () => {
  test('the last owner can be neither removed nor demoted, also concurrently', async () => {
    const path = `/accounts/default/members/${ownerId}`;
    const less = { role: 'admin', workspaces: null };
    expect((await owner.ask(`PATCH ${path}`, { body: less })).json.error.message).toContain('last owner');
    expect((await owner.ask(`DELETE ${path}`)).json.error.message).toContain('last owner');
    const second = await inviteMember(rig, owner, { email: 'own@example.com', role: 'owner' });
    const answers = await Promise.all([
      owner.ask(`PATCH ${path}`, { body: less }),
      owner.ask(`DELETE /accounts/default/members/${second.person}`),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 409]);
    expect((await second.ask(`PATCH ${path}`, { body: { role: 'owner', workspaces: null } })).status).toBe(200);
    expect((await owner.ask(`DELETE /accounts/default/members/${second.person}`)).status).toBe(200);
  });

  test.each([
    ['an admin makes an owner', 'admin', { role: 'owner' }, 'forbidden'],
    ['an admin makes an admin', 'admin', { role: 'admin' }, null],
    ['a developer invites', 'developer', { role: 'viewer' }, 'forbidden'],
    ['an owner with workspaces', 'owner', { role: 'owner', workspaces: ['lab'] }, 'invalid'],
    ['a workspace of another account', 'owner', { workspaces: ['team-lab'] }, 'invalid'],
  ])('%s: as %s', async (name, role, given, refusal) => {
    const at = name.replaceAll(' ', '-');
    const granter = role === 'owner' ? owner : await inviteMember(rig, owner, { email: `${at}@example.com`, role });
    const answered = await invite(granter, { email: `to-${at}@example.com`, ...given });
    expect(answered.json.error?.code ?? null).toBe(refusal);
  });

  test('omitted members of a change keep concurrent changes', async () => {
    const member = await inviteMember(rig, owner, { email: 'kept@example.com', role: 'developer' });
    const path = `PATCH /accounts/default/members/${member.person}`;
    const narrowed = await owner.ask(path, { body: { workspaces: ['lab'] } });
    expect(narrowed.json).toMatchObject({ role: 'developer', workspaces: ['lab'] });
    expect((await owner.ask(path, { body: { role: 'viewer' } })).json).toMatchObject({
      role: 'viewer',
      workspaces: ['lab'],
    });
    const own = await owner.ask(`PATCH /accounts/default/members/${ownerId}`, { body: { workspaces: null } });
    expect(own.json).toMatchObject({ role: 'owner', workspaces: null });
  });

  test('a member restricted to workspaces grants only those, and cannot change members with others', async () => {
    const granter = await inviteMember(rig, owner, { email: 'part@example.com', role: 'admin', workspaces: ['lab'] });
    const other = await inviteMember(rig, owner, { email: 'all@example.com', role: 'viewer' });
    expect((await invite(granter, { email: 'x1@example.com' })).json.error.member).toBe('workspaces');
    expect((await invite(granter, { email: 'x2@example.com', workspaces: ['default'] })).json.error.code).toBe(
      'forbidden',
    );
    expect((await invite(granter, { email: 'x3@example.com', workspaces: ['lab'] })).status).toBe(200);
    expect((await granter.ask(`DELETE /accounts/default/members/${other.person}`)).status).toBe(403);
  });

  test('a user without the account cannot see that it exists', async () => {
    const member = await inviteMember(rig, owner, { email: 'out@example.com', role: 'viewer' });
    expect((await member.ask('GET /accounts/team/members')).status).toBe(404);
    expect((await member.ask('GET /accounts/nowhere/members')).status).toBe(404);
    expect((await member.ask('GET /accounts/default/members')).status).toBe(403);
  });
});

describe('the end of a membership', () => {
  test('ends their sessions, keys and invitations at once', async () => {
    const member = await inviteMember(rig, owner, { email: 'gone@example.com', role: 'admin' });
    const { key } = await rig.run('keys.create', {
      name: 'his',
      workspace: 'lab',
      scopes: ['inference', 'usage', 'admin'],
      created_by: member.person,
    });
    const mine = await rig.run('keys.create', { name: 'of the command line' });
    const scopesOf = (text: unknown) => {
      const found = authenticate(rig.directory, String(text), rig.nowMs);
      return typeof found === 'string' ? found : found.scopes;
    };
    const pending = tokenOf((await invite(member, { email: 'friend@example.com', role: 'admin' })).json);
    const path = `/accounts/default/members/${member.person}`;
    const bearer = { headers: { authorization: `Bearer ${key}` } };
    expect(scopesOf(key)).toEqual(['inference', 'usage', 'admin']);
    expect((await rig.browser().ask('GET /accounts/default/members', bearer)).status).toBe(200);

    await owner.ask(`PATCH ${path}`, { body: { role: 'developer', workspaces: null } });
    expect(scopesOf(key)).toEqual(['inference', 'usage']);
    expect((await rig.browser().ask('GET /accounts/default/members', bearer)).status).toBe(403);
    expect((await member.ask('GET /accounts/default/members')).status).toBe(403);
    expect((await accept(rig.browser(), pending)).status).toBe(410);

    await owner.ask(`PATCH ${path}`, { body: { role: 'developer', workspaces: ['default'] } });
    expect(scopesOf(key)).toBe('ownerless');
    await owner.ask(`PATCH ${path}`, { body: { role: 'developer', workspaces: ['lab'] } });
    expect(scopesOf(key)).toEqual(['inference', 'usage']);
    await owner.ask(`PATCH ${path}`, { body: { role: 'viewer', workspaces: null } });
    expect(scopesOf(key)).toBe('ownerless');
    expect((await owner.ask(`DELETE ${path}`)).status).toBe(200);
    expect(scopesOf(key)).toBe('ownerless');
    expect((await rig.browser().ask('GET /accounts/default/members', bearer)).json.error.code).toBe('wrong_credential');
    expect(await stateOf(member)).toBe('signed_out');
    expect(scopesOf(mine.key)).toEqual(['inference']);
    expect(rig.notes.filter(({ subject }) => subject.id === member.person).map(({ act }) => act)).toContain(
      'member.remove',
    );
  });

  test('still holds after a restart', async () => {
    const dataDir = folder();
    let first = await openPeopleRig(dataDir);
    const browser = await setUpOwner(first);
    const member = await inviteMember(first, browser, { email: 'm@example.com', role: 'developer' });
    const kept = await first.run('keys.create', { name: 'kept', created_by: member.person });
    const leaver = await inviteMember(first, browser, { email: 'n@example.com', role: 'developer' });
    const lost = await first.run('keys.create', { name: 'lost', created_by: leaver.person });
    await browser.ask(`DELETE /accounts/default/members/${leaver.person}`);
    await first.close();
    first = await openPeopleRig(dataDir);
    expect(authenticate(first.directory, kept.key, first.nowMs)).toMatchObject({ scopes: ['inference'] });
    expect(authenticate(first.directory, lost.key, first.nowMs)).toBe('ownerless');
    await first.close();
  });
});

describe('a key that calls the console API', () => {
  test('needs a scope for it, its own address list, and is no person', async () => {
    const ask = (key: unknown, route: string, address?: string) =>
      rig.browser().ask(route, { headers: { authorization: `Bearer ${key}` }, ...(address ? { address } : {}) });
    const plain = await rig.run('keys.create', { name: 'plain' });
    const admin = await rig.run('keys.create', { name: 'admin', scopes: ['admin'], ips: ['192.0.2.0/24'] });
    expect((await ask(plain.key, 'GET /accounts/default/members')).status).toBe(403);
    expect((await ask(admin.key, 'GET /accounts/default/members')).status).toBe(200);
    expect((await ask(admin.key, 'GET /accounts/default/members', '198.51.100.1')).status).toBe(403);
    expect((await ask(admin.key, 'GET /me')).status).toBe(403);
    expect((await ask('tg_nonsense', 'GET /session')).status).toBe(401);
    const body = { email: 'k@example.com', role: 'viewer', workspaces: null };
    const headers = { authorization: `Bearer ${admin.key}` };
    const invited = await rig.browser().ask('POST /accounts/default/invitations', { body, headers });
    expect(invited.json.error.message).toContain('a signed-in user');
  });
});

test('the session lists the accounts a user may enter, with their permissions: all accounts for operators', async () => {
  const accountsOf = async (browser: Browser) => (await browser.ask('GET /session')).json.accounts;
  await rig.run('accounts.set', { id: 'team', name: 'The team', time_zone: 'Asia/Tokyo' });
  const admin = await inviteMember(rig, owner, { email: 'operator@example.com', role: 'admin' });
  const [own, other] = await accountsOf(admin);
  expect(own).toMatchObject({ account: 'default', name: 'default', time_zone: 'UTC', member: true, role: 'admin' });
  expect(other).toMatchObject({ account: 'team', name: 'The team', time_zone: 'Asia/Tokyo', member: false });
  expect(other).toMatchObject({ role: 'admin', workspaces: null });
  expect(other.permissions).toEqual(own.permissions);
  expect(other.permissions).not.toContain('owners.write');
  expect((await admin.ask('GET /accounts/team/members')).status).toBe(200);
  for (const role of ['billing', 'developer']) {
    const member = await inviteMember(rig, owner, { email: `${role}@operator.example`, role });
    expect(await accountsOf(member)).toMatchObject([{ account: 'default', member: true }]);
    expect((await member.ask('GET /accounts/team/members')).status).toBe(404);
  }
});
