/** Tests the choice among targets: filters, states, priorities, strategies, pins, and what holds for every choice. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { runsOf } from '../../../test/harness/exhaustive.ts';
import { CallFailure } from '../../errors/call-failure.ts';
import type { Route } from '../route.ts';
import { PIN_MS } from './affinity.ts';
import { type Candidate, isUsable } from './candidate.ts';
import { choose, judgeTargets } from './choose.ts';
import { onlyCandidate, usualCandidates } from './prepared-candidates.ts';
import type { RoutedRequest } from './routed-request.ts';
import { makeRequest, makeRoute, makeState, NO_NEEDS, type SetStates, type TargetPlan } from './testing/routes.ts';

const THREE: readonly TargetPlan[] = [{ name: 'a' }, { name: 'b' }, { name: 'c' }];

/** `a chosen order`, `c skipped breaker`. */
function words(candidates: readonly Candidate[]): readonly string[] {
  return candidates.map(({ target, verdict, why }) => `${target.name} ${verdict} ${why}`);
}

interface Case {
  readonly route?: Route;
  readonly request?: Partial<RoutedRequest>;
  readonly health?: (states: SetStates) => void;
  readonly nowMs?: number;
  readonly seed?: number;
}

function chosen({ route = makeRoute(THREE), request = {}, health, nowMs = 0, seed = 1 }: Case): readonly string[] {
  const made = makeState();
  health?.(made.health);
  return words(choose(route, makeRequest(request), made.state, nowMs, seed));
}

function failureOf(act: () => unknown): CallFailure {
  try {
    act();
  } catch (error) {
    if (error instanceof CallFailure) return error;
    throw error;
  }
  throw new Error('expected a failure');
}

describe('the order of the file', () => {
  test('the first is chosen, the others are its fallbacks', () => {
    expect(chosen({})).toEqual(['a chosen order', 'b fallback fallback', 'c fallback fallback']);
  });

  test('the lowest priority number comes first', () => {
    const route = makeRoute([{ name: 'a', priority: 2 }, { name: 'b' }, { name: 'c', weight: 0 }]);
    expect(chosen({ route })).toEqual(['b chosen order', 'c fallback fallback', 'a fallback fallback']);
  });

  test('an open, benched, cooling or full target is skipped', () => {
    const route = makeRoute([...THREE, { name: 'e', maxConcurrency: 1 }, { name: 'f' }]);
    const { state, health } = makeState();
    for (const [name, verdict] of [
      ['a', 'open'],
      ['b', 'benched'],
      ['c', 'cooling'],
    ] as const) {
      health.set(name, { verdicts: [verdict], until: 500 });
    }
    const full = route.targets[3];
    if (full === undefined) throw new Error('expected a target');
    const listener = { onPlace: () => undefined };
    expect([1, 2, 3].map(() => state.queues.enter('m', full, 'w', 0, listener)?.state)).toEqual([
      'open',
      'waiting',
      undefined,
    ]);
    const candidates = choose(route, makeRequest(), state, 0, 1);
    expect(words(candidates)).toEqual([
      'f chosen fallback',
      'a skipped breaker',
      'b skipped benched',
      'c skipped cooling',
      'e skipped full',
    ]);
    expect(candidates.map((one) => (one.verdict === 'skipped' ? one.untilMs : 0))).toEqual([0, 500, 500, 500, null]);
  });

  test('a half-open target is probed by a call that has a fallback', () => {
    expect(chosen({ health: (states) => states.set('a', { verdicts: ['probe'] }) })[0]).toBe('a chosen probe');
  });

  test('without a usable target, those with an open breaker are tried by weight', () => {
    const route = makeRoute([{ name: 'a', weight: 0 }, { name: 'b', weight: 1 }, { name: 'c' }]);
    const health = (states: SetStates) => {
      for (const name of ['a', 'b']) states.set(name, { verdicts: ['open'] });
      states.set('c', { verdicts: ['cooling'], until: 9_000 });
    };
    expect(chosen({ route, health })).toEqual(['b chosen limp', 'a fallback limp', 'c skipped cooling']);
  });

  test('where all cool, none is tried', () => {
    const health = (states: SetStates) => {
      for (const name of ['a', 'b', 'c']) states.set(name, { verdicts: ['cooling'], until: 9_000 });
    };
    expect(chosen({ health }).filter((one) => !one.includes('skipped cooling'))).toEqual([]);
  });

  test('a target that closed a moment ago takes its share', () => {
    const health = (states: SetStates) => states.set('a', { sharePart: 0.3 });
    const heads = Array.from({ length: 2_000 }, (_, seed) => chosen({ health, seed })[0]);
    const share = heads.filter((head) => head === 'a chosen order').length / heads.length;
    expect(share).toBeGreaterThan(0.26);
    expect(share).toBeLessThan(0.34);
    expect(new Set(heads)).toEqual(new Set(['a chosen order', 'b chosen fallback']));
  });
});

describe('hard filters', () => {
  const lacking: ReadonlyArray<readonly [string, TargetPlan, Partial<RoutedRequest>]> = [
    ['tools', { name: 'b', takes: { tools: false } }, { needs: { ...NO_NEEDS, tools: true } }],
    ['images', { name: 'b', takes: { image: false } }, { needs: { ...NO_NEEDS, image: true } }],
    ['audio', { name: 'b', takes: { audio: false } }, { needs: { ...NO_NEEDS, audio: true } }],
    ['files', { name: 'b', takes: { pdf: false } }, { needs: { ...NO_NEEDS, pdf: true } }],
    ['format', { name: 'b', speaks: 'messages' }, { needs: { ...NO_NEEDS, ownFormat: 'n' } }],
    ['format', { name: 'b', speaks: 'converse' }, { needs: { ...NO_NEEDS, logprobs: true } }],
    ['server_tools', { name: 'b', speaks: 'converse' }, { needs: { ...NO_NEEDS, serverTool: 'tools.0' } }],
    ['server_tools', { name: 'b', speaks: 'messages' }, { needs: { ...NO_NEEDS, serverTool: 'web_search_options' } }],
    ['issuer', { name: 'b', speaks: 'messages' }, { needs: { ...NO_NEEDS, storedItem: 'messages.0.content' } }],
    ['tag', { name: 'b' }, { tags: ['eu'] }],
    ['price', { name: 'b', price: null }, { mustBePriced: true }],
  ];

  test.each(lacking)('a target known to lack %s is filtered', (reason, target, request) => {
    const route = makeRoute([target, { name: 'able', tags: ['eu', 'zdr'], firstParty: true }]);
    expect(chosen({ route, request })).toEqual(['able chosen order', `b filtered ${reason}`]);
  });

  test.each(lacking)('no target with %s is an error of its own', (reason, target, request) => {
    const failure = failureOf(() => chosen({ route: makeRoute([target]), request }));
    const kind = reason === 'tag' ? 'model_forbidden' : reason === 'price' ? 'unpriced' : 'invalid_request';
    expect(failure.kind).toBe(kind);
  });

  test('Gemini has log probabilities, and the error names them where no target has', () => {
    const request = { needs: { ...NO_NEEDS, logprobs: true } };
    expect(chosen({ route: makeRoute([{ name: 'a', speaks: 'gemini' }]), request })).toEqual(['a chosen order']);
    const failure = failureOf(() => chosen({ route: makeRoute([{ name: 'a', speaks: 'messages' }]), request }));
    expect(failure.details.param).toBe('logprobs');
  });

  test('the error names the member and the feature', () => {
    const route = makeRoute([
      { name: 'a', takes: { tools: false } },
      { name: 'b', tags: [], takes: { tools: false } },
    ]);
    const failure = failureOf(() => chosen({ route, request: { needs: { ...NO_NEEDS, tools: true }, tags: ['eu'] } }));
    expect(failure.message).toBe(
      'tools: no target of the model "m" takes tools; leave it out, or choose another model',
    );
    expect(failure.details.param).toBe('tools');
  });

  test('a target that came further decides the error', () => {
    const route = makeRoute([{ name: 'a', takes: { tools: false }, tags: ['eu'] }, { name: 'b' }]);
    const failure = failureOf(() => chosen({ route, request: { needs: { ...NO_NEEDS, tools: true }, tags: ['eu'] } }));
    expect(failure.kind).toBe('model_forbidden');
    expect(failure.message).toContain('(eu)');
  });

  test('unknown counts as present', () => {
    const needs = { ...NO_NEEDS, tools: true, image: true, audio: true, pdf: true };
    expect(chosen({ request: { needs } })[0]).toBe('a chosen order');
  });
});

describe('preferences that only order', () => {
  test.each([
    ['reasoning', { takes: { reasoning: false } }, { needs: { ...NO_NEEDS, reasoning: true } }],
    ['a schema', { takes: { structured_output: false } }, { needs: { ...NO_NEEDS, schema: true } }],
    ['a long prompt', { inputTokensMax: 900 }, {}],
  ] as const)('%s', (_, plan, request) => {
    const route = makeRoute([{ name: 'a', ...plan }, { name: 'b' }, { name: 'c', priority: 2 }]);
    expect(chosen({ route, request })).toEqual(['b chosen fallback', 'a fallback fallback', 'c fallback fallback']);
  });

  test('a prompt that cannot fit goes to the next group first', () => {
    const route = makeRoute([
      { name: 'a', inputTokensMax: 700 },
      { name: 'c', priority: 2 },
    ]);
    expect(chosen({ route })).toEqual(['c chosen fallback', 'a fallback fallback']);
  });
});

describe('pins', () => {
  /** A conversation that `b` answered at 0. */
  function pinned(
    route: Route,
    health: (states: SetStates) => void,
    nowMs = 1_000,
    request: Partial<RoutedRequest> = {},
  ) {
    const made = makeState();
    const target = route.targets.find(({ name }) => name === 'b');
    if (target === undefined) throw new Error('expected a target');
    made.state.affinity.pin(7, target, 0, 'fallback', 0, PIN_MS);
    health(made.health);
    return choose(route, makeRequest({ conversation: 7, ...request }), made.state, nowMs, 1);
  }
  const healthy = () => undefined;

  test('a live pin comes first, an old one does not count', () => {
    expect(words(pinned(makeRoute(THREE), healthy))[0]).toBe('b chosen pin');
    expect(words(pinned(makeRoute(THREE), healthy, PIN_MS))[0]).toBe('a chosen order');
  });

  test('a pin never stands against a filter', () => {
    const route = makeRoute([{ name: 'a' }, { name: 'b', takes: { tools: false } }]);
    const request = { needs: { ...NO_NEEDS, tools: true } };
    expect(words(pinned(route, healthy, 1_000, request))).toEqual(['a chosen order', 'b filtered tools']);
  });

  test('a pinned credential that cools for two seconds is waited for, for longer it is not', () => {
    const cooling = (until: number) => (states: SetStates) => states.set('b', { verdicts: ['cooling'], until });
    const [waits] = pinned(makeRoute(THREE), cooling(3_000));
    expect(waits).toMatchObject({ verdict: 'chosen', why: 'pin', credential: 0, notBeforeMs: 3_000 });
    expect(words(pinned(makeRoute(THREE), cooling(3_001)))).toEqual([
      'a chosen pin_cooling',
      'c fallback fallback',
      'b skipped cooling',
    ]);
  });

  test('a target whose provider or model changed has no pins, the others keep theirs', () => {
    const made = makeState();
    const before = makeRoute(THREE);
    for (const [key, target] of before.targets.entries()) made.state.affinity.pin(key, target, 0, 'order', 0, PIN_MS);
    const after = makeRoute([
      { name: 'a', model: 'other' },
      { name: 'b', weight: 3 },
      { name: 'c', priority: 2 },
    ]);
    const heads = [0, 1, 2].map(
      (conversation) => words(choose(after, makeRequest({ conversation }), made.state, 1, 1))[0],
    );
    expect(heads).toEqual(['a chosen order', 'b chosen pin', 'c chosen pin']);
  });

  describe('return to an earlier target', () => {
    // Per turn of 1,000 tokens here $0.0001 × cacheRead; cold there: input − cacheRead.
    const route = (here: number, there: number) =>
      makeRoute([
        { name: 'a', price: [1, there, 0] },
        { name: 'b', price: [1, here, 0] },
      ]);

    test.each([
      ['ten turns save as much as the cold cache costs', 0.19, 0.1, false],
      ['ten turns save more', 0.2, 0.1, true],
      ['the same price', 0.1, 0.1, false],
    ])('%s', (_, here, there, returns) => {
      const [head] = words(pinned(route(here, there), healthy));
      expect(head).toBe(returns ? 'a chosen order' : 'b chosen pin');
    });

    test('only after a minute without a trip', () => {
      const closed = (closedMs: number) => (states: SetStates) => states.set('a', { closedMs });
      expect(words(pinned(route(0.9, 0.1), closed(59_999)))[0]).toBe('b chosen pin');
      expect(words(pinned(route(0.9, 0.1), closed(60_000)))[0]).toBe('a chosen order');
    });

    test('not to a target that the strategy does not prefer', () => {
      const weighted = { ...route(0.9, 0.1), routing: makeRoute(THREE, { strategy: 'weight' }).routing };
      expect(words(pinned(weighted, healthy))[0]).toBe('b chosen pin');
    });
  });

  test('signatures keep their issuer although the pin is over', () => {
    const marks = { signed: true, marksCache: false, longCache: false };
    expect(words(pinned(makeRoute(THREE), healthy, PIN_MS, { marks }))[0]).toBe('b chosen fallback');
  });
});

test('a route with one target and one credential has a prepared list', () => {
  const route = makeRoute([{ name: 'a' }]);
  expect(onlyCandidate(route)).toBe(onlyCandidate(route));
  const [candidate] = choose(route, makeRequest(), makeState().state, 0, 1);
  expect<readonly Candidate[] | null>(onlyCandidate(route)).toEqual(candidate === undefined ? null : [candidate]);
  expect(onlyCandidate(makeRoute([{ name: 'a', credentials: [{}, {}] }]))).toBeNull();
});

describe('a route by order whose targets all can and may take the call', () => {
  test('has a prepared list, until something speaks against one of them', () => {
    const route = makeRoute([
      { name: 'a', priority: 2 },
      { name: 'b', takes: { tools: false } },
      { name: 'c', weight: 0 },
    ]);
    const { state, health } = makeState();
    const call = (given: Partial<RoutedRequest> = {}) => choose(route, makeRequest(given), state, 0, 1);
    expect(words(call())).toEqual(['b chosen order', 'c fallback fallback', 'a fallback fallback']);
    expect(call({ conversation: 7 })).toBe(call());
    state.affinity.pin(7, route.targets[0], 0, 'order', 0, PIN_MS);
    expect(words(call({ conversation: 7 }))[0]).toBe('a chosen pin');
    expect(words(call({ needs: { ...NO_NEEDS, tools: true } })).at(-1)).toBe('b filtered tools');
    health.set('c', { sharePart: 0.5 });
    expect(call()).not.toBe(call());
  });

  test('is chosen as every other', () => {
    const target = fc.record({
      priority: fc.integer({ min: 1, max: 2 }),
      weight: fc.option(fc.integer({ min: 0, max: 1 })),
      takes: fc.record({ tools: fc.constantFrom(null, true, false), reasoning: fc.constantFrom(null, true, false) }),
      inputTokensMax: fc.constantFrom(null, null, null, 500, 5_000),
      maxConcurrency: fc.constantFrom(null, 3),
    });
    const needs = fc.record({ tools: fc.boolean(), reasoning: fc.boolean() });
    let prepared = 0;
    fc.assert(
      fc.property(fc.array(target, { minLength: 2, maxLength: 4 }), needs, fc.nat(), (targets, given, seed) => {
        const { state } = makeState();
        const route = makeRoute(targets.map((one, index) => ({ ...one, name: `t${index}` })));
        const request = makeRequest({ needs: { ...NO_NEEDS, ...given } });
        const usual = usualCandidates(route, request, state, 0);
        if (usual === null) return;
        prepared += 1;
        expect(usual).toEqual(
          judgeTargets(route, request, state, 0, seed).judged.flatMap(({ candidate }) =>
            isUsable(candidate) ? [candidate] : [],
          ),
        );
      }),
      { numRuns: runsOf(500) },
    );
    expect(prepared).toBeGreaterThan(10);
  });
});

describe('for every choice', () => {
  const verdict = fc.constantFrom('usable', 'probe', 'open', 'cooling', 'benched');
  const target = fc.record({
    priority: fc.integer({ min: 1, max: 3 }),
    weight: fc.option(fc.integer({ min: 0, max: 5 })),
    tags: fc.subarray(['eu', 'zdr']),
    takes: fc.record({ tools: fc.option(fc.boolean()), image: fc.option(fc.boolean()) }),
    price: fc.option(fc.constantFrom([1, 0.1, 5] as const, [3, 0.3, 15] as const)),
    credentials: fc.array(fc.record({ weight: fc.integer({ min: 0, max: 2 }) }), { minLength: 1, maxLength: 3 }),
    verdicts: fc.array(verdict, { minLength: 1, maxLength: 3 }),
    expected: fc.option(fc.integer({ min: 1, max: 9_000 })),
    sharePart: fc.constantFrom(1, 0.5),
  });
  const request = fc.record({
    needs: fc.record({ tools: fc.boolean(), image: fc.boolean() }).map((needs) => ({ ...NO_NEEDS, ...needs })),
    tags: fc.subarray(['eu', 'zdr']),
    mustBePriced: fc.boolean(),
    conversation: fc.option(fc.nat()),
  });
  const choice = fc.record({
    targets: fc.array(target, { minLength: 1, maxLength: 6 }),
    strategy: fc.constantFrom('order', 'weight', 'latency', 'price'),
    request,
    pinnedTo: fc.nat({ max: 5 }),
    seed: fc.nat(),
  });

  test('every target once, no usable one against a filter or its state, and the same seed gives the same order', () => {
    fc.assert(
      fc.property(choice, ({ targets, strategy, request, pinnedTo, seed }) => {
        const { state, health } = makeState();
        const route = makeRoute(
          targets.map((one, index) => ({ ...one, name: `t${index}` })),
          { strategy },
        );
        for (const [index, { verdicts, expected, sharePart }] of targets.entries()) {
          health.set(`t${index}`, { verdicts, expected, sharePart, until: 5_000 });
        }
        const called = makeRequest(request);
        const pinTarget = route.targets[pinnedTo];
        if (called.conversation !== null && pinTarget !== undefined) {
          state.affinity.pin(called.conversation, pinTarget, 0, 'order', 0, PIN_MS);
        }
        const filtered = (name: string) => {
          const plan = targets[Number(name.slice(1))];
          return (
            plan === undefined ||
            (called.needs?.tools === true && plan.takes.tools === false) ||
            (called.needs?.image === true && plan.takes.image === false) ||
            called.tags.some((tag) => !plan.tags.includes(tag as 'eu')) ||
            (called.mustBePriced && plan.price === null)
          );
        };
        const names = route.targets.map(({ name }) => name);
        if (names.every(filtered)) {
          expect(failureOf(() => choose(route, called, state, 1, seed)).kind).toMatch(/invalid|forbidden|unpriced/);
          return;
        }
        const candidates = choose(route, called, state, 1, seed);
        expect(candidates.map((one) => one.target.name).sort()).toEqual([...names].sort());
        expect(candidates).toEqual(choose(route, called, state, 1, seed));
        const usable = candidates.filter(isUsable);
        const limps = usable.some(({ why }) => why === 'limp');
        for (const [place, candidate] of candidates.entries()) {
          expect(isUsable(candidate)).toBe(place < usable.length);
          expect(candidate.verdict === 'filtered').toBe(filtered(candidate.target.name));
        }
        for (const { target, credential, credentials, verdict } of usable) {
          expect(credential).toBe(credentials[0] ?? -1);
          const states = credentials.map((one) => health.of(target).verdict(one));
          expect(states.every((one) => (limps ? one === 'open' : one === 'usable' || one === 'probe'))).toBe(true);
          expect(verdict === 'chosen').toBe(target === usable[0]?.target);
        }
      }),
      { numRuns: runsOf(500) },
    );
  });
});
