/** Tests authentication through the key directory, over the lifetime of a key. */
import { describe, expect, test } from 'bun:test';
import { Secret } from '../lib/secret.ts';
import type { StoredAccount } from '../store/ports/policy.ts';
import type { StoredKey, StoredWorkspace } from '../store/ports/records.ts';
import { createKeyDirectory, followKeys, putAccount, putKey, putMaker, putWorkspace } from './key-directory.ts';
import { createKeyHasher, generateKeyText, hashImportedKey } from './key-format.ts';
import { authenticate, noteUse } from './principal.ts';

const hashKey = createKeyHasher(new Secret('5a'.repeat(32)));
const ACCOUNT: StoredAccount = {
  id: 'default',
  name: 'Default',
  mode: 'postpaid',
  markUpPpm: 0,
  timeZone: 'UTC',
  holds: null,
  createdAtMs: 0,
};
const WORKSPACE: StoredWorkspace = {
  id: 'default',
  accountId: 'default',
  models: null,
  bodies: 'off',
  bodiesDays: 30,
  createdAtMs: 0,
};

function storedKey(keyText: string, changes: Partial<StoredKey> = {}): StoredKey {
  return {
    id: 'key_1',
    name: 'first',
    accountId: 'default',
    workspaceId: 'default',
    hash: hashKey(keyText),
    last4: keyText.slice(-4),
    previousHash: null,
    previousExpiresAtMs: null,
    previousLast4: null,
    models: null,
    ips: null,
    scopes: ['inference'],
    strict: false,
    holds: null,
    status: 'active',
    createdAtMs: 0,
    expiresAtMs: null,
    createdBy: null,
    disabledBy: null,
    ...changes,
  };
}

const NOTHING = { accounts: [ACCOUNT], workspaces: [WORKSPACE], keys: [] };

function directoryOf(...keys: StoredKey[]) {
  return createKeyDirectory(hashKey, { accounts: [ACCOUNT], workspaces: [WORKSPACE], keys });
}

describe('authenticate', () => {
  test('knows the holder of a key', () => {
    const keyText = generateKeyText();
    expect(authenticate(directoryOf(storedKey(keyText)), keyText, 1)).toMatchObject({
      keyId: 'key_1',
      keyName: 'first',
      accountId: 'default',
      workspaceId: 'default',
    });
  });

  test('a strict key makes its requests strict, and a change applies to the next', () => {
    const keyText = generateKeyText();
    const directory = directoryOf(storedKey(keyText, { strict: true }));
    expect(authenticate(directory, keyText, 1)).toMatchObject({ strict: true });
    putKey(directory, storedKey(keyText));
    expect(authenticate(directory, keyText, 1)).toMatchObject({ strict: false });
  });

  test('refuses a text without the form of a key before it hashes anything', () => {
    let hashed = 0;
    const directory = createKeyDirectory((text) => `${hashed++}${hashKey(text)}`, NOTHING);
    const keyText = generateKeyText();
    expect(authenticate(directory, '', 1)).toBe('malformed');
    expect(authenticate(directory, `${keyText.slice(0, -1)}${keyText.endsWith('0') ? '1' : '0'}`, 1)).toBe('malformed');
    expect(hashed).toBe(0);
  });

  test('hashes a key that it found only once, until any key changes', () => {
    let hashed = 0;
    const count = (text: string) => {
      hashed += 1;
      return hashKey(text);
    };
    const keyText = generateKeyText();
    const content = { accounts: [ACCOUNT], workspaces: [WORKSPACE], keys: [storedKey(keyText)] };
    const directory = createKeyDirectory(count, content);
    for (const nowMs of [1, 2]) expect(authenticate(directory, keyText, nowMs)).toMatchObject({ keyId: 'key_1' });
    expect(hashed).toBe(1);
    putKey(directory, storedKey(keyText, { status: 'revoked' }));
    expect([authenticate(directory, keyText, 3), hashed]).toEqual(['revoked', 2]);
    // An unknown key is never remembered.
    const unknown = generateKeyText();
    for (const nowMs of [4, 5]) expect(authenticate(directory, unknown, nowMs)).toBe('unknown');
    expect(hashed).toBe(4);
  });

  test('does not know a key that was never created, or was created under another master key', () => {
    const keyText = generateKeyText();
    expect(authenticate(directoryOf(storedKey(keyText)), generateKeyText(), 1)).toBe('unknown');
    const elsewhere = createKeyHasher(new Secret('5b'.repeat(32)));
    expect(authenticate(createKeyDirectory(elsewhere, { ...NOTHING, keys: [storedKey(keyText)] }), keyText, 1)).toBe(
      'unknown',
    );
  });

  test('a key works until the very millisecond of its end', () => {
    const keyText = generateKeyText();
    const directory = directoryOf(storedKey(keyText, { expiresAtMs: 1_000 }));
    expect(authenticate(directory, keyText, 999)).toMatchObject({ keyId: 'key_1' });
    expect(authenticate(directory, keyText, 1_000)).toBe('expired');
  });

  test('a disabled or revoked key is distinguished, although it is also expired', () => {
    const keyText = generateKeyText();
    for (const status of ['disabled', 'revoked'] as const) {
      expect(authenticate(directoryOf(storedKey(keyText, { status, expiresAtMs: 1 })), keyText, 5)).toBe(status);
    }
  });

  test('after a rotation both secrets work until the grace ends, then only the new one', () => {
    const [before, after] = [generateKeyText(), generateKeyText()];
    const directory = directoryOf(storedKey(before));
    putKey(directory, storedKey(after, { previousHash: hashKey(before), previousExpiresAtMs: 500 }));
    expect(authenticate(directory, before, 499)).toMatchObject({ keyId: 'key_1' });
    expect(authenticate(directory, before, 500)).toBe('replaced');
    expect(authenticate(directory, after, 500)).toMatchObject({ keyId: 'key_1' });
  });

  test('each secret of a rotated key has its own last use, which outlives every other change', () => {
    const [before, after] = [generateKeyText(), generateKeyText()];
    const directory = directoryOf(storedKey(before));
    const useOf = (keyText: string) => {
      const found = authenticate(directory, keyText, 1);
      if (typeof found === 'string') throw new Error(found);
      return found.use;
    };
    noteUse(useOf(before), new Headers(), 7);
    const rotated = storedKey(after, { previousHash: hashKey(before), previousExpiresAtMs: 500 });
    putKey(directory, rotated);
    noteUse(useOf(after), new Headers(), 9);
    putKey(directory, { ...rotated, name: 'other' });
    expect([useOf(before).atMs, useOf(after).atMs]).toEqual([7, 9]);
  });

  test('the grace of an old secret does not outlive its key', () => {
    const [before, after] = [generateKeyText(), generateKeyText()];
    const grace = { previousHash: hashKey(before), previousExpiresAtMs: 500, expiresAtMs: 300 };
    expect(authenticate(directoryOf(storedKey(after, grace)), before, 300)).toBe('expired');
    expect(authenticate(directoryOf(storedKey(after, { ...grace, expiresAtMs: 900 })), before, 900)).toBe('expired');
  });

  test('a rotation without grace, and a second rotation, put out the older secrets', () => {
    const [first, second, third] = [generateKeyText(), generateKeyText(), generateKeyText()];
    const directory = directoryOf(storedKey(first));
    putKey(directory, storedKey(second, { previousHash: hashKey(first), previousExpiresAtMs: 500 }));
    putKey(directory, storedKey(third));
    expect([first, second].map((keyText) => authenticate(directory, keyText, 1))).toEqual(['unknown', 'unknown']);
    expect(authenticate(directory, third, 1)).toMatchObject({ keyId: 'key_1' });
    expect(directory.byHash.size).toBe(1);
  });

  test('revoking a rotated key ends both of its secrets', () => {
    const [before, after] = [generateKeyText(), generateKeyText()];
    const rotated = storedKey(after, { previousHash: hashKey(before), previousExpiresAtMs: 500 });
    const directory = directoryOf(rotated);
    putKey(directory, { ...rotated, status: 'revoked' });
    expect([before, after].map((keyText) => authenticate(directory, keyText, 1))).toEqual(['revoked', 'revoked']);
  });
});

describe('an imported key', () => {
  const text = 'sk-of-another-gateway';
  const digest = new Bun.CryptoHasher('sha256').update(text).digest('hex');
  const imported = (changes: Partial<StoredKey> = {}) =>
    storedKey(text, { hash: hashImportedKey(hashKey, digest), ...changes });

  test('is found by its own text, and by nothing else', () => {
    const directory = directoryOf(imported());
    expect(authenticate(directory, text, 1)).toMatchObject({ keyId: 'key_1' });
    expect(authenticate(directory, text, 2)).toMatchObject({ keyId: 'key_1' });
    for (const other of [digest, `sha256:${digest}`, imported().hash, `${text}x`, 'sk-', `sk-${'x'.repeat(300)}`]) {
      expect(typeof authenticate(directory, other, 1)).toBe('string');
    }
  });

  test('costs a gateway without imported keys no hash', () => {
    let hashed = 0;
    const directory = createKeyDirectory((key) => `${hashed++}${hashKey(key)}`, NOTHING);
    expect(authenticate(directory, text, 1)).toBe('malformed');
    expect(hashed).toBe(0);
  });

  test('after a rotation both secrets work, and after the next one only the newest', () => {
    const [second, third] = [generateKeyText(), generateKeyText()];
    const directory = directoryOf(imported());
    putKey(directory, storedKey(second, { previousHash: imported().hash, previousExpiresAtMs: 500 }));
    expect(authenticate(directory, text, 499)).toMatchObject({ keyId: 'key_1' });
    expect(authenticate(directory, text, 500)).toBe('replaced');
    putKey(directory, storedKey(third));
    expect(authenticate(directory, text, 1)).toBe('malformed');
  });

  test('is revoked like other keys', () => {
    const directory = directoryOf(imported());
    authenticate(directory, text, 1);
    putKey(directory, imported({ status: 'revoked' }));
    expect(authenticate(directory, text, 1)).toBe('revoked');
  });
});

describe('key directory', () => {
  test('a change of a workspace applies to its keys at once, and to no other key', () => {
    const [mine, other] = [generateKeyText(), generateKeyText()];
    const team = { ...WORKSPACE, id: 'team' };
    const keys = [storedKey(mine, { id: 'a', workspaceId: 'team' }), storedKey(other, { id: 'b' })];
    const directory = createKeyDirectory(hashKey, { accounts: [ACCOUNT], workspaces: [WORKSPACE, team], keys });
    putWorkspace(directory, { ...team, models: ['gpt-*'] });
    const allows = (keyText: string, model: string) => {
      const found = authenticate(directory, keyText, 1);
      return typeof found !== 'string' && found.workspaceAllows(model);
    };
    expect([allows(mine, 'gpt-5'), allows(mine, 'claude'), allows(other, 'claude')]).toEqual([true, false, true]);
  });

  test('a key requires the data tags of its workspace and its own, each once', () => {
    const text = generateKeyText();
    const directory = directoryOf(storedKey(text, { requiredTags: ['zdr', 'eu'] }));
    const required = () => {
      const found = authenticate(directory, text, 1);
      return typeof found === 'string' ? found : found.requiredTags;
    };
    expect(required()).toEqual(['zdr', 'eu']);
    putWorkspace(directory, { ...WORKSPACE, requiredTags: ['eu', 'us'] });
    expect(required()).toEqual(['eu', 'us', 'zdr']);
  });

  test('a change of an account applies to its keys at once, and to no other key', () => {
    const [mine, other] = [generateKeyText(), generateKeyText()];
    const payer = { ...ACCOUNT, id: 'payer' };
    const keys = [storedKey(mine, { id: 'a', accountId: 'payer' }), storedKey(other, { id: 'b' })];
    const directory = createKeyDirectory(hashKey, { accounts: [ACCOUNT, payer], workspaces: [WORKSPACE], keys });
    putAccount(directory, { ...payer, mode: 'prepaid', markUpPpm: 20_000 });
    const accountOf = (keyText: string) => {
      const found = authenticate(directory, keyText, 1);
      return typeof found === 'string' ? found : found.account;
    };
    expect(accountOf(mine)).toMatchObject({ id: 'payer', mode: 'prepaid', markUpPpm: 20_000 });
    expect(accountOf(other)).toEqual(ACCOUNT);
  });

  test('refuses a key of an unknown account, and changes nothing', () => {
    const directory = directoryOf();
    const key = storedKey(generateKeyText(), { accountId: 'gone' });
    expect(() => putKey(directory, key)).toThrow('key key_1 names the account gone, which is not there');
    expect([directory.byHash.size, directory.keys.size]).toEqual([0, 0]);
  });

  test('refuses a key of an unknown workspace, and changes nothing', () => {
    const directory = directoryOf();
    const key = storedKey(generateKeyText(), { workspaceId: 'gone' });
    expect(() => putKey(directory, key)).toThrow('key key_1 names the workspace gone, which is not there');
    expect([directory.byHash.size, directory.keys.size]).toEqual([0, 0]);
  });
});

describe('a directory that follows changes', () => {
  const [first, second] = [generateKeyText(), generateKeyText()];
  const own = (changes: Partial<StoredKey> = {}) => storedKey(first, { createdBy: 'person_1', ...changes });
  function follow() {
    const stored = { accounts: [ACCOUNT], workspaces: [WORKSPACE], keys: [own()], makers: ['person_1'] };
    const directory = createKeyDirectory(hashKey, { ...stored, makers: new Map() });
    const policies = {
      readAccounts: async () => stored.accounts,
      readWorkspaces: async () => stored.workspaces,
      readKeys: async () => stored.keys,
    };
    const readMakers = async () =>
      new Map(stored.makers.map((person) => [person, (): readonly ['inference'] => ['inference']]));
    const stateOf = (keyText: string) => {
      const found = authenticate(directory, keyText, 1);
      return typeof found === 'string' ? found : found.workspaceId;
    };
    return { stored, follower: followKeys(directory, policies, readMakers), stateOf };
  }

  test('has a new workspace with its key, and the rights of a member as they are now', async () => {
    const { stored, follower, stateOf } = follow();
    const team = { ...WORKSPACE, id: 'team' };
    const key = storedKey(second, { id: 'key_2', workspaceId: 'team' });
    await follower.follow(
      [
        { of: 'workspace', isNew: true, workspace: team },
        { of: 'key', isNew: true, key },
      ],
      1,
    );
    expect([stateOf(first), stateOf(second)]).toEqual(['ownerless', 'team']);
    await follower.follow([{ of: 'member', person: 'person_1' }], 2);
    expect(stateOf(first)).toBe('default');
    stored.makers = [];
    await follower.follow([{ of: 'member', person: 'person_1' }], 3);
    expect(stateOf(first)).toBe('ownerless');
  });

  test('a directory that missed changes is read again', async () => {
    const { stored, follower, stateOf } = follow();
    stored.workspaces.push({ ...WORKSPACE, id: 'team' });
    stored.keys.push(storedKey(second, { id: 'key_2', workspaceId: 'team', status: 'revoked' }));
    stored.keys[0] = own({ workspaceId: 'team' });
    await follower.reload();
    expect([stateOf(first), stateOf(second)]).toEqual(['team', 'revoked']);
    stored.makers = [];
    await follower.reload();
    expect(stateOf(first)).toBe('ownerless');
  });
});

describe('a key created by a user', () => {
  const text = generateKeyText();
  const made = (changes: Partial<StoredKey> = {}) =>
    storedKey(text, { createdBy: 'person_1', scopes: ['inference', 'admin'], ...changes });
  const scopesNow = (directory: ReturnType<typeof directoryOf>) => {
    const found = authenticate(directory, text, 0);
    return typeof found === 'string' ? found : found.scopes;
  };

  test('has its scopes as far as its creator has them, and none for an unknown creator', () => {
    const directory = directoryOf(made());
    expect(scopesNow(directory)).toBe('ownerless');
    putMaker(directory, 'person_1', () => ['inference', 'usage']);
    expect(scopesNow(directory)).toEqual(['inference']);
    putMaker(directory, 'person_2', () => []);
    expect(scopesNow(directory)).toEqual(['inference']);
    putMaker(directory, 'person_1', (_account, workspace) => (workspace === 'another' ? ['inference'] : []));
    expect(scopesNow(directory)).toBe('ownerless');
  });

  test('is still revoked or disabled before it is ownerless', () => {
    expect(scopesNow(directoryOf(made({ status: 'revoked' })))).toBe('revoked');
  });
});
