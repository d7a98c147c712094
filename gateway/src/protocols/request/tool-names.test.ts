/** Tests that aliases fit, are stable, and are unique. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { aliasText, shortToolCallId } from './tool-names.ts';

test('keeps text that fits', () => {
  expect(aliasText('get_weather-2', 64)).toBe('get_weather-2');
  expect(aliasText('x'.repeat(64), 64)).toBe('x'.repeat(64));
  expect(shortToolCallId('aB3dE6gH9')).toBe('aB3dE6gH9');
});

test('vector 46: a name of 100 characters becomes its beginning and a hash, the same every time', () => {
  const name = `mcp__${'server'.repeat(15)}__tool`;
  expect(aliasText(name, 64)).toMatch(/^mcp__(server)+\w*_[0-9a-f]{8}$/);
  expect(aliasText(name, 64)).toHaveLength(64);
  expect(aliasText(name, 64)).toBe(aliasText(name, 64));
});

test('vector 47: ids with odd characters get an alias', () => {
  expect(aliasText('call_1|fc_2:3', 40)).toMatch(/^call_1_fc_2_3_[0-9a-f]{8}$/);
  expect(shortToolCallId('call_1|fc_2:3')).toMatch(/^[0-9a-f]{9}$/);
});

test('every text has an alias of the right form, and two texts have two', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: 'binary' }),
      fc.integer({ min: 16, max: 128 }),
      (one, other, most) => {
        const alias = aliasText(one, most);
        expect(alias).toMatch(/^[A-Za-z0-9_-]+$/);
        expect(alias.length).toBeLessThanOrEqual(most);
        expect(aliasText(other, most) === alias).toBe(one === other);
        expect(shortToolCallId(one)).toMatch(/^[A-Za-z0-9]{9}$/);
      },
    ),
  );
});
