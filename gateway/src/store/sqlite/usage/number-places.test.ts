/** Tests that numbers get the same places as in a Map. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { NumberPlaces } from './rank-callers.ts';

const number = fc.oneof(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 2 ** 32 - 1 }));

test('each number has one place, in order of arrival', () => {
  fc.assert(
    fc.property(fc.array(number, { maxLength: 2_000 }), (numbers) => {
      const places = new NumberPlaces();
      const plain = new Map<number, number>();
      for (const one of numbers) {
        const place = plain.get(one) ?? plain.size;
        plain.set(one, place);
        expect(places.placeOf(one)).toBe(place);
      }
      expect(places.size).toBe(plain.size);
    }),
    { numRuns: 40 },
  );
});
