/** Tests when new calls are refused for an overload, and when none are again. */
import { expect, test } from 'bun:test';
import { Overload } from './capacity.ts';

function noteMany(overload: Overload, times: number, delayMs: number, memoryPart = 0.1): Overload {
  for (let turn = 0; turn < times; turn++) overload.note(delayMs, memoryPart);
  return overload;
}

test('no call is refused at the delay that is allowed, nor for single long turns', () => {
  const overload = noteMany(new Overload(), 50, 250);
  for (let turn = 0; turn < 50; turn++) overload.note(turn % 5 === 0 ? 0 : 5_000, 0.1);
  expect([overload.share, overload.refuses(0)]).toEqual([0, false]);
});

test('a loop that stays late refuses a growing part of the calls, never all, and recovers slowly', () => {
  const overload = noteMany(new Overload(), 4, 251);
  expect(overload.refuses(0)).toBe(false);
  overload.note(251, 0.1);
  expect([overload.refuses(0.09), overload.refuses(0.11)]).toEqual([true, false]);
  noteMany(overload, 100, 251);
  expect([overload.refuses(0.94), overload.refuses(0.96)]).toEqual([true, false]);
  noteMany(overload, 10, 0);
  expect([overload.refuses(0.74), overload.refuses(0.76)]).toEqual([true, false]);
  expect(noteMany(overload, 100, 0).share).toBe(0);
});

test('no new call begins with nine tenths of the memory in use', () => {
  const overload = noteMany(new Overload(), 1, 0, 0.899);
  expect(overload.share).toBe(0);
  expect(noteMany(overload, 1, 0, 0.9).refuses(0.999)).toBe(true);
  expect(noteMany(overload, 60, 0).share).toBe(0);
});
