/** Tests the names of metrics and both text formats. */
import { expect, test } from 'bun:test';
import { MetricRegistry, type MetricSpec } from './registry.ts';
import { chooseFormat, prometheusLabel, prometheusName, renderMetrics } from './render-text.ts';

const COUNTER: MetricSpec = {
  name: 'a.things',
  unit: '{thing}',
  help: 'Things.',
  type: 'counter',
  labels: ['of.kind'],
};
const TIMES: MetricSpec = {
  name: 'a.time',
  unit: 's',
  help: 'Times.',
  type: 'histogram',
  labels: ['x'],
  bounds: [0.5, 1],
};

test('names get the word of their unit once, and counters their suffix', () => {
  expect(prometheusName(COUNTER)).toBe('a_things_total');
  expect(prometheusName(TIMES)).toBe('a_time_seconds');
  expect(prometheusName({ name: 'x.cost', unit: 'USD', type: 'counter' })).toBe('x_cost_usd_total');
  expect(prometheusName({ name: 'x.seconds', unit: 's', type: 'gauge' })).toBe('x_seconds');
  expect(prometheusLabel('error.type')).toBe('error_type');
});

function filled(): MetricRegistry {
  const registry = new MetricRegistry();
  const things = registry.family(COUNTER);
  things.add(things.series('a "quoted"\\name\n'), 2);
  const times = registry.family(TIMES);
  const index = times.series('y');
  for (const value of [0.5, 0.6, 9]) times.observe(index, value);
  registry.family({ ...COUNTER, name: 'never.seen' });
  registry.read({ name: 'now', unit: '', help: 'Now.', type: 'gauge', labels: [] }, (add) => add(3));
  return registry;
}

test('the text format: cumulative buckets, escaped labels, nothing of a metric without a series', () => {
  expect(renderMetrics(filled().collect(), 'prometheus')).toBe(
    [
      '# HELP a_things_total Things.',
      '# TYPE a_things_total counter',
      'a_things_total{of_kind="a \\"quoted\\"\\\\name\\n"} 2',
      '# HELP a_time_seconds Times.',
      '# TYPE a_time_seconds histogram',
      'a_time_seconds_bucket{x="y",le="0.5"} 1',
      'a_time_seconds_bucket{x="y",le="1.0"} 2',
      'a_time_seconds_bucket{x="y",le="+Inf"} 3',
      'a_time_seconds_sum{x="y"} 10.1',
      'a_time_seconds_count{x="y"} 3',
      '# HELP now Now.',
      '# TYPE now gauge',
      'now 3',
      '',
    ].join('\n'),
  );
});

test('OpenMetrics: counters are named without their suffix, and the end is marked', () => {
  const text = renderMetrics(filled().collect(), 'openmetrics');
  expect(text).toContain('# TYPE a_things counter\na_things_total{');
  expect(text.endsWith('# EOF\n')).toBe(true);
  expect(chooseFormat('application/openmetrics-text;version=1.0.0,text/plain;q=0.5')).toBe('openmetrics');
  expect(chooseFormat('*/*')).toBe('prometheus');
  expect(chooseFormat(null)).toBe('prometheus');
});

test('a series keeps its index while others are added', () => {
  const registry = new MetricRegistry();
  const family = registry.family(COUNTER);
  const indexes = Array.from({ length: 50 }, (_, at) => family.series(String(at)));
  for (const [at, index] of indexes.entries()) family.add(index, at);
  expect(indexes).toEqual(Array.from({ length: 50 }, (_, at) => family.series(String(at))));
  expect(family.samples().map(({ value }) => value)).toEqual(indexes.map((_, at) => at));
  expect(() => family.series('a', 'b')).toThrow('1 labels, not 2');
});
