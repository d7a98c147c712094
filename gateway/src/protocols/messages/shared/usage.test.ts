/** Tests usage.ts: the last value wins, cache writes are separated by TTL, iterations replace totals. */
import { describe, expect, test } from 'bun:test';
import { EMPTY_TALLY, reportedUsageOf, tallyUsage, usageOf } from './usage.ts';

/** The counters after these usage objects, in order. */
function tallied(...usages: readonly unknown[]) {
  return usageOf(usages.reduce(tallyUsage, EMPTY_TALLY));
}

describe('the usage of an answer', () => {
  test('has disjoint counters; one-hour cache writes are separate', () => {
    const usage = {
      input_tokens: 10,
      output_tokens: 20,
      cache_read_input_tokens: 300,
      cache_creation_input_tokens: 70,
      cache_creation: { ephemeral_5m_input_tokens: 30, ephemeral_1h_input_tokens: 40 },
      output_tokens_details: { thinking_tokens: 5 },
    };
    expect(tallied(usage)).toEqual({
      input: 10,
      cache_read: 300,
      cache_write_5m: 30,
      cache_write_1h: 40,
      output: 20,
      reasoning: 5,
    });
  });

  test('never has more one-hour cache writes than writes, nor more thinking than output', () => {
    const usage = {
      input_tokens: 1,
      output_tokens: 2,
      cache_creation_input_tokens: 3,
      cache_creation: { ephemeral_1h_input_tokens: 9 },
      output_tokens_details: { thinking_tokens: 7 },
    };
    expect(tallied(usage)).toMatchObject({ cache_write_5m: 0, cache_write_1h: 3, reasoning: 2 });
  });

  test('has the split of cache writes if no total is stated', () => {
    const cache_creation = { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 300 };
    const usage = { input_tokens: 1, output_tokens: 2, cache_creation };
    expect(tallied(usage)).toMatchObject({ cache_write_5m: 100, cache_write_1h: 300 });
    expect(tallied({ ...usage, cache_creation_input_tokens: null })).toMatchObject({ cache_write_5m: 100 });
    expect(tallied({ ...usage, cache_creation_input_tokens: 500 })).toMatchObject({ cache_write_5m: 200 });
  });

  test.each([
    [{ output_tokens: 1 }],
    [{ input_tokens: 1 }],
    [{ input_tokens: -1, output_tokens: 1 }],
    [{ input_tokens: 1, output_tokens: 1.5 }],
    [{ input_tokens: '1', output_tokens: 1 }],
    [null],
    [[]],
  ])('is absent if input or output is invalid: %j', (usage) => {
    expect(tallied(usage)).toBeNull();
  });
});

describe('tools that ran upstream', () => {
  const totals = { input_tokens: 3, output_tokens: 4 };

  test('are counted by kind, the last number of each, 0 too', () => {
    const first = { ...totals, server_tool_use: { web_search_requests: 1, web_fetch_requests: 2 } };
    const last = { server_tool_use: { web_search_requests: 3, web_fetch_requests: 0 } };
    expect(tallied(first)?.extras).toEqual({ server_tools: { web_search: 1, web_fetch: 2 } });
    expect(tallied(first, last)?.extras).toEqual({ server_tools: { web_search: 3 } });
    expect(tallied(first, { server_tool_use: null })?.extras).toEqual({
      server_tools: { web_search: 1, web_fetch: 2 },
    });
  });

  test('are kept with the tokens of iterations, and absent if none ran', () => {
    const iterations = [totals, totals].map((one) => ({ type: 'message', ...one }));
    const server_tool_use = { web_search_requests: 2, tool_search_requests: 1 };
    expect(tallied({ ...totals, iterations, server_tool_use })).toMatchObject({
      input: 6,
      extras: { server_tools: { web_search: 2, tool_search: 1 } },
    });
    expect(tallied({ ...totals, server_tool_use: { web_search_requests: 0 } })).not.toHaveProperty('extras');
  });
});

describe('the tier of the answer', () => {
  const totals = { input_tokens: 3, output_tokens: 4 };

  test('a tier other than the list price is kept; the last one counts', () => {
    expect(tallied({ ...totals, service_tier: 'standard', inference_geo: 'global' })).not.toHaveProperty('extras');
    expect(tallied({ ...totals, speed: 'fast', inference_geo: 'us' })?.extras).toEqual({
      tier: { speed: 'fast', inference_geo: 'us' },
    });
    expect(tallied({ ...totals, speed: 'fast' }, { speed: 'standard' })).not.toHaveProperty('extras');
  });

  test.each([[5], [['fast']], [{ fast: true }], ['fast\u0000'], ['x'.repeat(99)]])(
    'is none where it is no word: %j',
    (speed) => {
      expect(tallied({ ...totals, speed })).not.toHaveProperty('extras');
    },
  );
});

describe('the usage of a stream', () => {
  test.each([
    { input_tokens: 0, output_tokens: 30 },
    { input_tokens: 0, output_tokens: 30, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 },
    {
      input_tokens: 0,
      output_tokens: 30,
      cache_read_input_tokens: 0,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
    },
  ])('keeps a prompt that was counted where the total has only zeros for it: %j', (last) => {
    const start = {
      input_tokens: 9,
      output_tokens: 1,
      cache_read_input_tokens: 8,
      cache_creation_input_tokens: 7,
      cache_creation: { ephemeral_1h_input_tokens: 3 },
    };
    expect(tallied(start, last)).toEqual({
      input: 9,
      cache_read: 8,
      cache_write_5m: 4,
      cache_write_1h: 3,
      output: 30,
      reasoning: 0,
    });
  });

  test('corrects an estimate to a prompt that was read from the cache as a whole', () => {
    const last = { input_tokens: 0, output_tokens: 3, cache_read_input_tokens: 90 };
    expect(tallied({ input_tokens: 100, output_tokens: 0 }, last)).toMatchObject({ input: 0, cache_read: 90 });
  });

  test('overwrites with every later number, adds nothing, and keeps values for null', () => {
    const start = { input_tokens: 50, output_tokens: 1, cache_read_input_tokens: 8 };
    const late = { input_tokens: null, output_tokens: 30, cache_read_input_tokens: null };
    expect(tallied(start, { output_tokens: 10 }, late)).toMatchObject({ input: 50, output: 30, cache_read: 8 });
    expect(tallied(start, { input_tokens: 60, output_tokens: 2 })).toMatchObject({ input: 60, output: 2 });
  });

  test('a total of cache writes that is later than its split replaces it', () => {
    const cache_creation = { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 4 };
    const start = { input_tokens: 5, output_tokens: 1, cache_creation_input_tokens: 7, cache_creation };
    const reported = reportedUsageOf(
      [start, { output_tokens: 9, cache_creation_input_tokens: 20 }].reduce(tallyUsage, EMPTY_TALLY),
    );
    expect(reported).toMatchObject({ usage: { cache_write_5m: 16, cache_write_1h: 4 }, flags: [] });
  });

  test('holds no more once a counter was invalid', () => {
    expect(tallied({ input_tokens: 1, output_tokens: -2 }, { output_tokens: 5 })).toBeNull();
  });
});

describe('iterations', () => {
  const totals = { input_tokens: 30, output_tokens: 6 };
  const one = (type: string, input_tokens: number, output_tokens: number, more: object = {}) => ({
    type,
    input_tokens,
    output_tokens,
    ...more,
  });

  test('are summed in the place of totals that leave compaction and advisors out', () => {
    const hour = { cache_creation_input_tokens: 9, cache_creation: { ephemeral_1h_input_tokens: 4 } };
    const iterations = [one('compaction', 100, 131, hour), one('message', 30, 6), one('advisor_message', 7, 3)];
    expect(tallied({ ...totals, iterations, output_tokens_details: { thinking_tokens: 2 } })).toMatchObject({
      input: 137,
      cache_read: 0,
      cache_write_5m: 5,
      cache_write_1h: 4,
      output: 140,
      reasoning: 2,
    });
  });

  test('are summed where there is one: a paused compaction is all that was used', () => {
    const nothing = { input_tokens: 0, output_tokens: 0 };
    expect(tallied({ ...nothing, iterations: [one('compaction', 61_000, 700)] })).toEqual({
      input: 61_000,
      cache_read: 0,
      cache_write_5m: 0,
      cache_write_1h: 0,
      output: 700,
      reasoning: 0,
    });
  });

  test('are parts of the counters, each with the model that it names', () => {
    const advisor = one('advisor_message', 7, 3, { model: 'claude-opus-4-8' });
    const usage = tallied({ ...totals, iterations: [one('message', 30, 6), advisor] });
    expect(usage).toMatchObject({ input: 37, output: 9 });
    expect(usage?.extras?.parts).toMatchObject([
      { input: 30, output: 6 },
      { model: 'claude-opus-4-8', input: 7, output: 3 },
    ]);
  });

  test('tokens of a try that was declined after its start are charged in addition to the fallback’s', () => {
    const iterations = [
      one('message', 99, 12, { model: 'a' }),
      one('fallback_message', 40, 0, { model: 'b' }),
      one('fallback_message', 30, 6, { model: 'c' }),
    ];
    const usage = tallied({ ...totals, iterations });
    expect(usage).toMatchObject({ input: 129, output: 18 });
    expect(usage?.extras?.parts?.map(({ model }) => model)).toEqual(['a', 'c']);
  });

  test('never sum to less than the totals: the rest belongs to the last iteration', () => {
    const iterations = [one('message', 1, 1, { model: 'a' }), one('message', 1, 1, { model: 'b' })];
    const usage = tallied({ ...totals, iterations });
    expect(usage).toMatchObject({ input: 30, output: 6 });
    expect(usage?.extras?.parts).toMatchObject([
      { input: 1, output: 1 },
      { input: 29, output: 5 },
    ]);
  });

  test('more iterations than allowed are merged by model', () => {
    const iterations = Array.from({ length: 1_000 }, (_, nth) => one('message', 1, 1, { model: `m${nth % 3}` }));
    const usage = tallied({ ...totals, iterations });
    expect(usage).toMatchObject({ input: 1_000, output: 1_000 });
    expect(usage?.extras?.parts).toHaveLength(3);
  });

  test.each([
    ['a single one says what the totals say', [one('message', 1, 1)]],
    ['a declined try before a fallback is not charged', [one('message', 99, 0), one('fallback_message', 30, 6)]],
    ['one that does not hold makes all of them not hold', [one('message', 1, 1), one('message', -1, 1)]],
    ['what is no list of objects is none', [null, 1]],
  ])('%s', (_, iterations) => {
    expect(tallied({ ...totals, iterations })).toMatchObject({ input: 30, output: 6 });
  });

  test('inside iterations are not followed', () => {
    const nested = one('message', 1, 1, { iterations: [one('message', 50, 50), one('message', 50, 50)] });
    const small = { input_tokens: 1, output_tokens: 1 };
    expect(tallied({ ...small, iterations: [nested, nested] })).toMatchObject({ input: 2, output: 2 });
  });
});

describe('usage anomalies', () => {
  const main = { input_tokens: 10, output_tokens: 20 };
  const iteration = { type: 'message', input_tokens: 10, output_tokens: 20, cache_read_input_tokens: 5 };
  const split = { cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 300 } };

  test.each([
    ['nothing', main, []],
    ['thinking within the output', { ...main, output_tokens_details: { thinking_tokens: 20 } }, []],
    ['more thinking than output', { ...main, output_tokens_details: { thinking_tokens: 21 } }, ['reasoning']],
    [
      'more written for an hour than written',
      { ...main, cache_creation_input_tokens: 0, cache_creation: { ephemeral_1h_input_tokens: 1 } },
      ['cached'],
    ],
    ['less written than its split', { ...main, cache_creation_input_tokens: 399, ...split }, ['sum']],
    ['as much written as its split', { ...main, cache_creation_input_tokens: 400, ...split }, []],
    ['more written than its split', { ...main, cache_creation_input_tokens: 500, ...split }, ['sum']],
    ['a split alone', { ...main, ...split }, []],
    [
      'a part of the split alone',
      { ...main, cache_creation_input_tokens: 500, cache_creation: { ephemeral_1h_input_tokens: 300 } },
      [],
    ],
    ['totals that leave out an iteration', { ...main, iterations: [iteration, iteration] }, []],
    ['more input than all iterations', { ...main, input_tokens: 21, iterations: [iteration, iteration] }, ['sum']],
    ['more output than all iterations', { ...main, output_tokens: 41, iterations: [iteration, iteration] }, ['sum']],
    [
      'more read from a cache than in all iterations',
      { ...main, cache_read_input_tokens: 11, iterations: [iteration, iteration] },
      ['sum'],
    ],
  ] as const)('%s', (_, usage, flags) => {
    expect(reportedUsageOf(tallyUsage(EMPTY_TALLY, usage))?.flags).toEqual([...flags]);
  });
});
