/** Tests the roster against a Set: whatever is added and removed, in any order, both contain the same items. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { type Handle, OpenSet } from './open-set.ts';

test('holds what was added and not removed, through any order of both', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.nat(30), { nil: null })), (steps) => {
      const roster = new OpenSet<number>();
      const expected = new Set<number>();
      const seats: Handle<number>[] = [];
      for (const [step, removed] of steps.entries()) {
        if (removed === null) {
          seats.push(roster.add(step));
          expected.add(step);
          continue;
        }
        const handle = seats[removed];
        if (handle === undefined) continue;
        // Some are removed a second time.
        roster.remove(handle);
        expected.delete(handle.item);
      }
      expect(roster.size).toBe(expected.size);
      expect(new Set(roster.items())).toEqual(expected);
    }),
  );
});

test('whoever goes through the items may remove them', () => {
  const roster = new OpenSet<string>();
  const seats = new Map(['a', 'b', 'c'].map((name) => [name, roster.add(name)]));
  const seen: string[] = [];
  for (const name of roster.items()) {
    seen.push(name);
    for (const handle of seats.values()) roster.remove(handle);
  }
  expect([seen.sort(), roster.size]).toEqual([['a', 'b', 'c'], 0]);
});
