/** Tests the limit on lookups by anonymous clients. */
import { expect, test } from 'bun:test';
import { ConsoleFailure } from '../../errors/console-failure.ts';
import { createAddressRate } from '../models/status.ts';

function isTaken(work: () => void): boolean {
  try {
    work();
    return true;
  } catch (fault) {
    if (!(fault instanceof ConsoleFailure)) throw fault;
    expect(fault.kind).toBe('too_many');
    expect(fault.details.retryAfterSeconds).toBeGreaterThan(0);
    return false;
  }
}

test('limits attempts per minute from one address, not from others, and recovers with time', () => {
  const rate = createAddressRate(3);
  const ask = (address: string | null, nowMs: number) => isTaken(() => rate.take(address, nowMs));
  expect([ask('a', 0), ask('a', 0), ask('a', 0), ask('a', 0)]).toEqual([true, true, true, false]);
  expect([ask('b', 0), ask(null, 0)]).toEqual([true, true]);
  expect([ask('a', 19_999), ask('a', 20_000), ask('a', 20_000)]).toEqual([false, true, false]);
});

test('beyond the maximum number of addresses the longest inactive one is forgotten', () => {
  const rate = createAddressRate(1);
  rate.take('first', 0);
  rate.take('second', 0);
  for (let index = 0; index < 9_999; index++) rate.take(`other-${index}`, 0);
  expect([isTaken(() => rate.take('second', 0)), isTaken(() => rate.take('first', 0))]).toEqual([false, true]);
});
