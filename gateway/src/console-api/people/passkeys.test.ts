/**
 * Tests passkeys over the routes: creation, sign-in, removal, and every false value that an authenticator or a page may
 * send.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { temporaryFolders } from '../../store/testing/temporary-folder.ts';
import {
  type Answered,
  type Browser,
  beforeInsert,
  inviteMember,
  OWNER,
  openPeopleRig,
  type PeopleRig,
  setUpOwner,
  stateOf,
} from '../testing/people-rig.ts';
import { type Lies, openAuthenticator, type SoftAuthenticator } from '../testing/soft-authenticator.ts';

/** Each proof hashes a password, which takes long on a busy machine. */
setDefaultTimeout(30_000);
const ORIGIN = 'http://gw.test';
const PASSWORD = { password: OWNER.password };
/** For some certificates the library would fetch the addresses that they name. */
const CERTIFICATE = new Map([['x5c', [new Uint8Array(8)]]]);
const folder = temporaryFolders();
let rig: PeopleRig;
let owner: Browser;
let addressCount = 0;
beforeAll(async () => {
  rig = await openPeopleRig(folder());
  owner = await setUpOwner(rig);
});
afterAll(async () => {
  await rig.close();
  expect(rig.faults).toEqual([]);
});

async function beginMaking(browser: Browser) {
  return (await browser.ask('POST /me/passkeys/options', { body: PASSWORD })).json as never;
}

/** A new user, and their authenticator with a passkey. */
async function makeHolder(
  email: string,
): Promise<{ browser: Browser & { person: string }; device: SoftAuthenticator }> {
  const browser = await inviteMember(rig, owner, { email, role: 'viewer' });
  const device = openAuthenticator(ORIGIN);
  expect((await addPasskey(browser, device, 'Laptop')).status).toBe(200);
  return { browser, device };
}

async function addPasskey(browser: Browser, device: SoftAuthenticator, name: string, lies: Lies = {}) {
  const response = device.make(await beginMaking(browser), lies);
  return browser.ask('POST /me/passkeys', { body: { name, response } });
}

/** From an address of its own, so that no failure slows another test. */
async function signIn(device: SoftAuthenticator, lies: Lies = {}, browser = rig.browser()): Promise<Answered> {
  const options = (await browser.ask('POST /sign-in/passkey/options', { body: {} })).json as never;
  return send(device.sign(options, lies), browser);
}

function send(response: object, browser: Browser): Promise<Answered> {
  addressCount += 1;
  return browser.ask('POST /sign-in/passkey', { body: { response }, address: `198.51.100.${addressCount}` });
}

const problemOf = ({ status, json }: Answered) => [status, json.error?.code, json.error?.member ?? null];

describe('making one', () => {
  test('is refused where the session ends meanwhile', async () => {
    const browser = await inviteMember(rig, owner, { email: 'reset@example.com', role: 'viewer' });
    const { json } = await owner.ask(`POST /accounts/default/members/${browser.person}/reset-link`, { body: {} });
    const token = String(json.link).split('/').at(-1);
    beforeInsert(rig, 'passkey', async () => {
      const body = { password: 'a password not forgotten' };
      expect((await rig.browser().ask(`POST /resets/${token}`, { body })).status).toBe(200);
    });
    const device = openAuthenticator(ORIGIN);
    expect(problemOf(await addPasskey(browser, device, 'Laptop'))).toEqual([409, 'conflict', null]);
    const thief = rig.browser();
    expect((await signIn(device, {}, thief)).status).toBe(401);
    expect(await stateOf(thief)).toBe('signed_out');
  });

  test('requires the password again, and renews the session token', async () => {
    const browser = await inviteMember(rig, owner, { email: 'new@example.com', role: 'viewer' });
    const refused = await browser.ask('POST /me/passkeys/options', { body: { password: 'not the password' } });
    expect(problemOf(refused)).toEqual([401, 'wrong_credential', 'password']);
    expect(problemOf(await browser.ask('POST /me/passkeys/options', { body: { password: null } }))).toEqual([
      401,
      'wrong_credential',
      'password',
    ]);
    const before = new Map(browser.cookies);
    const device = openAuthenticator(ORIGIN);
    expect((await addPasskey(browser, device, 'Laptop')).json).toEqual({});
    expect(browser.cookies.get('tollgate.session_token')).not.toBe(before.get('tollgate.session_token'));
    const { passkeys } = (await browser.ask('GET /me')).json;
    expect(passkeys).toEqual([
      { id: expect.stringMatching(/^passkey_/), name: 'Laptop', added_at: expect.any(String), used_at: null },
    ]);
    expect(rig.notes.at(-1)).toMatchObject({
      act: 'person.passkey_added',
      actor: { id: browser.person },
      subject: { kind: 'passkey', id: passkeys[0].id },
      after: { name: 'Laptop' },
    });
    const options = await beginMaking(browser);
    expect(options).toMatchObject({
      rp: { id: 'gw.test' },
      excludeCredentials: [{ id: device.id }],
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    });
  });

  test.each([
    ['a page elsewhere', 'origin', { origin: 'https://evil.example' }],
    ['another port of the host', 'origin', { origin: 'http://gw.test:8081' }],
    ['another host', 'RP ID', { rpId: 'evil.example' }],
    ['another challenge', 'challenge', { challenge: 'A'.repeat(43) }],
    ['an authenticator that nobody unlocked', 'User verification', { isLocked: true }],
    ['a maker’s certificate', 'attestation (apple)', { statement: { format: 'apple', members: CERTIFICATE } }],
    ['one in the common format', 'attestation (packed)', { statement: { format: 'packed', members: CERTIFICATE } }],
  ] as const)('is refused with %s', async (_, reason, lies) => {
    const answered = await addPasskey(owner, openAuthenticator(ORIGIN), 'Liar', lies);
    expect(problemOf(answered)).toEqual([400, 'invalid', 'response']);
    expect(answered.json.error.message).toContain(reason);
    expect((await owner.ask('GET /me')).json.passkeys).toEqual([]);
  });

  test('a challenge is refused if it is old, used, of another session or of another user', async () => {
    const browser = await inviteMember(rig, owner, { email: 'old@example.com', role: 'viewer' });
    const device = openAuthenticator(ORIGIN);
    const body = { name: 'Late', response: device.make(await beginMaking(browser)) };
    const startMs = rig.nowMs;
    rig.nowMs += 5 * 60_000;
    expect(problemOf(await browser.ask('POST /me/passkeys', { body }))).toEqual([400, 'invalid', null]);
    rig.nowMs = startMs;
    const other = rig.browser();
    await other.ask('POST /sign-in', { body: { email: 'old@example.com', ...PASSWORD } });
    other.cookies.set('tollgate.passkey', browser.cookies.get('tollgate.passkey') ?? '');
    expect(problemOf(await other.ask('POST /me/passkeys', { body }))).toEqual([400, 'invalid', null]);
    expect((await browser.ask('POST /me/passkeys', { body })).status).toBe(200);
    expect(problemOf(await browser.ask('POST /me/passkeys', { body }))).toEqual([400, 'invalid', null]);
    expect(problemOf(await addPasskey(owner, device, 'Stolen'))).toEqual([409, 'conflict', null]);
  });

  test('is refused with twenty passkeys, until one is removed', async () => {
    const browser = await inviteMember(rig, owner, { email: 'many@example.com', role: 'viewer' });
    const row = { person: browser.person, name: 'x', public_key: '', counter: 0, used_at_ms: null, created_at_ms: 0 };
    const inserts = Array.from({ length: 20 }, (_, nth) => ({
      of: 'passkey' as const,
      insert: { ...row, id: `many_${nth}`, credential: `many_${nth}`, relying_party: 'gw.test' },
    }));
    expect(await rig.store.people.save(inserts)).toBe(true);
    const begin = () => browser.ask('POST /me/passkeys/options', { body: PASSWORD });
    expect(problemOf(await begin())).toEqual([409, 'conflict', null]);
    expect((await browser.ask('DELETE /me/passkeys/many_3')).status).toBe(200);
    expect((await begin()).status).toBe(200);
  });
});

describe('signing in', () => {
  test('needs only the passkey, requires no second factor, and is recorded', async () => {
    const { browser: holder, device } = await makeHolder('holder@example.com');
    const where = [['id', 'is', holder.person]] as const;
    await rig.store.people.save([{ of: 'person', update: { second_factor: 1 }, where, rows: 1 }]);
    const browser = rig.browser();
    expect((await signIn(device, {}, browser)).json).toEqual({ state: 'signed_in' });
    const session = (await browser.ask('GET /session')).json;
    expect([session.state, session.person.id]).toEqual(['signed_in', holder.person]);
    expect(rig.notes.at(-1)).toMatchObject({
      act: 'person.sign_in',
      actor: { id: holder.person },
      after: { how: 'passkey', passkey: expect.stringMatching(/^passkey_/) },
    });
    const me = (await browser.ask('GET /me')).json;
    expect(me.passkeys[0].used_at).not.toBeNull();
    expect(me.sessions).toHaveLength(2);
    expect(me.sessions.find((one: { this: boolean }) => one.this)).toMatchObject({ client: 'a browser' });
    expect(JSON.stringify(rig.notes)).not.toContain(device.id);
  });

  test('by https gives cookies that no other host can set', async () => {
    const browser = rig.browser('https://gw.test');
    await browser.ask('POST /sign-in', { body: { email: OWNER.email, ...PASSWORD } });
    const device = openAuthenticator('https://gw.test');
    expect((await addPasskey(browser, device, 'Phone')).status).toBe(200);
    const fresh = rig.browser('https://gw.test');
    expect((await signIn(device, {}, fresh)).status).toBe(200);
    expect([...fresh.cookies.keys()].sort()).toEqual(['__Host-tollgate.passkey', '__Host-tollgate.session_token']);
    const { passkeys } = (await fresh.ask('GET /me')).json;
    expect((await fresh.ask(`DELETE /me/passkeys/${passkeys[0].id}`)).status).toBe(200);
  });

  describe('is refused', () => {
    let device: SoftAuthenticator;
    let holder: Browser & { readonly person: string };
    beforeAll(async () => {
      ({ device, browser: holder } = await makeHolder('liar@example.com'));
    });

    async function expectRefused(answered: Answered, browser: Browser): Promise<void> {
      expect(problemOf(answered)).toEqual([401, 'wrong_credential', null]);
      expect(await stateOf(browser)).toBe('signed_out');
      expect(rig.notes.at(-1)).toMatchObject({ act: 'person.sign_in_failed', actor: null });
      // A success follows each failure, so that no attempt waits for another and the next one proves that it would
      // work.
      expect((await signIn(device)).status).toBe(200);
    }

    test.each([
      ['a page elsewhere', { origin: 'https://evil.example' }],
      ['a page of a host below', { origin: 'http://evil.gw.test' }],
      ['the same host by another scheme', { origin: 'https://gw.test' }],
      ['another host', { rpId: 'evil.example' }],
      ['another challenge', { challenge: 'A'.repeat(43) }],
      ['an authenticator that nobody unlocked', { isLocked: true }],
      ['somebody else’s passkey', { userHandle: Buffer.from('person_other').toString('base64url') }],
    ] as const)('from %s', async (_, lies) => {
      const browser = rig.browser();
      await expectRefused(await signIn(device, lies, browser), browser);
    });

    test('the signature of another key under its name', async () => {
      const browser = rig.browser();
      const { json } = await browser.ask('POST /sign-in/passkey/options', { body: {} });
      const forger = openAuthenticator(ORIGIN);
      forger.counter = device.counter;
      const userHandle = Buffer.from(holder.person).toString('base64url');
      const forged = { ...forger.sign(json as never, { userHandle }), id: device.id };
      await expectRefused(await send(forged, browser), browser);
    });

    test('a second answer to a challenge', async () => {
      const browser = rig.browser();
      const options = (await browser.ask('POST /sign-in/passkey/options', { body: {} })).json as never;
      const cookies = new Map(browser.cookies);
      const response = device.sign(options);
      expect((await send(response, browser)).status).toBe(200);
      const thief = rig.browser();
      for (const [name, value] of cookies) thief.cookies.set(name, value);
      await expectRefused(await send(response, thief), thief);
      thief.cookies.set('tollgate.passkey', cookies.get('tollgate.passkey') ?? '');
      await expectRefused(await send(device.sign(options), thief), thief);
    });

    test('an answer after five minutes, for another purpose, or without a challenge', async () => {
      const browser = rig.browser();
      const options = (await browser.ask('POST /sign-in/passkey/options', { body: {} })).json as never;
      const startMs = rig.nowMs;
      rig.nowMs += 5 * 60_000;
      await expectRefused(await send(device.sign(options), browser), browser);
      rig.nowMs = startMs;
      const making = (await beginMaking(holder)) as { challenge: string; rp: { id: string } };
      const thief = rig.browser();
      thief.cookies.set('tollgate.passkey', holder.cookies.get('tollgate.passkey') ?? '');
      const { challenge, rp } = making;
      const expected = { challenge, rpId: rp.id, timeout: 1, userVerification: 'required' } as const;
      await expectRefused(await send(device.sign(expected), thief), thief);
      const bare = rig.browser();
      await expectRefused(await send(device.sign(expected), bare), bare);
    });

    test('a challenge with a changed cookie', async () => {
      const browser = rig.browser();
      const options = (await browser.ask('POST /sign-in/passkey/options', { body: {} })).json as never;
      const [challenge, expires, signature] = (browser.cookies.get('tollgate.passkey') ?? '').split('.');
      browser.cookies.set('tollgate.passkey', `${challenge}.${Number(expires) + 1}.${signature}`);
      await expectRefused(await send(device.sign(options), browser), browser);
    });

    test('a counter that does not increase: the passkey was copied', async () => {
      const browser = rig.browser();
      await signIn(device);
      device.counter -= 1;
      const answered = await signIn(device, {}, browser);
      await expectRefused(answered, browser);
    });

    test('a passkey that is not known here, and one that was removed', async () => {
      const browser = rig.browser();
      await expectRefused(await signIn(openAuthenticator(ORIGIN), { userHandle: 'AAAA' }, browser), browser);
      const gone = await makeHolder('gone@example.com');
      const { passkeys } = (await gone.browser.ask('GET /me')).json;
      await gone.browser.ask(`DELETE /me/passkeys/${passkeys[0].id}`);
      await expectRefused(await signIn(gone.device, {}, browser), browser);
    });

    test('one that is removed while it signs in', async () => {
      const browser = rig.browser();
      const gone = await makeHolder('going@example.com');
      const { passkeys } = (await gone.browser.ask('GET /me')).json;
      beforeInsert(rig, 'person_session', async () => {
        expect((await gone.browser.ask(`DELETE /me/passkeys/${passkeys[0].id}`)).status).toBe(200);
      });
      await expectRefused(await signIn(gone.device, {}, browser), browser);
      const where = [['person', 'is', gone.browser.person]] as const;
      expect(await rig.store.people.find('person_session', { where })).toHaveLength(1);
    });

    test('an invalid WebAuthn message', async () => {
      const browser = rig.browser();
      const { json } = await browser.ask('POST /sign-in/passkey/options', { body: {} });
      const right = device.sign(json as never);
      for (const broken of ['clientDataJSON', 'authenticatorData', 'signature'] as const) {
        const { json: again } = await browser.ask('POST /sign-in/passkey/options', { body: {} });
        const signed = device.sign(again as never);
        await expectRefused(
          await send({ ...signed, response: { ...signed.response, [broken]: 'AAAA' } }, browser),
          browser,
        );
      }
      expect(problemOf(await send({ ...right, id: 7 }, browser))).toEqual([400, 'invalid', 'response.id']);
    });
  });

  test('waits after failures, per address', async () => {
    const address = '203.0.113.55';
    const browser = rig.browser();
    const statuses: number[] = [];
    for (let nth = 0; nth < 12; nth += 1) {
      const { json } = await browser.ask('POST /sign-in/passkey/options', { body: {} });
      const response = openAuthenticator(ORIGIN).sign(json as never, { userHandle: 'AAAA' });
      statuses.push((await browser.ask('POST /sign-in/passkey', { body: { response }, address })).status);
    }
    expect(statuses).toEqual([...Array(11).fill(401), 429]);
  });

  test('without a session bodies are limited to 16 KiB for passkeys and 4 KiB elsewhere, whatever the query', async () => {
    const browser = rig.browser();
    const fill = (bytes: number) => ({ body: { email: 'x'.repeat(bytes) } });
    expect((await browser.ask('POST /sign-in?passkey', fill(5_000))).status).toBe(413);
    expect((await browser.ask('POST /sign-in/passkey', fill(15_000))).status).toBe(400);
    expect((await browser.ask('POST /sign-in/passkey', fill(17_000))).status).toBe(413);
  });
});

test('only its owner can rename it, and the audit trail records it', async () => {
  const { browser, device } = await makeHolder('rename@example.com');
  const [{ id }] = (await browser.ask('GET /me')).json.passkeys;
  const rename = (who: Browser, name: string) => who.ask(`PATCH /me/passkeys/${id}`, { body: { name } });
  expect(problemOf(await rename(owner, 'Mine'))).toEqual([404, 'not_found', null]);
  expect(problemOf(await rename(browser, ' '))).toEqual([400, 'invalid', 'name']);
  expect((await rename(browser, ' Work laptop ')).json).toEqual({});
  const noteCount = rig.notes.length;
  expect(rig.notes.at(-1)).toMatchObject({
    act: 'person.passkey_renamed',
    actor: { id: browser.person },
    subject: { kind: 'passkey', id },
    before: { name: 'Laptop' },
    after: { name: 'Work laptop' },
  });
  expect((await rename(browser, 'Work laptop')).status).toBe(200);
  expect(rig.notes).toHaveLength(noteCount);
  const [shown] = (await browser.ask('GET /me')).json.passkeys;
  expect(shown).toMatchObject({ id, name: 'Work laptop' });
  expect((await signIn(device)).status).toBe(200);
});

describe('removing one', () => {
  test('ends nothing else, is recorded, and is possible only for its owner', async () => {
    const { browser, device } = await makeHolder('remove@example.com');
    const signed = rig.browser();
    await signIn(device, {}, signed);
    const [{ id }] = (await browser.ask('GET /me')).json.passkeys;
    expect(problemOf(await owner.ask(`DELETE /me/passkeys/${id}`))).toEqual([404, 'not_found', null]);
    expect((await browser.ask(`DELETE /me/passkeys/${id}`)).status).toBe(200);
    expect(rig.notes.at(-1)).toMatchObject({
      act: 'person.passkey_removed',
      subject: { id },
      before: { name: 'Laptop' },
    });
    expect([await stateOf(browser), await stateOf(signed)]).toEqual(['signed_in', 'signed_in']);
    expect(problemOf(await browser.ask(`DELETE /me/passkeys/${id}`))).toEqual([404, 'not_found', null]);
  });

  test('removing the last sign-in method is refused, even by two requests at once', async () => {
    const { browser, device } = await makeHolder('last@example.com');
    const second = openAuthenticator(ORIGIN);
    expect((await addPasskey(browser, second, 'Phone')).status).toBe(200);
    const where = [['person', 'is', browser.person]] as const;
    await rig.store.people.save([{ of: 'sign_in_method', remove: where, rows: 1 }]);
    const { passkeys, has_password } = (await browser.ask('GET /me')).json;
    expect(has_password).toBe(false);
    const answers = await Promise.all(
      passkeys.map(({ id }: { id: string }) => browser.ask(`DELETE /me/passkeys/${id}`)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    const states = [(await signIn(device)).status, (await signIn(second)).status];
    expect(states.sort()).toEqual([200, 401]);
  });

  test('without a password a sign-in of the last ten minutes is the proof for another', async () => {
    const { browser, device } = await makeHolder('bare@example.com');
    const where = [['person', 'is', browser.person]] as const;
    await rig.store.people.save([{ of: 'sign_in_method', remove: where, rows: 1 }]);
    const fresh = rig.browser();
    await signIn(device, {}, fresh);
    const begin = () => fresh.ask('POST /me/passkeys/options', { body: { password: null } });
    expect((await begin()).status).toBe(200);
    const startMs = rig.nowMs;
    rig.nowMs += 600_001;
    expect(problemOf(await begin())).toEqual([403, 'forbidden', null]);
    rig.nowMs = startMs;
  });
});

describe('the host', () => {
  test('the relying party is that of the public address if set, whatever the request says', async () => {
    const away = await openPeopleRig(folder(), { publicUrl: 'https://console.example/deep' });
    const browser = await setUpOwner(away, 'https://console.example');
    expect((await browser.ask('GET /session')).json.passkeys).toBe(true);
    const { json } = await browser.ask('POST /me/passkeys/options', {
      body: PASSWORD,
      headers: { host: '10.0.0.7:8080', origin: 'https://10.0.0.7:8080' },
    });
    expect(json.rp).toEqual({ id: 'console.example', name: 'Tollgate at console.example' });
    const response = openAuthenticator('https://console.example').make(json as never);
    expect((await browser.ask('POST /me/passkeys', { body: { name: 'Key', response } })).status).toBe(200);
    await away.close();
    expect(away.faults).toEqual([]);
  });

  test.each(['http://127.0.0.1:8080', 'http://[::1]:8080'])('at %s has no passkeys, and says so', async (origin) => {
    const browser = rig.browser(origin);
    expect((await browser.ask('GET /session')).json.passkeys).toBe(false);
    expect(problemOf(await browser.ask('POST /sign-in/passkey/options', { body: {} }))).toEqual([
      409,
      'conflict',
      null,
    ]);
  });
});
