/** Tests the format of the ids that make an action idempotent. */
import { expect, test } from 'bun:test';
import { formatUuid, randomUuid } from './insecure-context.ts';

test('formats sixteen bytes as a UUID of version 4', () => {
  expect(formatUuid(new Uint8Array(16))).toBe('00000000-0000-4000-8000-000000000000');
  expect(formatUuid(new Uint8Array(16).fill(0xff))).toBe('ffffffff-ffff-4fff-bfff-ffffffffffff');
});

test('random UUIDs are valid and differ', () => {
  const one = randomUuid();
  expect(one).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(randomUuid()).not.toBe(one);
});
