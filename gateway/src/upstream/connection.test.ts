/** Tests which idle connections are reused, and which are closed. */
import { afterEach, expect, test } from 'bun:test';
import { closeIdle, openedConnection, parseBaseUrl, returnIdle, takeIdle } from './connection.ts';

const { origin } = parseBaseUrl('https://lab.test');
afterEach(closeIdle);

test('connections that were idle for long are closed, also while a newer one is reused', () => {
  const ended: number[] = [];
  const connections = [0, 1, 2].map((nth) =>
    openedConnection(origin, { end: () => void ended.push(nth) } as unknown as Parameters<typeof openedConnection>[1]),
  );
  for (const connection of connections) returnIdle(connection, 0);
  for (let nowMs = 10_000; nowMs <= 60_000; nowMs += 10_000) {
    const taken = takeIdle(origin, nowMs);
    expect(taken).toBe(connections[2] ?? null);
    if (taken !== null) returnIdle(taken, nowMs);
  }
  expect(ended).toEqual([0, 1]);
  expect(takeIdle(origin, 100_000)).toBeNull();
  expect(ended).toEqual([0, 1, 2]);
});
