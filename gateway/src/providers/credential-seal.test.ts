/** Tests that a credential can be opened only for the purpose it was sealed for. */
import { expect, test } from 'bun:test';
import { Secret } from '../lib/secret.ts';
import { type CredentialBinding, createCredentialSeal } from './credential-seal.ts';

const MASTER_KEY = new Secret('7'.repeat(64));
const BINDING: CredentialBinding = { tenant: 'default', provider: 'lab', origin: 'https://api.example' };
const TEXT = 'sk-canary-4f1d';
const seal = createCredentialSeal(MASTER_KEY);

test('it opens for its binding, also in a later process', () => {
  const sealed = seal.seal(BINDING, new Secret(TEXT));
  expect(createCredentialSeal(MASTER_KEY).open(BINDING, sealed)?.reveal()).toBe(TEXT);
});

test('the sealed text holds nothing of it, and is another each time', () => {
  const sealed = seal.seal(BINDING, new Secret(TEXT));
  expect(Buffer.from(sealed, 'base64').toString('latin1')).not.toContain(TEXT);
  expect(seal.seal(BINDING, new Secret(TEXT))).not.toBe(sealed);
});

test.each([
  { tenant: 'other' },
  { provider: 'lab2' },
  { origin: 'https://evil.example' },
  { origin: 'http://api.example' },
  { tenant: 'default","lab', provider: 'x' },
])('a row moved to %p does not open', (other) => {
  const sealed = seal.seal(BINDING, new Secret(TEXT));
  expect(seal.open({ ...BINDING, ...other }, sealed)).toBeNull();
});

test('another master key opens nothing', () => {
  const sealed = seal.seal(BINDING, new Secret(TEXT));
  expect(createCredentialSeal(new Secret('8'.repeat(64))).open(BINDING, sealed)).toBeNull();
});

test('neither does a text with any byte changed, cut or put together from two', () => {
  const bytes = Buffer.from(seal.seal(BINDING, new Secret(TEXT)), 'base64');
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(seal.open(BINDING, changed.toString('base64'))).toBeNull();
    expect(seal.open(BINDING, bytes.subarray(0, at).toString('base64'))).toBeNull();
  }
  const other = Buffer.from(seal.seal(BINDING, new Secret(TEXT)), 'base64');
  const joined = Buffer.concat([bytes.subarray(0, 61), other.subarray(61)]);
  expect(seal.open(BINDING, joined.toString('base64'))).toBeNull();
});
