/** Tests which known name is suggested for a mistyped one, and when none is. */
import { expect, test } from 'bun:test';
import { chooseNearName } from './near-name.ts';

const NAMES = ['host', 'port', 'public_url', 'trusted_proxies', 'console'];

test.each([
  ['prot', 'port'],
  ['pubic_url', 'public_url'],
  ['publicUrl', 'public_url'],
  ['public-url', 'public_url'],
  ['PORT', 'port'],
  ['trusted', 'trusted_proxies'],
  ['consoel', 'console'],
])('%s is read as %s', (typed, near) => {
  expect(chooseNearName(typed, NAMES)).toBe(near);
});

test.each(['tls', 'x', '', 'completely_different', 'prtpublic'])('%s is taken for nothing', (typed) => {
  expect(chooseNearName(typed, NAMES)).toBeNull();
});

test('a prefix of two names suggests neither', () => {
  expect(chooseNearName('body', ['body_bytes_max', 'body_timeout'])).toBeNull();
});
