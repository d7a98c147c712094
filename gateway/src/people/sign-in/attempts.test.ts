/** Tests how failed attempts are counted and delayed. */
import { expect, test } from 'bun:test';
import { ConsoleFailure } from '../../errors/console-failure.ts';
import { addressSubject, createAttempts, emailSubject } from './attempts.ts';

let nowMs = 0;
const attempts = () => createAttempts(() => nowMs);
const subject = { name: 's', freeCount: 2, waitMsMax: 8_000 };

function waitOf(work: () => unknown): number {
  try {
    work();
    return 0;
  } catch (fault) {
    if (fault instanceof ConsoleFailure) return fault.details.retryAfterSeconds ?? -1;
    throw fault;
  }
}

test('failures beyond the free ones wait 1, 2, 4 seconds and so on, up to the bound', () => {
  const book = attempts();
  const waits: number[] = [];
  for (let nth = 0; nth < 8; nth += 1) {
    const wait = waitOf(() => book.begin([subject]));
    waits.push(wait);
    nowMs += wait * 1_000;
    if (wait > 0) book.begin([subject]);
  }
  expect(waits).toEqual([0, 0, 0, 1, 2, 4, 8, 8]);
});

test('attempts that run at the same time count before they are known to fail', () => {
  const book = attempts();
  const begun = Array.from({ length: 5 }, () => waitOf(() => book.begin([subject])));
  expect(begun).toEqual([0, 0, 0, 1, 1]);
});

test('a successful attempt removes only itself, unless all are forgiven; a withdrawn one does not count', () => {
  const book = attempts();
  const other = { ...subject, name: 'other' };
  book.begin([subject, other]);
  book.begin([subject, other]);
  book.begin([subject, other]).succeed(['other']);
  expect(waitOf(() => book.begin([other]))).toBe(0);
  book.begin([subject]).withdraw();
  book.begin([subject]);
  expect(waitOf(() => book.begin([subject]))).toBe(1);
});

test('an hour without a failure resets a subject', () => {
  const book = attempts();
  for (let nth = 0; nth < 3; nth += 1) book.begin([subject]);
  nowMs += 3_600_000;
  expect(Array.from({ length: 3 }, () => waitOf(() => book.begin([subject])))).toEqual([0, 0, 0]);
});

test('an IPv6 address counts as its /64, and no one can lock an email address for more than a minute', () => {
  expect(addressSubject('2001:db8:1:2:3::4').name).toBe(addressSubject('2001:db8:1:2:ffff::1').name);
  expect(addressSubject('2001:db8::4').name).toBe(addressSubject('2001:db8::5').name);
  expect(addressSubject('2001:db8::4').name).not.toBe(addressSubject('2001:db8:0:1::4').name);
  expect(addressSubject('192.0.2.1').name).not.toBe(addressSubject('192.0.2.2').name);
  expect(emailSubject('a@example.com').waitMsMax).toBe(60_000);
});

test('attempts refused during a wait leave no state, so they cannot evict other waits', () => {
  const book = attempts();
  const victim = emailSubject('victim@example.com');
  for (let nth = 0; nth < 12; nth += 1) {
    nowMs += waitOf(() => book.begin([victim])) * 1_000;
  }
  expect(waitOf(() => book.begin([victim]))).toBeGreaterThan(0);
  const attacker = { name: 'attacker', freeCount: 0, waitMsMax: 900_000 };
  book.begin([attacker]);
  let refusedCount = 0;
  for (let nth = 0; nth < 100_500; nth += 1) {
    if (waitOf(() => book.begin([attacker, emailSubject(`made-up-${nth}@example.com`)])) > 0) refusedCount += 1;
  }
  expect(refusedCount).toBe(100_500);
  expect(waitOf(() => book.begin([victim]))).toBeGreaterThan(0);
});

test('a flood of subjects that fail once each pushes out no wait', () => {
  const book = attempts();
  const victim = emailSubject('victim@example.com');
  for (let nth = 0; nth < 6; nth += 1) book.begin([victim]);
  for (let nth = 0; nth < 100_500; nth += 1) book.begin([emailSubject(`made-up-${nth}@example.com`)]);
  expect(waitOf(() => book.begin([victim]))).toBe(1);
});

test('a successful attempt after a wait removes only itself', () => {
  const book = attempts();
  for (let nth = 0; nth < 3; nth += 1) book.begin([subject]);
  nowMs += 1_000;
  book.begin([subject]).succeed([]);
  book.begin([subject]);
  expect(waitOf(() => book.begin([subject]))).toBe(2);
});
