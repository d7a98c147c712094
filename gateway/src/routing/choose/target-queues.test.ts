/** Tests the places of targets with `max_concurrency`: their number, the queue, and its turns by workspace. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { TargetQueues } from './target-queues.ts';
import { makeRoute } from './testing/routes.ts';

const target = (maxConcurrency: number | null) => makeRoute([{ name: 'a', maxConcurrency }]).targets[0];

/** Enters a call of each workspace in turn; `served` lists those that got their place later. */
function enterAll(queues: TargetQueues, cap: number, workspaces: readonly string[]) {
  const served: string[] = [];
  const places = workspaces.map((workspace) =>
    queues.enter('m', target(cap), workspace, 0, { onPlace: () => served.push(workspace) }),
  );
  return { served, places };
}

test('as many wait as may be open, and no more', () => {
  const queues = new TargetQueues();
  const { places } = enterAll(queues, 2, ['a', 'a', 'a', 'a', 'a']);
  expect(places.map((place) => place?.state)).toEqual(['open', 'open', 'waiting', 'waiting', undefined]);
  expect(places.map((place) => place?.untilMs)).toEqual([0, 0, 2_000, 2_000, undefined]);
  expect(queues.isFull(target(2))).toBe(true);
  places[3]?.leave();
  expect(queues.isFull(target(2))).toBe(false);
  expect(queues.waitingAt(target(2))).toBe(1);
  expect(queues.isFull(target(null))).toBe(false);
});

test('places go to the workspaces in turn, and within one in order', () => {
  const queues = new TargetQueues();
  const { served, places } = enterAll(queues, 4, ['x', 'x', 'x', 'x', 'a', 'a', 'a', 'b']);
  places[0]?.leave();
  places[1]?.leave();
  places[1]?.leave();
  places[2]?.leave();
  expect(served).toEqual(['a', 'b', 'a']);
  expect(places.map((place) => place?.state)).toEqual([
    'over',
    'over',
    'over',
    'open',
    'open',
    'open',
    'waiting',
    'open',
  ]);
});

test('a call that stops waiting leaves no gap', () => {
  const queues = new TargetQueues();
  const { served, places } = enterAll(queues, 2, ['x', 'x', 'a', 'b']);
  places[2]?.leave();
  places[0]?.leave();
  places[1]?.leave();
  expect(served).toEqual(['b']);
  expect(queues.waitingAt(target(2))).toBe(0);
});

const limited = (maxConcurrency: number | null) => makeRoute([{ name: 'a', maxConcurrency }]);

test.each([
  ['leaves the limit', [limited(2)], []],
  ['raises the limit', [limited(3)], ['a']],
  ['removes the limit', [limited(null)], ['a', 'b']],
  ['removes the target', [makeRoute([{ name: 'other', maxConcurrency: 2 }])], ['a', 'b']],
  ['removes the model', [], ['a', 'b']],
  ['leaves another model at the upstream', [{ ...limited(1), model: 'n' }], ['a', 'b']],
])('a reload that %s admits at once those that it lets in', (_, routes, admitted) => {
  const queues = new TargetQueues();
  const { served } = enterAll(queues, 2, ['x', 'x', 'a', 'b']);
  queues.reload(routes);
  expect(served).toEqual(admitted);
});

test('a call that still has the routes before a reload gets the limit of now', () => {
  const queues = new TargetQueues();
  queues.reload([limited(1)]);
  expect(enterAll(queues, 2, ['x', 'a']).places.map((place) => place?.state)).toEqual(['open', 'waiting']);
  queues.reload([limited(null)]);
  expect(enterAll(queues, 1, ['x', 'a']).places.map((place) => place?.state)).toEqual(['open', 'open']);
});

test('a call of another model with the same upstream leaves the limit of this one', () => {
  const queues = new TargetQueues();
  const { served, places } = enterAll(queues, 2, ['x', 'x', 'a']);
  expect(queues.enter('other', target(1), 'b', 0, { onPlace: () => undefined })).toBeNull();
  places[0]?.leave();
  expect(served).toEqual(['a']);
});

test('models with the same upstream and limits of their own: none is exceeded, and none waits beside a free place', () => {
  const caps = [1, 2, 4];
  const step = fc.record({
    cap: fc.constantFrom(...caps),
    workspace: fc.constantFrom('a', 'b', 'c'),
    leaves: fc.boolean(),
    which: fc.nat(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
      const queues = new TargetQueues();
      const entered: { readonly cap: number; readonly place: NonNullable<ReturnType<TargetQueues['enter']>> }[] = [];
      const openNow = () => entered.filter(({ place }) => place.state === 'open').length;
      for (const { cap, workspace, leaves, which } of steps) {
        // The place is counted among the open ones before its listener hears of it.
        const onPlace = () => expect(openNow()).toBeLessThanOrEqual(cap);
        const place = leaves ? null : queues.enter(`model ${cap}`, target(cap), workspace, 0, { onPlace });
        if (place !== null) {
          entered.push({ cap, place });
          if (place.state === 'open') onPlace();
        } else if (entered.length > 0) entered[which % entered.length]?.place.leave();
        const waiting = entered.filter((one) => one.place.state === 'waiting');
        for (const one of waiting) expect(openNow()).toBeGreaterThanOrEqual(one.cap);
        expect(queues.waitingAt(target(cap))).toBe(waiting.length);
      }
    }),
  );
});

test('never more open than allowed, and none waits beside a free place', () => {
  const step = fc.record({ workspace: fc.constantFrom('a', 'b', 'c'), leaves: fc.boolean(), which: fc.nat() });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 4 }), fc.array(step, { maxLength: 60, size: 'max' }), (cap, steps) => {
      const queues = new TargetQueues();
      const places: NonNullable<ReturnType<TargetQueues['enter']>>[] = [];
      for (const { workspace, leaves, which } of steps) {
        const place = leaves ? null : queues.enter('m', target(cap), workspace, 0, { onPlace: () => undefined });
        if (place !== null) places.push(place);
        else if (places.length > 0) places[which % places.length]?.leave();
        const count = (state: string) => places.filter((one) => one.state === state).length;
        expect(count('open')).toBeLessThanOrEqual(cap);
        expect(count('waiting')).toBeLessThanOrEqual(cap);
        if (count('waiting') > 0) expect(count('open')).toBe(cap);
        expect(queues.waitingAt(target(cap))).toBe(count('waiting'));
      }
    }),
  );
});
