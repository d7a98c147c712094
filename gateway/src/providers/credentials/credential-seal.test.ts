/** Tests that a credential can be opened only for the purpose it was sealed for. */
import { expect, test } from 'bun:test';
import { Secret } from '../../lib/secret.ts';
import { type CredentialBinding, createCredentialSeal } from './credential-seal.ts';

const MASTER_KEY = new Secret('7'.repeat(64));
const BINDING: CredentialBinding = { tenant: 'default', provider: 'lab', origin: 'https://api.example' };
const TEXT = 'sk-canary-4f1d';
const SECRETS = { api_key: new Secret(TEXT) };
const seal = createCredentialSeal(MASTER_KEY);

test('sealed secrets open for their binding, also in a later process', () => {
  const sealed = seal.seal(BINDING, SECRETS);
  expect(createCredentialSeal(MASTER_KEY).open(BINDING, sealed)?.api_key?.reveal()).toBe(TEXT);
});

test('the sealed text does not contain the secret, and differs each time', () => {
  const sealed = seal.seal(BINDING, SECRETS);
  expect(Buffer.from(sealed, 'base64').toString('latin1')).not.toContain(TEXT);
  expect(seal.seal(BINDING, SECRETS)).not.toBe(sealed);
});

test.each([
  { tenant: 'other' },
  { provider: 'lab2' },
  { origin: 'https://evil.example' },
  { origin: 'http://api.example' },
  { tenant: 'default","lab', provider: 'x' },
])('a row moved to %p does not open', (other) => {
  const sealed = seal.seal(BINDING, SECRETS);
  expect(seal.open({ ...BINDING, ...other }, sealed)).toBeNull();
});

test('another master key opens nothing', () => {
  const sealed = seal.seal(BINDING, SECRETS);
  expect(createCredentialSeal(new Secret('8'.repeat(64))).open(BINDING, sealed)).toBeNull();
});

test('a sealed text that was changed, cut or joined from two does not open', () => {
  const bytes = Buffer.from(seal.seal(BINDING, SECRETS), 'base64');
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(seal.open(BINDING, changed.toString('base64'))).toBeNull();
    expect(seal.open(BINDING, bytes.subarray(0, at).toString('base64'))).toBeNull();
  }
  const other = Buffer.from(seal.seal(BINDING, SECRETS), 'base64');
  const joined = Buffer.concat([bytes.subarray(0, 61), other.subarray(61)]);
  expect(seal.open(BINDING, joined.toString('base64'))).toBeNull();
});

test('a set of secrets opens as it was sealed', () => {
  const set = { key_id: new Secret('id'), signing_secret: new Secret('"quoted"\u00e9') };
  const opened = seal.open(BINDING, seal.seal(BINDING, set)) ?? {};
  expect(Object.entries(opened).map(([name, secret]) => [name, secret?.reveal()])).toEqual([
    ['key_id', 'id'],
    ['signing_secret', '"quoted"\u00e9'],
  ]);
});

test('a single credential that an earlier version sealed opens as api_key', () => {
  const SEALED =
    'AW0z3/uQ6rdB5dsvGLWMU3f81p5Wnb6uk9cCnmhzh5D5OBBLPt24GVZUYDKnZRXp6Zh1UswMS58r1xhrGb3elv1QM9Rf7oqgQ2iS442d/ibuKl/QHXUH5ftFMOz9o9PfzrEO3Q9OBA==';
  expect(seal.open(BINDING, SEALED)?.api_key?.reveal()).toBe(TEXT);
  expect(seal.open({ ...BINDING, provider: 'lab2' }, SEALED)).toBeNull();
  const asSet = Buffer.from(SEALED, 'base64');
  asSet[0] = 2;
  expect(seal.open(BINDING, asSet.toString('base64'))).toBeNull();
});
