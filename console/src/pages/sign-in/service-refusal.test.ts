import { expect, test } from 'bun:test';
import { serviceRefusal } from './service-refusal.ts';

test('no error, no words', () => {
  expect(serviceRefusal(undefined)).toBeNull();
  expect(serviceRefusal('')).toBeNull();
});
test('known reasons have words, however they are written', () => {
  expect(serviceRefusal('signup_disabled')).toContain('invitation');
  expect(serviceRefusal('signup disabled')).toBe(serviceRefusal('signup_disabled') as string);
});
test('an unknown reason is named', () => {
  expect(serviceRefusal('odd_thing')).toContain('(odd_thing)');
});
