/** Tests OpenSet against a Set: whatever is added and removed, in any order, both contain the same items. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { type Handle, OpenSet } from './open-set.ts';

test('holds the added and not removed items, in any order of both', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.nat(30), { nil: null })), (steps) => {
      const set = new OpenSet<number>();
      const expected = new Set<number>();
      const seats: Handle<number>[] = [];
      for (const [step, removed] of steps.entries()) {
        if (removed === null) {
          seats.push(set.add(step));
          expected.add(step);
          continue;
        }
        const handle = seats[removed];
        if (handle === undefined) continue;
        // Some are removed a second time.
        set.remove(handle);
        expected.delete(handle.item);
      }
      expect(set.size).toBe(expected.size);
      expect(new Set(set.items())).toEqual(expected);
    }),
  );
});

test('items can be removed during iteration', () => {
  const set = new OpenSet<string>();
  const seats = new Map(['a', 'b', 'c'].map((name) => [name, set.add(name)]));
  const seen: string[] = [];
  for (const name of set.items()) {
    seen.push(name);
    for (const handle of seats.values()) set.remove(handle);
  }
  expect([seen.sort(), set.size]).toEqual([['a', 'b', 'c'], 0]);
});
