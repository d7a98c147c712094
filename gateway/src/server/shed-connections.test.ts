/** Tests whose slow bodies are ended first when file descriptors run short, and how many the limit allows. */
import { expect, test } from 'bun:test';
import { boundsOfDescriptors } from '../admission/capacity.ts';
import { chooseBodies } from './server.ts';

const body = (from: string, startMs: number) => ({ address: () => from, startMs });

test('the address with most bodies loses its oldest first; a client with one keeps it', () => {
  const many = [5, 3, 4, 1, 2].map((startMs) => body('127.0.0.2', startMs));
  const single = body('127.0.0.9', 0);
  const chosen = chooseBodies([single, ...many], 4);
  expect(chosen.map(({ startMs }) => startMs)).toEqual([1, 2, 3, 4]);
  expect(chosen).not.toContain(single);
});

test('addresses with equally many lose equally many', () => {
  const bodies = ['a', 'b', 'c'].flatMap((from) => [1, 2, 3].map((startMs) => body(from, startMs)));
  const lost = chooseBodies(bodies, 6).map(({ address }) => address());
  for (const from of ['a', 'b', 'c']) expect(lost.filter((one) => one === from)).toHaveLength(2);
});

test('if more are requested than there are, all are chosen', () => {
  expect(chooseBodies([body('a', 1), body('b', 1)], Number.POSITIVE_INFINITY)).toHaveLength(2);
});

test.each([
  [1_024, 448],
  [256, 96],
  [20_000, 9_744],
  [65_536, 32_512],
])('%d descriptors allow %d calls, two descriptors each in addition to a reserve', (openFilesMax, callsMax) => {
  expect(boundsOfDescriptors(openFilesMax).callsMax).toBe(callsMax);
});

test('without a limit of descriptors nothing is bounded by them', () => {
  const { spares, ...bounds } = boundsOfDescriptors(null);
  expect(Object.values(bounds).every((bound) => bound === Number.POSITIVE_INFINITY)).toBe(true);
  expect(spares).toBe(0);
});
