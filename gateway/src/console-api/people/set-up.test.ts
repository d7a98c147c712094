/** Tests the first run: one link, one use, one owner; and that the stored data gives no one access. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolders } from '../../store/testing/temporary-folder.ts';
import { OWNER, openPeopleRig, type PeopleRig, setUpOwner } from '../testing/people-rig.ts';

/** Each sign-in hashes a password, which takes long on a busy machine. */
setDefaultTimeout(30_000);
const folder = temporaryFolders();
let rig: PeopleRig;
beforeEach(async () => {
  rig = await openPeopleRig(folder());
});
afterEach(async () => {
  await rig.close();
  expect(rig.faults).toEqual([]);
});

async function makeToken(): Promise<string> {
  const link = await rig.setUp.makeLink();
  if (link === null) throw new Error('it was set up already');
  return link.token;
}

describe('set-up', () => {
  test('a link creates the owner of the operator’s account, signs them in, and works once', async () => {
    const token = await makeToken();
    const browser = rig.browser();
    expect((await browser.ask('GET /session')).json).toMatchObject({ state: 'setup', person: null, accounts: [] });
    expect((await browser.ask(`GET /setup/${token}`)).json).toMatchObject({ valid: true, model: 'demo' });
    const made = await browser.ask('POST /setup', {
      body: { ...OWNER, email: 'Ada@Example.com', token, workspace: 'lab' },
    });
    expect(made.json).toMatchObject({
      state: 'signed_in',
      person: { name: 'Ada', email: 'ada@example.com' },
      accounts: [{ account: 'default', role: 'owner', workspaces: null }],
    });
    expect((await browser.ask('GET /session')).json.state).toBe('signed_in');
    expect(rig.directory.workspaces.has('lab')).toBe(true);
    expect((await browser.ask(`GET /setup/${token}`)).json.valid).toBe(false);
    const again = await rig
      .browser()
      .ask('POST /setup', { body: { ...OWNER, email: 'b@example.com', token, workspace: null } });
    expect([again.status, again.json.error.code]).toEqual([410, 'gone']);
    expect(await rig.setUp.makeLink()).toBeNull();
    expect(rig.notes.map(({ act }) => act)).toEqual(['person.setup', 'person.sign_in']);
  });

  test('keys of the new owner work at once', async () => {
    await setUpOwner(rig);
    const [owner] = await rig.store.people.find('person', { where: [] });
    const rights = rig.directory.makers.get(owner?.id ?? '');
    expect(rights?.('default', 'default')).toEqual(['inference', 'usage', 'admin']);
  });

  test('of two concurrent uses of the link, one succeeds', async () => {
    const token = await makeToken();
    const answers = await Promise.all(
      ['a@example.com', 'b@example.com', 'c@example.com'].map((email) =>
        rig.browser().ask('POST /setup', { body: { ...OWNER, email, token, workspace: null } }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 410, 410]);
    expect(await rig.store.people.find('person', { where: [] })).toHaveLength(1);
    expect(await rig.store.people.find('membership', { where: [] })).toHaveLength(1);
  });

  test('a link ends after fifteen minutes, and with the next one', async () => {
    const first = await makeToken();
    rig.nowMs += 15 * 60_000 - 1;
    expect((await rig.browser().ask(`GET /setup/${first}`)).json.valid).toBe(true);
    rig.nowMs += 1;
    expect((await rig.browser().ask(`GET /setup/${first}`)).json.valid).toBe(false);
    const second = await makeToken();
    const third = await makeToken();
    expect((await rig.browser().ask(`GET /setup/${second}`)).json.valid).toBe(false);
    expect((await rig.browser().ask(`GET /setup/${third}`)).json.valid).toBe(true);
  });

  test.each([
    ['a short password', { password: 'eleven char' }, 'password'],
    ['a workspace that is no id', { workspace: 'My Lab' }, 'workspace'],
    ['text that is not an address', { email: 'ada' }, 'email'],
  ])('%s is refused by its member, and the link still works', async (_name, wrong, member) => {
    const token = await makeToken();
    const answered = await rig.browser().ask('POST /setup', { body: { ...OWNER, token, workspace: null, ...wrong } });
    expect([answered.status, answered.json.error.member]).toEqual([400, member]);
    expect((await rig.browser().ask(`GET /setup/${token}`)).json.valid).toBe(true);
  });

  test('a workspace of another account is refused before the link is used, and not revealed to strangers', async () => {
    await rig.run('accounts.create', { id: 'team' });
    await rig.run('workspaces.create', { id: 'lab', account: 'team' });
    const token = await makeToken();
    const browser = rig.browser();
    const ask = (given: object) =>
      browser.ask('POST /setup', { body: { ...OWNER, token, workspace: 'lab', ...given } });
    expect((await ask({})).json.error).toMatchObject({ code: 'invalid', member: 'workspace' });
    expect((await ask({ token: 'x'.repeat(43) })).json.error.code).toBe('gone');
    expect((await ask({ workspace: 'attic' })).json.state).toBe('signed_in');
  });

  test('guessing links is slowed down', async () => {
    const guess = (nth: number) => rig.browser().ask(`GET /setup/${'x'.repeat(20)}${nth}`, { address: '198.51.100.7' });
    const statuses: number[] = [];
    for (let nth = 0; nth < 12; nth += 1) statuses.push((await guess(nth)).status);
    expect(statuses).toEqual([...Array(11).fill(200), 429]);
    const refused = await guess(99);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await rig.browser().ask('GET /setup/xxxxxxxxxxxxxxxxxxxxx', { address: '198.51.100.8' })).status).toBe(200);
  });
});

test('no file of the data folder holds a session token, a set-up token or a password', async () => {
  const token = await makeToken();
  const browser = rig.browser();
  await browser.ask('POST /setup', { body: { ...OWNER, token, workspace: null } });
  const [cookie = ''] = [...browser.cookies.values()];
  const session = decodeURIComponent(cookie).split('.')[0] ?? '';
  expect(session.length).toBeGreaterThanOrEqual(32);
  const names = readdirSync(rig.dataDir, { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => statSync(join(rig.dataDir, name)).isFile());
  for (const name of files) {
    const bytes = readFileSync(join(rig.dataDir, name)).toString('latin1');
    for (const secret of [session, token, OWNER.password])
      expect([name, bytes.includes(secret)]).toEqual([name, false]);
  }
  // The same search finds existing data, so that an empty result is meaningful.
  const all = files.map((name) => readFileSync(join(rig.dataDir, name)).toString('latin1'));
  expect(all.some((bytes) => bytes.includes(OWNER.email))).toBe(true);
});

test('the session lists the permissions of the owner', async () => {
  const browser = await setUpOwner(rig);
  const { accounts } = (await browser.ask('GET /session')).json;
  expect(accounts[0].permissions).toContain('owners.write');
});
