/** Tests that links of invitations and new passwords reach their recipients by email, or say why they did not. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { Mail, MailResult } from '../../mail/mailer.ts';
import { temporaryFolders } from '../../store/testing/temporary-folder.ts';
import { type Browser, inviteMember, openPeopleRig, type PeopleRig, setUpOwner } from '../testing/people-rig.ts';
import { createLinkMails } from './link-mails.ts';

/** Each sign-in hashes a password, which takes long on a busy machine. */
setDefaultTimeout(30_000);
const folder = temporaryFolders();
const mails: Mail[] = [];
let result: MailResult = { isSent: true, problem: null };
let rig: PeopleRig;
let owner: Browser;
beforeAll(async () => {
  rig = await openPeopleRig(folder(), {
    publicUrl: 'https://gate.test',
    smtp: { host: 'smtp.test', port: 25, encryption: 'none', login: null, from: 'gate@example.com' },
    async sendMail(mail) {
      mails.push(mail);
      return result;
    },
  });
  owner = await setUpOwner(rig);
});
afterAll(async () => {
  await rig.close();
  expect(rig.faults).toEqual([]);
});

const invite = async (email: string, given: object = {}) =>
  (
    await owner.ask('POST /accounts/default/invitations', {
      body: { email, role: 'viewer', workspaces: null, ...given },
    })
  ).json;

test('an invitation is sent to its address, and its link is shown too', async () => {
  expect((await owner.ask('GET /accounts/default/members')).json.sends_email).toBe(true);
  const { link, sent } = await invite('linus@example.com');
  expect(sent).toEqual({ ok: true, problem: null });
  expect(mails).toHaveLength(1);
  expect(mails[0]).toMatchObject({ to: ['linus@example.com'], link: { label: 'Accept invitation', url: link } });
  expect(mails[0]?.paragraphs[0]).toBe('Ada invites you to the account default with the role viewer.');
  expect(link).toStartWith('https://gate.test/app/invitations/');
  // The inviter has the link too, so that opening it proves nothing about the address.
  const { json } = await rig
    .browser()
    .ask(`POST /invitations/${link.split('/').at(-1)}`, { body: { name: 'L', password: 'a long enough password' } });
  expect(json.person.email_verified ?? false).toBe(false);
});

test('nothing is sent where the inviter says so, and a failure leaves the link', async () => {
  const before = mails.length;
  expect((await invite('grace@example.com', { send: false })).sent).toBeNull();
  expect(mails).toHaveLength(before);
  result = { isSent: false, problem: 'smtp.test: 451 later' };
  const { link, sent } = await invite('grace@example.com');
  expect(sent).toEqual({ ok: false, problem: 'smtp.test: 451 later' });
  expect(link).toStartWith('https://');
  result = { isSent: true, problem: null };
});

test('the name of an inviter is one visible line', async () => {
  const { link } = await invite('mal@example.com', { role: 'admin', send: false });
  const accept = (name: string) =>
    rig.browser().ask(`POST /invitations/${link.split('/').at(-1)}`, { body: { name, password: 'a long enough one' } });
  for (const name of ['Ada\n\nYour account is locked.', 'Ada\u2028Your account', 'Ada\u202egnp.exe', '\u200b', 'A\0']) {
    const forms = [await accept(name), await owner.ask('PATCH /me', { body: { name } })];
    for (const { status, json } of forms) expect([name, status, json.error?.member]).toEqual([name, 400, 'name']);
  }
  expect((await accept('سی\u200cنا 👩\u200d💻')).status).toBe(200);
});

test('a link to a new password is sent to the member', async () => {
  const member = await inviteMember(rig, owner, { email: 'alan@example.com', role: 'viewer' });
  const { json } = await owner.ask(`POST /accounts/default/members/${member.person}/reset-link`, { body: {} });
  expect(json.sent).toEqual({ ok: true, problem: null });
  expect(mails.at(-1)).toMatchObject({ to: ['alan@example.com'], link: { url: json.link } });
  const quiet = await owner.ask(`POST /accounts/default/members/${member.person}/reset-link`, {
    body: { send: false },
  });
  expect(quiet.json.sent).toBeNull();
});

test('an account sends at most 100 links a day', async () => {
  let nowMs = 0;
  const parts = { isOn: () => true, sendMail: async () => result, nowMs: () => nowMs };
  const { send } = createLinkMails(parts);
  const mail = { subject: 's', paragraphs: [], link: null };
  const count = async (account: string, times: number) => {
    const sent = await Promise.all(Array.from({ length: times }, () => send(account, 'a@b.test', mail)));
    return sent.filter((one) => one?.ok).length;
  };
  expect([await count('team', 101), await count('other', 1)]).toEqual([100, 1]);
  expect(await send('other', 'a,b@c.test', mail)).toMatchObject({ ok: false });
  nowMs += 86_400_000;
  expect(await count('team', 1)).toBe(1);
});
