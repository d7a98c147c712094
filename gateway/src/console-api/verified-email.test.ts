/** Tests what a verified address allows: joining other accounts, and which user of an address a password signs in. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { authenticate } from '../identity/principal.ts';
import { emailColumns } from '../people/email-address.ts';
import { temporaryFolders } from '../store/testing/temporary-folder.ts';
import { type Browser, openPeopleRig, type PeopleRig, setUpOwner, tokenOf } from './testing/people-rig.ts';

/** Each sign-in hashes a password, which takes long on a busy machine. */
setDefaultTimeout(30_000);
const folder = temporaryFolders();
const ACCOUNTS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
let rig: PeopleRig;
let owner: Browser;
beforeAll(async () => {
  rig = await openPeopleRig(folder());
  owner = await setUpOwner(rig);
  for (const id of ACCOUNTS) await rig.run('accounts.create', { id });
});
afterAll(async () => {
  await rig.close();
  expect(rig.faults).toEqual([]);
});

async function invite(account: string, email: string): Promise<string> {
  const body = { email, role: 'developer', workspaces: null };
  return tokenOf((await owner.ask(`POST /accounts/${account}/invitations`, { body })).json);
}
async function join(account: string, email: string, password = `password of ${account}`) {
  const browser = rig.browser();
  const body = { name: `${email} in ${account}`, password };
  const answered = await browser.ask(`POST /invitations/${await invite(account, email)}`, { body });
  return Object.assign(browser, { status: answered.status, json: answered.json });
}
let addressCount = 0;
async function signIn(email: string, password: string, account?: string) {
  addressCount += 1;
  const browser = rig.browser();
  const body = { email, password, ...(account === undefined ? {} : { account }) };
  const answered = await browser.ask('POST /sign-in', { body, address: `198.51.100.${addressCount}` });
  return Object.assign(browser, { status: answered.status, json: answered.json });
}
const accountsOf = async (browser: Browser) =>
  (await browser.ask('GET /session')).json.accounts.map(({ account }: { account: string }) => account);

describe('an address that a command verifies', () => {
  test('lets its user join other accounts, and lists the sign-in methods that keep working', async () => {
    const email = 'one@example.com';
    const user = await join('a', email);
    const token = await invite('b', email);
    const accept = () => user.ask(`POST /invitations/${token}`, { body: { name: null, password: null } });
    expect((await accept()).status).toBe(409);
    expect(await rig.run('person.verify', { email: email.toUpperCase() })).toMatchObject({
      name: `${email} in a`,
      account: 'a',
      has_password: true,
      passkeys: 0,
      sessions: 1,
      restored: [],
    });
    rig.nowMs += 1_000;
    expect((await accept()).status).toBe(200);
    expect(await accountsOf(user)).toEqual(['a', 'b']);
    const members = (await owner.ask('GET /accounts/b/members')).json.members;
    expect(members).toMatchObject([{ email, email_verified: true }]);
    await expect(rig.run('person.verify', { email })).rejects.toThrow('is already verified');
    const filter = { beforeSeq: null, actor: null, subject: null, fromMs: null, toMs: null, limit: 9 };
    const entries = await rig.store.audit.read({
      account: 'default',
      workspaces: null,
      act: 'person.verify',
      ...filter,
    });
    expect(entries).toMatchObject([{ by: { actor: { kind: 'command_line' } }, after: { email, account: 'a' } }]);
  });

  test('has one user, chosen by account if several have the address', async () => {
    const email = 'two@example.com';
    const [inA] = [await join('a', email), await join('b', email)];
    await expect(rig.run('person.verify', { email })).rejects.toThrow('in the accounts a, b. Choose the one');
    await expect(rig.run('person.verify', { email, account: 'c' })).rejects.toThrow('No user has the address');
    await expect(rig.run('person.verify', { email: 'tw\u043E@example.com' })).rejects.toThrow('non-ASCII character');
    expect(await rig.run('person.verify', { email, account: 'a' })).toMatchObject({ account: 'a' });
    await expect(rig.run('person.verify', { email, account: 'b' })).rejects.toThrow('An address has one verified user');
    rig.nowMs += 1_000;
    expect((await inA.ask('GET /me')).json.email_verified).toBe(true);
  });

  test('restores suspended memberships and the user’s keys', async () => {
    const email = 'late@example.com';
    const user = await join('a', email);
    const person = String(user.json.person.id);
    const row = { person, account: 'b', role: 'developer', workspaces: null, joined_at_ms: 5 };
    await rig.store.people.save([{ of: 'suspended_membership', insert: row }]);
    await rig.run('workspaces.create', { id: 'of-b', account: 'b' });
    const { key } = await rig.run('keys.create', { name: 'k', workspace: 'of-b', created_by: person });
    expect(authenticate(rig.directory, key, rig.nowMs)).toBe('ownerless');
    expect(await rig.run('person.verify', { email })).toMatchObject({ restored: ['b'] });
    expect(authenticate(rig.directory, key, rig.nowMs)).toMatchObject({ accountId: 'b' });
    rig.nowMs += 1_000;
    expect(await accountsOf(user)).toEqual(['a', 'b']);
    expect(await rig.store.people.find('suspended_membership', { where: [] })).toEqual([]);
  });
});

test('the database itself refuses an unverified user a second account', async () => {
  const user = await join('a', 'guard@example.com');
  const insert = {
    person: String(user.json.person.id),
    account: 'b',
    role: 'viewer',
    workspaces: null,
    joined_at_ms: 1,
  };
  const refusal = await rig.store.people.save([{ of: 'membership', insert }]).catch((fault: Error) => fault.message);
  expect(refusal).toContain('joins no second account');
});

describe('a password', () => {
  test('signs in the matching user of the address', async () => {
    const email = 'many@example.com';
    for (const account of ['a', 'b']) expect((await join(account, email)).status).toBe(200);
    for (const account of ['b', 'a']) {
      expect(await accountsOf(await signIn(email, `password of ${account}`))).toEqual([account]);
    }
    expect((await signIn(email, 'none of these')).status).toBe(401);
  });

  test('an address of several users requires the account', async () => {
    const email = 'same@example.com';
    for (const account of ['a', 'b']) await join(account, email, 'the same password');
    await rig.run('accounts.set', { id: 'b', name: 'The B team' });
    const reply = await signIn(email, 'the same password');
    expect(reply.json).toEqual({
      state: 'choose_account',
      accounts: [
        { account: 'a', name: 'a' },
        { account: 'b', name: 'The B team' },
      ],
    });
    expect(reply.cookies.size).toBe(0);
    for (const account of ['a', 'b']) {
      expect(await accountsOf(await signIn(email, 'the same password', account))).toEqual([account]);
    }
    expect((await signIn(email, 'the same password', 'c')).json.error).toMatchObject({
      code: 'invalid',
      member: 'account',
    });
    expect((await signIn(email, 'another password', 'a')).status).toBe(401);
  });

  test('a correct password of one user does not reset the failed attempts of another user of the address', async () => {
    const email = 'target@example.com';
    await join('a', email, 'the attacker’s own');
    await join('b', email, 'what is guessed at');
    const statusOf = async (password: string) => (await signIn(email, password)).status;
    for (let nth = 0; nth < 5; nth += 1) expect(await statusOf('a wrong guess')).toBe(401);
    expect(await statusOf('the attacker’s own')).toBe(200);
    expect([await statusOf('a wrong guess'), await statusOf('what is guessed at')]).toEqual([401, 429]);
  });

  test('an address has at most eight users, and a ninth invitation is refused', async () => {
    const email = 'full@example.com';
    expect((await join('g', email)).status).toBe(200);
    for (const account of ACCOUNTS.slice(0, 6)) {
      const times = { created_at_ms: 1, updated_at_ms: 1 };
      const insert = {
        id: `full-${account}`,
        name: 'N',
        ...emailColumns(email, account),
        second_factor: 0,
        time_zone: null,
        ...times,
      } as const;
      await rig.store.people.save([{ of: 'person', insert: { ...insert, seen_at_ms: null } }]);
    }
    const eighth = await join('h', email);
    expect([eighth.status, eighth.json.error.code]).toEqual([409, 'conflict']);
    expect(eighth.json.error.message).toContain(`tollgate members verify ${email}`);
    await rig.run('person.verify', { email, account: 'g' });
    expect((await join('h', email)).status).toBe(200);
    expect(await accountsOf(await signIn(email, 'password of h'))).toEqual(['h']);
    expect(await accountsOf(await signIn(email, 'password of g'))).toEqual(['g']);
  });
});

test('a link to a new password names the account where several users have the address', async () => {
  const email = 'reset@example.com';
  for (const account of ['a', 'b']) await join(account, email);
  const given = { console: true, base_url: 'http://gw.test', email };
  await expect(rig.run('person.reset_link', given)).rejects.toThrow('in the accounts a, b. Choose one: --account a');
  await expect(rig.run('person.reset_link', { ...given, account: 'c' })).rejects.toThrow('in the account "c"');
  const { link } = await rig.run('person.reset_link', { ...given, account: 'b' });
  const done = await rig
    .browser()
    .ask(`POST /resets/${tokenOf({ link })}`, { body: { password: 'a new password of b' } });
  expect(done.status).toBe(200);
  expect(await accountsOf(await signIn(email, 'a new password of b'))).toEqual(['b']);
  expect(await accountsOf(await signIn(email, 'password of a'))).toEqual(['a']);
});
