/** Tests that no change of a time zone reopens a running budget window, however often the zone changes. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { WindowZones } from '../store/ports/policy.ts';
import { changeZone, windowAt, zoneOfWindow } from './window.ts';

const HOUR_MS = 3_600_000;
const NOON = Date.UTC(2026, 10, 18, 12);
type Zoned = { readonly timeZone: string; readonly windowZones?: WindowZones };

function windowOf(account: Zoned, sort: 'day' | 'week' | 'month', atMs: number) {
  return windowAt(sort, zoneOfWindow(account, sort, atMs), atMs);
}

test('running windows keep their zone to their end; later ones use the new zone', () => {
  const before = { timeZone: 'UTC' };
  const after = changeZone(before, 'Pacific/Kiritimati', NOON);
  for (const sort of ['day', 'week', 'month'] as const) {
    const running = windowOf(before, sort, NOON);
    expect(windowOf(after, sort, NOON)).toEqual(running);
    const endMs = running.endMs ?? 0;
    expect(windowOf(after, sort, endMs - 1)).toEqual(running);
    expect(windowOf(after, sort, endMs)).toEqual(windowAt(sort, 'Pacific/Kiritimati', endMs));
  }
  expect(changeZone(after, 'UTC', NOON + HOUR_MS)).toEqual(before);
  expect(zoneOfWindow(after, 'total', NOON)).toBe('Pacific/Kiritimati');
});

test('windows never leave a gap or start a budget early after zone changes', () => {
  const zones = ['UTC', 'Pacific/Kiritimati', 'Pacific/Pago_Pago', 'Europe/Berlin', 'Asia/Kathmandu'];
  const step = fc.record({ afterHours: fc.integer({ min: 0, max: 40 }), zone: fc.constantFrom(...zones) });
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), (steps) => {
      let account: Zoned = { timeZone: 'UTC' };
      let atMs = NOON;
      let last = windowOf(account, 'day', atMs);
      for (const { afterHours, zone } of steps) {
        for (let hour = 0; hour < afterHours; hour++) {
          atMs += HOUR_MS;
          const next = windowOf(account, 'day', atMs);
          const isSame = next.startMs === last.startMs && next.endMs === last.endMs;
          // A new window begins only after the last one has ended; spending since it began counts in it.
          if (!isSame) expect(atMs).toBeGreaterThanOrEqual(last.endMs ?? 0);
          if (!isSame) expect(next.startMs).toBeLessThanOrEqual(last.endMs ?? 0);
          last = next;
        }
        account = changeZone(account, zone, atMs);
        expect(windowOf(account, 'day', atMs)).toEqual(last);
      }
    }),
    { numRuns: 100 },
  );
});
