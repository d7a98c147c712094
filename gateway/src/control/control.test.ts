/**
 * Tests the commands about keys and workspaces: what they return, store and apply. Caps and money have their own tests.
 */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { authenticate } from '../identity/principal.ts';
import { bothSides, type ControlRig, createControlRig } from './testing/control-rig.ts';

let rig: ControlRig;
const run: ControlRig['run'] = (name, given) => rig.run(name, given);
const refusal: ControlRig['refusal'] = (name, given) => rig.refusal(name, given);
const knock: ControlRig['knock'] = (keyText) => rig.knock(keyText);

beforeEach(() => {
  rig = createControlRig();
});

afterEach(() => {
  const [bound, kept] = bothSides(rig);
  expect(bound).toEqual(kept);
});

describe('keys.create', () => {
  test('takes names of Persian and emoji, whose joiners are invisible, but no other hidden characters', async () => {
    for (const name of ['می\u200cخواهم', '👨\u200d👩\u200d👧', 'n'.repeat(128)]) {
      expect(await run('keys.create', { name })).toMatchObject({ name });
    }
    for (const name of ['\u200d', ' \u200c', 'a\u202eb', 'a\u200bb', 'a\nb', 'n'.repeat(129)]) {
      expect((await refusal('keys.create', { name })).message).toContain('no control characters');
    }
  });

  test('creates a key that works at once, and returns its secret only in this reply', async () => {
    const created = await run('keys.create', { name: 'first' });
    expect(Object.keys(created).slice(0, 3)).toEqual(['id', 'key', 'name']);
    expect(created).toMatchObject({
      name: 'first',
      workspace: 'default',
      account: 'default',
      scopes: ['inference'],
      strict: false,
      models: null,
      expires_at: null,
    });
    expect(knock(created.key)).toBe(String(created.id));
    expect(JSON.stringify([await run('keys.list'), ...rig.disk.keys.values()])).not.toContain(String(created.key));
  });

  test('keeps every restriction', async () => {
    await run('workspaces.create', { id: 'team', models: ['gpt-*'] });
    const given = {
      name: 'n',
      workspace: 'team',
      models: ['gpt-5*'],
      ips: ['10.0.0.0/8'],
      scopes: ['usage', 'admin', 'usage'],
      strict: true,
      expires_in_ms: 60_000,
    };
    const created = await run('keys.create', given);
    expect(created).toMatchObject({
      workspace: 'team',
      models: ['gpt-5*'],
      ips: ['10.0.0.0/8'],
      scopes: ['usage', 'admin'],
      strict: true,
      expires_at: '2026-09-21T14:14:20.000Z',
    });
    rig.nowMs += 60_000;
    expect(knock(created.key)).toBe('expired');
  });

  test.each([
    [{}, /^name: found nothing, expected a text/],
    [{ name: '' }, 'name: found "", expected 1 to 128 characters'],
    [{ name: 'a\u001b[2J' }, 'name: found "a\\u001b[2J", expected'],
    [{ name: 'x'.repeat(129) }, 'expected 1 to 128 characters'],
    [{ name: 'n', rate: 5 }, 'rate'],
    [{ name: 'n', models: [] }, 'models: found an empty list'],
    [{ name: 'n', ips: ['10.0.0.1/8'] }, 'ips.0: found "10.0.0.1/8", which has bits beyond its prefix'],
    [{ name: 'n', scopes: ['root'] }, 'scopes.0: found "root", expected inference, usage or admin'],
    [{ name: 'n', strict: 'on' }, 'strict: found "on", expected true or false'],
    [{ name: 'n', tags: { Team: 'web' } }, 'tags: found the name "Team", expected 1 to 40 of a-z, 0-9, _, . and -'],
    [{ name: 'n', tags: { team: ' ' } }, 'tags.team: found " ", expected 1 to 100 characters'],
    [
      { name: 'n', tags: Object.fromEntries(Array.from({ length: 21 }, (_, nth) => [`t${nth}`, 'x'])) },
      'tags: found 21 tags, expected at most 20',
    ],
    [{ name: 'n', required_tags: ['EU'] }, 'required_tags.0: found "EU", expected a tag of 1 to 32'],
    [{ name: 'n', holds: 'loose' }, 'holds: found "loose", expected adaptive or strict, or inherit'],
    [{ name: 'n', expires_in_ms: 0 }, 'expires_in_ms: found zero'],
    [{ name: 'n', expires_in_ms: 1.5 }, 'expires_in_ms: '],
    [null, 'expected an object'],
    [{ name: 'n', workspace: ['default'] }, 'workspace: '],
  ])('refuses %p as wrong usage', async (given, message) => {
    const refused = await refusal('keys.create', given);
    expect(refused.kind).toBe('usage');
    expect(refused.message).toMatch(message);
  });

  test('refuses a workspace that is not there', async () => {
    const refused = await refusal('keys.create', { name: 'n', workspace: '__proto__' });
    expect(refused).toMatchObject({ kind: 'failed' });
    expect(refused.message).toContain('There is no workspace with the id "__proto__"');
  });
});

describe('the life of a key', () => {
  test('rotation keeps the id; the old secret works until the grace ends', async () => {
    const created = await run('keys.create', { name: 'first' });
    const rotated = await run('keys.rotate', { id: created.id, grace_ms: 1_000 });
    expect(rotated.id).toBe(created.id);
    expect([knock(created.key), knock(rotated.key)]).toEqual([String(created.id), String(created.id)]);
    rig.nowMs += 1_000;
    expect([knock(created.key), knock(rotated.key)]).toEqual(['replaced', String(created.id)]);
  });

  test('rotation without grace ends the old secret at once', async () => {
    const created = await run('keys.create', { name: 'first' });
    await run('keys.rotate', { id: created.id, grace_ms: 0 });
    expect(knock(created.key)).toBe('unknown');
  });

  test('an expired key gets no new secret, which would not work either', async () => {
    const { id } = await run('keys.create', { name: 'first', expires_in_ms: 1_000 });
    rig.nowMs += 1_000;
    const { message } = await refusal('keys.rotate', { id, grace_ms: 0 });
    expect(message).toContain(`and a new secret would not work either. Extend it first: tollgate keys set ${id}`);
    await run('keys.set', { id, expires_in_ms: 1 });
    expect(knock((await run('keys.rotate', { id, grace_ms: 0 })).key)).toBe(String(id));
  });

  test('a disabled key rests, an enabled one works again, a revoked one never', async () => {
    const { id, key } = await run('keys.create', { name: 'first' });
    await run('keys.disable', { id });
    expect(knock(key)).toBe('disabled');
    await run('keys.enable', { id });
    expect(knock(key)).toBe(String(id));
    await run('keys.revoke', { id });
    expect(knock(key)).toBe('revoked');
    for (const [name, given] of [
      ['keys.enable', { id }],
      ['keys.disable', { id }],
      ['keys.set', { id, name: 'other' }],
      ['keys.rotate', { id, grace_ms: 0 }],
    ] as const) {
      expect((await refusal(name, given)).message).toContain('is revoked permanently');
    }
    expect(await run('keys.revoke', { id })).toMatchObject({ status: 'revoked' });
  });

  test('set changes the given settings, and null removes a restriction', async () => {
    const { id } = await run('keys.create', { name: 'n', models: ['a'], ips: ['::1'], expires_in_ms: 9 });
    expect(await run('keys.set', { id, name: 'other' })).toMatchObject({ name: 'other', models: ['a'], ips: ['::1'] });
    expect(await run('keys.set', { id, models: null, ips: null, expires_in_ms: null })).toMatchObject({
      name: 'other',
      models: null,
      ips: null,
      expires_at: null,
    });
    expect(await run('keys.set', { id, models: ['b', '*'] })).toMatchObject({ models: null });
  });

  test('the key’s hold mode overrides its account’s, and inherits once removed', async () => {
    const { id, key } = await run('keys.create', { name: 'n', holds: 'strict' });
    const holds = () => {
      const found = authenticate(rig.directory, String(key), rig.nowMs);
      return typeof found === 'string' ? found : found.holds;
    };
    expect(holds()).toBe('strict');
    await run('accounts.set', { id: 'default', holds: 'adaptive' });
    expect(await run('keys.set', { id, name: 'other' })).toMatchObject({ holds: 'strict' });
    expect(holds()).toBe('strict');
    expect(await run('keys.set', { id, holds: null })).toMatchObject({ holds: null });
    expect(holds()).toBe('adaptive');
    expect(await run('accounts.set', { id: 'default', holds: 'strict' })).toMatchObject({ holds: 'strict' });
    expect(holds()).toBe('strict');
    await run('accounts.set', { id: 'default', holds: null });
    expect(holds()).toBeNull();
  });

  test('strict applies from the next request, survives other changes, and can be turned off', async () => {
    const { id, key } = await run('keys.create', { name: 'n' });
    const strictness = () => {
      const found = authenticate(rig.directory, String(key), rig.nowMs);
      return typeof found === 'string' ? found : found.strict;
    };
    expect(strictness()).toBe(false);
    expect(await run('keys.set', { id, strict: true })).toMatchObject({ strict: true });
    expect(strictness()).toBe(true);
    await run('keys.set', { id, name: 'other' });
    expect(await run('keys.rotate', { id, grace_ms: 1_000 })).toMatchObject({ name: 'other', strict: true });
    expect(strictness()).toBe(true);
    expect(await run('keys.set', { id, strict: false })).toMatchObject({ strict: false });
    expect(strictness()).toBe(false);
  });

  test('a key that is not there is named', async () => {
    for (const name of ['keys.revoke', 'keys.enable', 'keys.disable', 'keys.set']) {
      expect(await refusal(name, { id: 'key_gone' })).toMatchObject({
        kind: 'failed',
        message: 'There is no key with the id "key_gone". List them: tollgate keys list',
      });
    }
  });
});

describe('workspaces', () => {
  test('a change applies to the keys of the workspace', async () => {
    await run('workspaces.create', { id: 'team' });
    const { key } = await run('keys.create', { name: 'n', workspace: 'team' });
    await run('workspaces.set', { id: 'team', models: ['gpt-*'] });
    const found = authenticate(rig.directory, String(key), rig.nowMs);
    expect(typeof found !== 'string' && [found.workspaceAllows('gpt-5'), found.workspaceAllows('o4')]).toEqual([
      true,
      false,
    ]);
    expect(await run('workspaces.list')).toMatchObject([{ id: 'default' }, { id: 'team', models: ['gpt-*'] }]);
  });

  test('an id is taken once, and has a plain form', async () => {
    await run('workspaces.create', { id: 'team' });
    expect(await refusal('workspaces.create', { id: 'team' })).toMatchObject({ kind: 'failed' });
    for (const id of ['', 'Team', 'a b', '-a', 'a'.repeat(65), '../etc']) {
      expect(await refusal('workspaces.create', { id })).toMatchObject({ kind: 'usage' });
    }
  });
});

describe('run', () => {
  test('commands at once all take effect', async () => {
    const { id } = await run('keys.create', { name: 'n' });
    await Promise.all([
      run('keys.set', { id, name: 'other' }),
      run('keys.set', { id, models: ['a'] }),
      run('keys.set', { id, ips: ['::1'] }),
      run('keys.disable', { id }),
    ]);
    expect(await run('keys.list')).toMatchObject([{ name: 'other', models: ['a'], ips: ['::1'], status: 'disabled' }]);
  });

  test('if the store fails nothing changes, and the next command works', async () => {
    const { id, key } = await run('keys.create', { name: 'n' });
    rig.disk.full = true;
    await expect(rig.control.run('keys.revoke', { id }, rig.by)).rejects.toThrow('the disk is full');
    expect(knock(key)).toBe(String(id));
    rig.disk.full = false;
    await run('keys.revoke', { id });
    expect(knock(key)).toBe('revoked');
  });

  test.each(['keys.destroy', '__proto__', 'constructor', ''])('there is no command %p', async (name) => {
    expect(await refusal(name, {})).toMatchObject({ kind: 'usage' });
  });
});

test('wrong arguments are told in our words, not in those of a library', async () => {
  for (const [name, given, expected] of [
    ['routes.explain', { model: 'm', protocol: 'foo' }, /^protocol: expected one of chat, messages, /],
    ['routes.create', { model: 'm', targets: [{}] }, /^targets\.0\.provider: found nothing, expected a text$/],
    ['routes.create', { model: 'm', targets: 'lab' }, /^targets: expected a list$/],
  ] as const) {
    expect((await refusal(name, given)).message).toMatch(expected);
  }
});
