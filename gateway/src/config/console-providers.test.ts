/** Tests which characters of a secret are shown. */
import { expect, test } from 'bun:test';
import { Secret } from '../lib/secret.ts';
import { lastFour } from './console-providers.ts';

test.each([
  ['sk-0123456789-55aa', '55aa'],
  ['short-55aa', ''],
  ['{"type":"service_account","project_id":"p"}', ''],
])('of %s: "%s"', (text, shown) => {
  expect(lastFour({ first: new Secret(text), second: new Secret('sk-0123456789-77cc') })).toBe(shown);
});

test('nothing is shown without a secret', () => {
  expect(lastFour({})).toBeNull();
});
