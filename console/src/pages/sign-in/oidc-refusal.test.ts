/** Tests the message for a failed single sign-on. */
import { expect, test } from 'bun:test';
import { oidcRefusal } from './oidc-refusal.ts';

test('no message without an error', () => {
  expect(oidcRefusal(undefined)).toBeNull();
  expect(oidcRefusal('')).toBeNull();
});
test('known reasons have messages in any spelling', () => {
  expect(oidcRefusal('signup_disabled')).toContain('invitation');
  expect(oidcRefusal('signup disabled')).toBe(oidcRefusal('signup_disabled') as string);
});
test('an unknown reason is included', () => {
  expect(oidcRefusal('odd_thing')).toContain('(odd_thing)');
});
