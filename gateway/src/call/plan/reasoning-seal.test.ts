/** Tests that sealed content opens for its owner and master key only, and not when it was changed. */
import { expect, test } from 'bun:test';
import type { SealedContent } from '../../generation/part.ts';
import { Secret } from '../../lib/secret.ts';
import { createReasoningSeal } from './reasoning-seal.ts';

const KEY = new Secret('00'.repeat(32));
const OWNER = { account: 'a', workspace: 'w', issuer: 'anthropic', model: 'claude' };
const THOUGHT: SealedContent = {
  kind: 'reasoning',
  part: { kind: 'reasoning', text: 'hm ä', signature: 'c2ln', redacted: false, issuer: 'messages' },
};

const seal = createReasoningSeal(KEY);
const sealed = seal.seal(OWNER, THOUGHT);

test('it opens as it was, after a restart too', () => {
  expect(sealed).toMatch(/^gw2\.[\w-]+$/);
  expect(sealed).not.toContain(Buffer.from('c2ln').toString('base64url'));
  expect(seal.seal(OWNER, THOUGHT)).not.toBe(sealed);
  for (const one of [seal, createReasoningSeal(KEY)]) expect(one.open(OWNER, sealed)).toEqual(THOUGHT);
});

test.each(['account', 'workspace', 'issuer', 'model'] as const)('for another %s it does not open', (member) => {
  expect(seal.open({ ...OWNER, [member]: 'x' }, sealed)).toBeNull();
});

test('names that run into each other are different owners', () => {
  expect(seal.open({ ...OWNER, account: 'aw', workspace: '' }, sealed)).toBeNull();
});

test('with another master key, cut or changed in any character it does not open', () => {
  expect(createReasoningSeal(new Secret('11'.repeat(32))).open(OWNER, sealed)).toBeNull();
  for (let at = 0; at < sealed.length; at++) {
    const other = sealed[at] === 'A' ? 'B' : 'A';
    expect([at, seal.open(OWNER, sealed.slice(0, at))]).toEqual([at, null]);
    expect([at, seal.open(OWNER, sealed.slice(0, at) + other + sealed.slice(at + 1))]).toEqual([at, null]);
  }
  for (const text of ['', 'gw2.', 'gw1.x', `${sealed}A`, `${sealed}=`, `${sealed}\n`])
    expect(seal.open(OWNER, text)).toBeNull();
});
