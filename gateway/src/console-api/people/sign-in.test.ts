/**
 * Tests how users sign in and stay signed in: passwords, second factors, sessions and their cookies, and how guessing
 * is slowed.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { createHmac } from 'node:crypto';
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
} from '../testing/people-rig.ts';

/** Each sign-in hashes a password, which takes long on a busy machine. */
setDefaultTimeout(30_000);
const folder = temporaryFolders();
let rig: PeopleRig;
let owner: Browser;
beforeAll(async () => {
  rig = await openPeopleRig(folder());
  owner = await setUpOwner(rig);
});
afterAll(async () => {
  await rig.close();
  expect(rig.faults).toEqual([]);
});

const signIn = (
  browser: Browser,
  password: string = OWNER.password,
  address = '192.0.2.1',
  email: string = OWNER.email,
) => browser.ask('POST /sign-in', { body: { email, password }, address });
const nameOfSession = 'tollgate.session_token';

describe('by password', () => {
  test('the right one signs in, whatever the case of the address', async () => {
    const browser = rig.browser();
    expect(await stateOf(browser)).toBe('signed_out');
    const answered = await browser.ask('POST /sign-in', {
      body: { email: 'ADA@example.com', password: OWNER.password },
    });
    expect(answered.json).toEqual({ state: 'signed_in' });
    expect(await stateOf(browser)).toBe('signed_in');
  });

  test('a wrong password and an unknown address are answered alike', async () => {
    const [wrong, unknown] = [
      await signIn(rig.browser(), 'not the password', '192.0.2.20'),
      await signIn(rig.browser(), 'not the password', '192.0.2.20', 'nobody@example.com'),
    ];
    expect(wrong.status).toBe(401);
    expect(wrong.json.error.code).toBe('wrong_credential');
    expect(unknown.json).toEqual(wrong.json);
    expect([...wrong.headers.keys()].sort()).toEqual([...unknown.headers.keys()].sort());
  });

  test('signing out ends the session on the server too', async () => {
    const browser = rig.browser();
    await signIn(browser);
    const held = new Map(browser.cookies);
    await browser.ask('POST /sign-out', { body: {} });
    expect(browser.cookies.has(nameOfSession)).toBe(false);
    for (const [name, value] of held) browser.cookies.set(name, value);
    expect(await stateOf(browser)).toBe('signed_out');
  });
});

describe('a session', () => {
  test('is never reused: signing in creates a new session and ends the old one', async () => {
    const browser = rig.browser();
    browser.cookies.set(nameOfSession, `${'a'.repeat(32)}.${'b'.repeat(44)}`);
    await signIn(browser);
    const first = browser.cookies.get(nameOfSession) ?? '';
    expect(first).not.toContain('aaaa');
    await signIn(browser);
    expect(browser.cookies.get(nameOfSession)).not.toBe(first);
    const thief = rig.browser();
    thief.cookies.set(nameOfSession, first);
    expect(await stateOf(thief)).toBe('signed_out');
  });

  test('comes in a cookie that scripts cannot read, and by https in one that no other host can set', async () => {
    const plain = rig.browser();
    await signIn(plain);
    expect(plain.setCookies.join()).toMatch(
      /^tollgate\.session_token=[^;]+; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    const secure = rig.browser('https://gw.test');
    await signIn(secure);
    expect(secure.setCookies.join()).toMatch(
      /^__Host-tollgate\.session_token=[^;]+; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
    );
    expect(await stateOf(secure)).toBe('signed_in');
    const value = secure.cookies.get(`__Host-${nameOfSession}`) ?? '';
    secure.cookies.clear();
    secure.cookies.set(nameOfSession, value);
    const planted = await secure.ask('POST /sign-out', { body: {} });
    expect(planted.status).toBe(200);
    secure.cookies.clear();
    secure.cookies.set(`__Host-${nameOfSession}`, value);
    expect(await stateOf(secure)).toBe('signed_in');
  });

  test('ends after a week of silence, and after thirty days whatever happens', async () => {
    const [silent, busy] = [rig.browser(), rig.browser()];
    await signIn(silent);
    await signIn(busy);
    const startMs = rig.nowMs;
    try {
      for (let day = 1; day <= 29; day += 1) {
        rig.nowMs = startMs + day * 86_400_000;
        expect([day, await stateOf(busy)]).toEqual([day, 'signed_in']);
        // The last-seen time is written concurrently with the response.
        await rig.store.people.save([]);
      }
      expect(await stateOf(silent)).toBe('signed_out');
      rig.nowMs = startMs + 30 * 86_400_000 + 60_000;
      expect(await stateOf(busy)).toBe('signed_out');
    } finally {
      rig.nowMs = startMs;
    }
  });

  test('is listed with its origin, and can be ended only by its user', async () => {
    const [here, there] = [rig.browser(), rig.browser()];
    await signIn(here);
    await signIn(there, OWNER.password, '203.0.113.9');
    const { sessions } = (await here.ask('GET /me')).json;
    const other = sessions.find((one: { address: string }) => one.address === '203.0.113.9');
    expect(other).toMatchObject({ this: false, client: 'a browser' });
    expect(sessions.filter((one: { this: boolean }) => one.this)).toHaveLength(1);
    const stranger = await inviteMember(rig, owner, { email: 'eve@example.com', role: 'viewer' });
    expect((await stranger.ask(`DELETE /me/sessions/${other.id}`)).status).toBe(404);
    expect(await stateOf(there)).toBe('signed_in');
    expect((await here.ask(`DELETE /me/sessions/${other.id}`)).status).toBe(200);
    expect(await stateOf(there)).toBe('signed_out');
  });

  test('a new password ends all others, and gives this one a new token', async () => {
    const member = await inviteMember(rig, owner, { email: 'bob@example.com', role: 'viewer' });
    const other = rig.browser();
    await signIn(other, OWNER.password, '192.0.2.1', 'bob@example.com');
    const before = member.cookies.get(nameOfSession) ?? '';
    const refused = await member.ask('POST /me/password', { body: { current: 'wrong', next: 'another password' } });
    expect([refused.status, refused.json.error.member]).toEqual([401, 'current']);
    const next = 'another password';
    expect((await member.ask('POST /me/password', { body: { current: OWNER.password, next } })).status).toBe(200);
    expect(member.cookies.get(nameOfSession)).not.toBe(before);
    expect([await stateOf(member), await stateOf(other)]).toEqual(['signed_in', 'signed_out']);
    other.cookies.set(nameOfSession, before);
    expect(await stateOf(other)).toBe('signed_out');
    expect((await signIn(rig.browser(), next, '192.0.2.1', 'bob@example.com')).status).toBe(200);
  });
});

describe('a second factor', () => {
  test('is required once it is on; each code works once, and so does each recovery code', async () => {
    const member = await inviteMember(rig, owner, { email: 'tia@example.com', role: 'viewer' });
    const before = member.cookies.get(nameOfSession) ?? '';
    const {
      secret,
      uri,
      recovery_codes: recovery,
    } = (await member.ask('POST /me/totp', { body: { password: OWNER.password } })).json;
    expect(uri).toStartWith('otpauth://totp/Tollgate:tia%40example.com?');
    expect((await member.ask('GET /me')).json.totp).toBe(false);
    expect((await member.ask('POST /me/totp/confirm', { body: { code: codeNow(secret, -10) } })).status).toBe(401);
    expect((await member.ask('POST /me/totp/confirm', { body: { code: codeNow(secret) } })).status).toBe(200);
    expect((await member.ask('GET /me')).json.totp).toBe(true);
    const noted = rig.notes.length;
    const anew = [
      await member.ask('POST /me/totp', { body: { password: OWNER.password } }),
      await member.ask('POST /me/totp/confirm', { body: { code: codeNow(secret, -1) } }),
    ];
    for (const { json } of anew) expect(json.error).toMatchObject({ code: 'conflict', page: '/app/me' });
    expect(rig.notes.slice(noted)).toEqual([]);
    expect(member.cookies.get(nameOfSession)).not.toBe(before);

    const browser = rig.browser();
    const first = await signIn(browser, OWNER.password, '192.0.2.1', 'tia@example.com');
    expect(first.json).toEqual({ state: 'second_factor' });
    expect(browser.cookies.has(nameOfSession)).toBe(false);
    expect(await stateOf(browser)).toBe('second_factor');
    expect((await browser.ask('GET /me')).status).toBe(401);
    expect((await browser.ask('POST /sign-in/code', { body: { code: '000000' } })).status).toBe(401);
    // The current code turned it on.
    const code = codeNow(secret, 1);
    expect((await browser.ask('POST /sign-in/code', { body: { code } })).json).toEqual({ state: 'signed_in' });
    expect(await stateOf(browser)).toBe('signed_in');

    const second = rig.browser();
    await signIn(second, OWNER.password, '192.0.2.1', 'tia@example.com');
    expect((await second.ask('POST /sign-in/code', { body: { code } })).json.error.message).toContain('already used');
    const [spare] = recovery;
    expect((await second.ask('POST /sign-in/code', { body: { code: spare } })).json).toEqual({ state: 'signed_in' });
    const third = rig.browser();
    await signIn(third, OWNER.password, '192.0.2.1', 'tia@example.com');
    expect((await third.ask('POST /sign-in/code', { body: { code: spare } })).status).toBe(401);
    const [row] = await rig.store.people.find('second_factor', { where: [] });
    expect(`${row?.secret} ${row?.recovery_codes}`).not.toContain(recovery[1]);

    expect((await second.ask('POST /me/totp/remove', { body: { password: OWNER.password } })).status).toBe(200);
    expect((await second.ask('POST /me/totp/remove', { body: { password: OWNER.password } })).status).toBe(200);
    expect(rig.notes.slice(noted).filter(({ act }) => act === 'person.second_factor_off')).toHaveLength(1);
    const fourth = rig.browser();
    expect((await signIn(fourth, OWNER.password, '192.0.2.1', 'tia@example.com')).json).toEqual({ state: 'signed_in' });
  });

  test('the code that turned the second factor on cannot sign in', async () => {
    const member = await inviteMember(rig, owner, { email: 'onc@example.com', role: 'viewer' });
    const { secret } = (await member.ask('POST /me/totp', { body: { password: OWNER.password } })).json;
    const code = codeNow(secret);
    expect((await member.ask('POST /me/totp/confirm', { body: { code } })).status).toBe(200);
    const browser = rig.browser();
    await signIn(browser, OWNER.password, '192.0.2.1', 'onc@example.com');
    const again = await browser.ask('POST /sign-in/code', { body: { code } });
    expect([again.status, again.json.error.member]).toEqual([401, 'code']);
    expect(again.json.error.message).toContain('already used');
    expect((await browser.ask('POST /sign-in/code', { body: { code: codeNow(secret, 1) } })).json).toEqual({
      state: 'signed_in',
    });
  });

  test('a sign-in that waits for its code ends when the password changes', async () => {
    const member = await inviteMember(rig, owner, { email: 'pia@example.com', role: 'viewer' });
    const { secret, recovery_codes: recovery } = (
      await member.ask('POST /me/totp', { body: { password: OWNER.password } })
    ).json;
    expect((await member.ask('POST /me/totp/confirm', { body: { code: codeNow(secret) } })).status).toBe(200);
    const thief = rig.browser();
    await signIn(thief, OWNER.password, '192.0.2.1', 'pia@example.com');
    expect(await stateOf(thief)).toBe('second_factor');
    const quick = rig.browser();
    await signIn(quick, OWNER.password, '192.0.2.1', 'pia@example.com');
    const next = 'another password';
    beforeInsert(rig, 'person_session', async () => {
      expect((await member.ask('POST /me/password', { body: { current: OWNER.password, next } })).status).toBe(200);
    });
    expect((await quick.ask('POST /sign-in/code', { body: { code: recovery[1] } })).status).toBe(401);
    expect(await stateOf(quick)).toBe('signed_out');
    expect(await rig.store.people.find('person_session', { where: [['person', 'is', member.person]] })).toHaveLength(1);
    expect(await stateOf(thief)).toBe('signed_out');
    expect((await thief.ask('POST /sign-in/code', { body: { code: recovery[0] } })).json.error.code).toBe('signed_out');
    const browser = rig.browser();
    await signIn(browser, next, '192.0.2.1', 'pia@example.com');
    expect((await browser.ask('POST /sign-in/code', { body: { code: recovery[0] } })).json).toEqual({
      state: 'signed_in',
    });
  });

  test('a code without a first step must start again', async () => {
    const answered = await rig.browser().ask('POST /sign-in/code', { body: { code: '123456' } });
    expect([answered.status, answered.json.error.code]).toEqual([401, 'signed_out']);
    const forged = rig.browser();
    forged.cookies.set('tollgate.two_factor', '%ZZ2fa-nothing.x');
    expect((await forged.ask('POST /sign-in/code', { body: { code: '123456' } })).json.error.code).toBe('signed_out');
  });
});

describe('guessing', () => {
  test('waits double with each failure of an e-mail, from wherever it is tried, and the right password must wait too', async () => {
    await inviteMember(rig, owner, { email: 'vic@example.com', role: 'viewer' });
    const startMs = rig.nowMs;
    const guess = (password: string, nth: number) =>
      signIn(rig.browser(), password, `198.51.100.${nth}`, 'vic@example.com');
    const waits: number[] = [];
    for (let nth = 1; nth <= 14; nth += 1) {
      const answered = await guess('wrong password', nth);
      if (answered.status === 401) continue;
      expect(answered.status).toBe(429);
      waits.push(Number(answered.headers.get('retry-after')));
      rig.nowMs += Number(answered.headers.get('retry-after')) * 1_000;
    }
    expect(waits).toEqual([1, 2, 4, 8]);
    await guess('wrong password', 15);
    expect((await guess(OWNER.password, 16)).status).toBe(429);
    rig.nowMs += 60_000;
    expect((await guess(OWNER.password, 17)).status).toBe(200);
    expect((await guess('wrong password', 18)).status).toBe(401);
    rig.nowMs = startMs;
  });

  test('waits no longer when the system clock is set back', async () => {
    await inviteMember(rig, owner, { email: 'zoe@example.com', role: 'viewer' });
    const startMs = rig.nowMs;
    const attempt = (password: string) => signIn(rig.browser(), password, '198.51.100.99', 'zoe@example.com');
    rig.clockAheadMs = 86_400_000;
    try {
      for (let nth = 1; nth <= 6; nth += 1) await attempt('wrong password');
      rig.clockAheadMs = 0;
      expect((await attempt(OWNER.password)).headers.get('retry-after')).toBe('1');
      rig.nowMs += 1_000;
      expect((await attempt(OWNER.password)).status).toBe(200);
    } finally {
      rig.nowMs = startMs;
      rig.clockAheadMs = 0;
    }
  });

  test('limits failures per address, whichever user is tried', async () => {
    const guess = (nth: number) => signIn(rig.browser(), 'wrong password', '203.0.113.77', `n${nth}@example.com`);
    const answers = await Promise.all(Array.from({ length: 20 }, (_, nth) => guess(nth)));
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(11);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(9);
  });
});

test('cross-site requests are refused, and no route of the library is reachable', async () => {
  const crossSite = await owner.ask('POST /sign-out', { body: {}, headers: { 'sec-fetch-site': 'cross-site' } });
  expect([crossSite.status, crossSite.json.error.code]).toEqual([403, 'cross_site']);
  expect(await stateOf(owner)).toBe('signed_in');
  const body = { email: 'x@example.com', password: OWNER.password, name: 'x' };
  for (const path of [
    'POST /sign-up/email',
    'POST /sign-in/email',
    'POST /sign-in/social',
    'POST /sign-in/oidc/sign-up/email',
    'POST /two-factor/enable',
    'GET /sign-in/oidc/get-session',
    'GET /sign-in/oidc/ok',
    'GET /ok',
    'GET /callback/lab',
    'POST /update-user',
  ]) {
    const answered = await owner.ask(path, path.startsWith('POST') ? { body } : {});
    expect([path, answered.status]).toEqual([path, 404]);
  }
});

/** The code of an authenticator, RFC 6238, a number of steps from now. */
function codeNow(secret: string, steps = 0): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000) + steps));
  const hash = createHmac('sha1', decodeBase32(secret)).update(counter).digest();
  const start = (hash.at(-1) ?? 0) & 15;
  return String((hash.readUInt32BE(start) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}

function decodeBase32(text: string): Buffer {
  let bits = '';
  for (const letter of text.replace(/=+$/, '')) {
    bits += 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0');
  }
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}
