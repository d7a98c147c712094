/** Tests the roster against a Set: whatever is added and removed, in any order, both contain the same items. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { Roster, type Seat } from './roster.ts';

test('holds what was added and not removed, through any order of both', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.nat(30), { nil: null })), (steps) => {
      const roster = new Roster<number>();
      const expected = new Set<number>();
      const seats: Seat<number>[] = [];
      for (const [step, removed] of steps.entries()) {
        if (removed === null) {
          seats.push(roster.add(step));
          expected.add(step);
          continue;
        }
        const seat = seats[removed];
        if (seat === undefined) continue;
        // Some are removed a second time.
        roster.remove(seat);
        expected.delete(seat.item);
      }
      expect(roster.size).toBe(expected.size);
      expect(new Set(roster.items())).toEqual(expected);
    }),
  );
});

test('whoever goes through the items may remove them', () => {
  const roster = new Roster<string>();
  const seats = new Map(['a', 'b', 'c'].map((name) => [name, roster.add(name)]));
  const seen: string[] = [];
  for (const name of roster.items()) {
    seen.push(name);
    for (const seat of seats.values()) roster.remove(seat);
  }
  expect([seen.sort(), roster.size]).toEqual([['a', 'b', 'c'], 0]);
});
