/** Tests that nothing of targets and models that reloads removed stays in memory. */

import { heapStats } from 'bun:jsc';
import { expect, test } from 'bun:test';
import { RoutingState } from '../health/routing-state.ts';
import { ChoiceState } from './choose.ts';
import { makeRoute } from './testing/routes.ts';

const GENERATIONS = 200;

function countObjects(): Readonly<Record<string, number>> {
  Bun.gc(true);
  return heapStats().objectTypeCounts;
}

/** Of what the states are made of, the types that grew with each generation: the collector may take a few for used. */
function grown(before: Readonly<Record<string, number>>): readonly string[] {
  const after = countObjects();
  const growth = (type: string) => (after[type] ?? 0) - (before[type] ?? 0);
  return ['Map', 'Float64Array', 'Uint32Array'].filter((type) => growth(type) > GENERATIONS / 2);
}

test('reloads that each replace the model leave nothing of those before', () => {
  const health = new RoutingState();
  const choice = new ChoiceState(health);
  const before = countObjects();
  for (let generation = 0; generation < GENERATIONS; generation += 1) {
    const made = makeRoute([{ name: 'a', provider: 'lab', model: `a${generation}`, maxConcurrency: 1 }]);
    const route = { ...made, model: `m${generation}`, routing: { ...made.routing, hedge: true } };
    const { targets } = route;
    const [target] = targets;
    health.reload(targets, 0);
    choice.reload([route]);
    health.of(target);
    choice.queues.enter(route.model, target, 'w', 0, { onPlace: () => undefined })?.leave();
    choice.headroom.end(choice.headroom.send(target.upstream, 0, 1));
    choice.headroom.lastAnswers.set(target.upstream.key, { head: { headers: [] }, nowMs: 0 });
    const call = { route, routed: {}, target, candidates: [], isStream: false, requestBytes: 0 };
    choice.hedging.begin(call as never, health, 0);
  }
  expect(grown(before)).toEqual([]);
  expect(choice.headroom.lastAnswers.size).toBe(1);
});
