/** Tests password resets: which roles may start one for which users, what it changes, and what closes it. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { temporaryFolders } from '../../store/testing/temporary-folder.ts';
import {
  type Browser,
  beforeInsert,
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
const NEXT = 'a password not forgotten';
const folder = temporaryFolders();
let rig: PeopleRig;
let owner: Browser;
beforeAll(async () => {
  rig = await openPeopleRig(folder());
  owner = await setUpOwner(rig);
  await rig.run('workspaces.create', { id: 'lab' });
  await rig.run('accounts.create', { id: 'team' });
  await rig.run('accounts.create', { id: 'other' });
});
afterAll(async () => {
  await rig.close();
  expect(rig.faults).toEqual([]);
});

type Made = Awaited<ReturnType<typeof inviteMember>>;
type Rights = { role: string; workspaces?: readonly string[] | null };
let invited = 0;
const member = (given: Rights): Promise<Made> => {
  invited += 1;
  return inviteMember(rig, owner, { email: `p${invited}@example.com`, ...given });
};
/** Makes an existing user a member of another account too, with a verified address. */
async function join(person: Made, account: string, { role }: Rights): Promise<void> {
  const email = (await person.ask('GET /session')).json.person.email;
  await rig
    .run('person.verify', { email })
    .catch((fault: Error) => expect(fault.message).toContain('already verified'));
  // A session is cached for a second.
  rig.nowMs += 1_000;
  const { json } = await owner.ask(`POST /accounts/${account}/invitations`, {
    body: { email, role, workspaces: null },
  });
  const body = { name: null, password: null };
  expect((await person.ask(`POST /invitations/${tokenOf(json)}`, { body })).status).toBe(200);
}
const makeLink = (granter: Browser, { person }: { readonly person: string }, account = 'default') =>
  granter.ask(`POST /accounts/${account}/members/${person}/reset-link`, { body: {} });
const linkFor = async (person: Made) => tokenOf((await makeLink(owner, person)).json);
const byCommand = (email: string, given: object = {}) =>
  rig.run('person.reset_link', { console: true, base_url: 'http://gw.test', email, ...given });
const reset = (token: string, password = NEXT) =>
  rig.browser().ask(`POST /resets/${token}`, { body: { password }, address: `198.51.100.${(invited * 7) % 250}` });
const works = async (token: string) => (await rig.browser().ask(`GET /resets/${token}`)).json.valid;
const emailOf = async (person: Made) => (await person.ask('GET /session')).json.person.email;
const signIn = (email: string, password: string) =>
  rig.browser().ask('POST /sign-in', { body: { email, password }, address: `203.0.113.${invited}` });

describe('a link', () => {
  test('sets a new password once, ends every session, and leaves no secret in the trail', async () => {
    const person = await member({ role: 'viewer' });
    const email = await emailOf(person);
    const { json } = await makeLink(owner, person);
    expect(json.link).toMatch(/^http:\/\/gw\.test\/app\/reset\/[\w-]{43}$/);
    const token = tokenOf(json);
    expect((await rig.browser().ask(`GET /resets/${token}`)).json).toEqual({
      valid: true,
      email,
      expires_at: new Date(rig.nowMs + 3_600_000).toISOString(),
    });
    expect((await reset(token, 'too short')).json.error.member).toBe('password');
    const answers = await Promise.all([reset(token), reset(token)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 410]);
    expect(await stateOf(person)).toBe('signed_out');
    expect((await signIn(email, OWNER.password)).status).toBe(401);
    expect((await signIn(email, NEXT)).json.state).toBe('signed_in');
    expect(await works(token)).toBe(false);
    const acts = rig.notes.filter(({ subject }) => subject.id === person.person).map(({ act }) => act);
    expect(acts.filter((act) => act.startsWith('person.reset'))).toEqual(['person.reset_link', 'person.reset']);
    expect(JSON.stringify(rig.notes)).not.toContain(token);
  });

  test.each([false, true])(
    'ends a sign-in that is carried out meanwhile; with a second factor: %p',
    async (hasSecond) => {
      const person = await member({ role: 'viewer' });
      const email = await emailOf(person);
      // Sign-in asks for a code; sign-in.test.ts tests the codes.
      const update = { second_factor: hasSecond ? 1 : 0 } as const;
      await rig.store.people.save([{ of: 'person', update, where: [['id', 'is', person.person]], rows: 1 }]);
      const token = await linkFor(person);
      // The password was found right, and what it gives is about to be stored.
      beforeInsert(rig, hasSecond ? 'sign_in_step' : 'person_session', async () => {
        expect((await reset(token)).status).toBe(200);
      });
      const { people } = rig.store;
      expect((await signIn(email, OWNER.password)).status).toBe(401);
      expect(await people.find('person_session', { where: [['person', 'is', person.person]] })).toEqual([]);
      expect(await people.find('sign_in_step', { where: [['value', 'is', person.person]] })).toEqual([]);
    },
  );

  test('ends after an hour, and with the next one', async () => {
    const person = await member({ role: 'viewer' });
    const [first, second] = [await linkFor(person), await linkFor(person)];
    expect([await works(first), await works(second)]).toEqual([false, true]);
    rig.nowMs += 3_600_000;
    expect((await reset(second)).json.error.code).toBe('gone');
    rig.nowMs -= 3_600_000;
    expect(await works(second)).toBe(true);
  });

  test('ends when the password changes, or a membership does', async () => {
    const person = await member({ role: 'viewer' });
    const path = `/accounts/default/members/${person.person}`;
    const ends: (() => Promise<unknown>)[] = [
      () => person.ask('POST /me/password', { body: { current: OWNER.password, next: NEXT } }),
      () => owner.ask(`PATCH ${path}`, { body: { role: 'developer', workspaces: null } }),
      () => join(person, 'team', { role: 'viewer' }),
      () => owner.ask(`DELETE ${path}`),
    ];
    for (const end of ends) {
      const token = await linkFor(person);
      expect(await works(token)).toBe(true);
      await end();
      expect(await works(token)).toBe(false);
    }
  });

  test('ends with the rights and the password of its creator', async () => {
    const [admin, person] = [await member({ role: 'admin' }), await member({ role: 'viewer' })];
    const made = async () => tokenOf((await makeLink(admin, person)).json);
    const first = await made();
    await admin.ask('POST /me/password', { body: { current: OWNER.password, next: NEXT } });
    const second = await made();
    await owner.ask(`DELETE /accounts/default/members/${admin.person}`);
    expect([first === second, await works(first), await works(second)]).toEqual([false, false, false]);
  });

  test('keeps the second factor unless the command line removes it; a sign-in that waited for it ends', async () => {
    const person = await member({ role: 'viewer' });
    const email = await emailOf(person);
    // The state after setting one up; sign-in.test.ts tests the codes.
    await rig.store.people.save([
      { of: 'person', update: { second_factor: 1 }, where: [['id', 'is', person.person]], rows: 1 },
      {
        of: 'second_factor',
        insert: {
          id: 'factor_1',
          person: person.person,
          secret: '',
          recovery_codes: '',
          verified: 1,
          failures: 0,
          locked_until_ms: null,
        },
      },
    ]);
    const waiting = rig.browser();
    await waiting.ask('POST /sign-in', { body: { email, password: OWNER.password } });
    expect(await stateOf(waiting)).toBe('second_factor');
    expect((await reset(tokenOf(await byCommand(email)))).status).toBe(200);
    expect(await stateOf(waiting)).toBe('signed_out');
    expect((await signIn(email, NEXT)).json.state).toBe('second_factor');
    expect((await reset(tokenOf(await byCommand(email, { without_second_factor: true })))).status).toBe(200);
    expect((await signIn(email, NEXT)).json.state).toBe('signed_in');
    expect(rig.notes.findLast(({ act }) => act === 'person.reset')?.after).toEqual({
      removed_passkeys: 0,
      second_factor: 'off',
    });
  });

  test('a reset keeps only linked services: the old password, passkeys and sessions end', async () => {
    for (const isVerified of [false, true]) {
      const person = await member({ role: 'viewer' });
      const email = await emailOf(person);
      if (isVerified) await rig.run('person.verify', { email });
      const rows = { person: person.person, created_at_ms: 1 };
      await rig.store.people.save([
        {
          of: 'passkey',
          insert: {
            id: `passkey_${email}`,
            name: 'P',
            credential: email,
            public_key: 'x',
            counter: 0,
            relying_party: 'gw.test',
            used_at_ms: null,
            ...rows,
          },
        },
        {
          of: 'sign_in_method',
          insert: {
            id: `method_${email}`,
            provider: 'lab',
            subject: email,
            scope: null,
            password_hash: null,
            updated_at_ms: 1,
            ...rows,
          },
        },
      ]);
      expect((await reset(await linkFor(person))).status).toBe(200);
      const where = [['person', 'is', person.person]] as const;
      const methods = await rig.store.people.find('sign_in_method', { where });
      expect(methods.map(({ provider }) => provider).sort()).toEqual(['credential', 'lab']);
      expect(await rig.store.people.find('passkey', { where })).toEqual([]);
      expect(await rig.store.people.find('person_session', { where })).toEqual([]);
      expect((await signIn(email, OWNER.password)).status).toBe(401);
      expect((await signIn(email, NEXT)).json.state).toBe('signed_in');
      expect(rig.notes.findLast(({ act }) => act === 'person.reset')?.after).toEqual({ removed_passkeys: 1 });
    }
  });

  test('sets a password for a user without one', async () => {
    const person = await member({ role: 'viewer' });
    const email = await emailOf(person);
    await rig.store.people.save([{ of: 'sign_in_method', remove: [['person', 'is', person.person]], rows: 1 }]);
    expect((await reset(await linkFor(person))).status).toBe(200);
    expect((await signIn(email, NEXT)).json.state).toBe('signed_in');
  });

  test('is slow to guess', async () => {
    const guess = (nth: number) =>
      rig.browser().ask(`POST /resets/${'x'.repeat(40)}${nth}`, { body: { password: NEXT }, address: '192.0.2.9' });
    const statuses: number[] = [];
    for (let nth = 0; nth < 12; nth += 1) statuses.push((await guess(nth)).status);
    expect(statuses).toEqual([...Array(11).fill(410), 429]);
  });
});

describe('a member’s link', () => {
  test.each([
    ['an owner, for an owner', 'owner', { role: 'owner' }, null],
    ['an admin, for an owner', 'admin', { role: 'owner' }, 'forbidden'],
    ['an admin, for an admin', 'admin', { role: 'admin' }, null],
    ['a developer, for a viewer', 'developer', { role: 'viewer' }, 'forbidden'],
  ])('is made by %s', async (_name, role, target, refusal) => {
    const granter = role === 'owner' ? owner : await member({ role });
    expect((await makeLink(granter, await member(target))).json.error?.code ?? null).toBe(refusal);
  });

  test('is not created for yourself or for members of another account', async () => {
    const [admin, person] = [await member({ role: 'admin' }), await member({ role: 'viewer' })];
    expect((await makeLink(admin, admin)).json.error).toMatchObject({ code: 'conflict', page: '/app/me' });
    expect((await makeLink(owner, person, 'team')).json.error.code).toBe('not_found');
  });

  test('opens no workspace that its maker does not have', async () => {
    const granter = await member({ role: 'admin', workspaces: ['lab'] });
    expect((await makeLink(granter, await member({ role: 'viewer' }))).json.error.code).toBe('forbidden');
    expect((await makeLink(granter, await member({ role: 'viewer', workspaces: ['lab'] }))).status).toBe(200);
  });

  test('for a verified user is created only by the operator: the user may join other accounts later', async () => {
    const teamOwner = await member({ role: 'viewer' });
    await join(teamOwner, 'team', { role: 'owner' });
    const both = await member({ role: 'viewer' });
    await join(both, 'team', { role: 'developer' });
    const refused = await makeLink(teamOwner, both, 'team');
    expect([refused.status, refused.json.error.code]).toEqual([403, 'forbidden']);
    // Now a member of no account other than that of the link's creator.
    await owner.ask(`DELETE /accounts/default/members/${both.person}`);
    expect((await makeLink(teamOwner, both, 'team')).json.error.message).toContain('is verified');
    expect((await makeLink(owner, both, 'team')).status).toBe(200);
    const admin = await member({ role: 'admin' });
    expect((await makeLink(admin, both, 'team')).status).toBe(200);
    expect((await makeLink(admin, teamOwner)).json.error.code).toBe('forbidden');
  });

  test('ends when the address is verified', async () => {
    const person = await member({ role: 'viewer' });
    const token = await linkFor(person);
    await rig.run('person.verify', { email: await emailOf(person) });
    expect(await works(token)).toBe(false);
  });
});

test('the command names the user, and its audit entry contains no link', async () => {
  const person = await member({ role: 'viewer' });
  await expect(byCommand('nobody@example.com')).rejects.toThrow('No user has the address "nobody@example.com"');
  const { link } = await byCommand((await emailOf(person)).toUpperCase());
  expect(await works(tokenOf({ link }))).toBe(true);
  const [entry] = await rig.store.audit.read({
    account: 'default',
    workspaces: null,
    beforeSeq: null,
    actor: null,
    act: 'person.reset_link',
    subject: person.person,
    fromMs: null,
    toMs: null,
    limit: 1,
  });
  expect(entry).toMatchObject({ by: { actor: { kind: 'command_line' } }, subject: { id: person.person } });
  expect(JSON.stringify(entry)).not.toContain(tokenOf({ link }));
});
