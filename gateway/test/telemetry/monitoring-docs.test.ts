/** Tests that every query of the dashboard and the alert rules parses and names metrics and labels that exist. */
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FAILURE_KINDS } from '../../src/errors/failure-kinds.ts';
import { prometheusLabel, prometheusName } from '../../src/telemetry/metrics/render-text.ts';
import { ALL_ON, openAllMetrics } from './all-metrics.ts';
import { parsePromql } from './parse-promql.ts';

const DOCS = join(import.meta.dir, '../../../docs');
/** Labels that Prometheus itself adds to every series. */
const SCRAPED = ['job', 'instance'];

const telemetry = await openAllMetrics(ALL_ON, async () => ({
  status: 200,
  retryAfterMs: null,
  body: new Uint8Array(),
}));
const specs = telemetry.registry.collect().map(({ spec }) => spec);
await telemetry.close();

/** Every series name with its labels. */
const known = new Map(
  specs.flatMap((spec): [string, string[]][] => {
    const name = prometheusName(spec);
    const labels = [...spec.labels.map(prometheusLabel), ...SCRAPED];
    if (spec.type !== 'histogram') return [[name, labels]];
    return [
      [`${name}_bucket`, [...labels, 'le']],
      [`${name}_sum`, labels],
      [`${name}_count`, labels],
    ];
  }),
);

interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[];
}

const rules = Bun.YAML.parse(readFileSync(join(DOCS, 'monitoring/alert-rules.yml'), 'utf8')) as Rules;
const alerts = rules.groups.flatMap((group) => group.rules);
const dashboard = JSON.parse(readFileSync(join(DOCS, 'monitoring/grafana-dashboard.json'), 'utf8'));
const panels: { readonly title: string; readonly targets?: readonly { readonly expr: string }[] }[] = dashboard.panels;
const queries = [
  ...alerts.map(({ alert, expr }): [string, string] => [alert, expr]),
  ...panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }): [string, string] => [title, expr])),
];

test('there is something to check', () => {
  expect(alerts.length).toBeGreaterThan(10);
  expect(queries.length).toBeGreaterThan(45);
  expect(known.size).toBeGreaterThan(50);
});

test.each(queries)('%s: %s', (_title, query) => {
  const selectors = parsePromql(query.replaceAll('$job', 'tollgate'));
  expect(selectors.length).toBeGreaterThan(0);
  for (const { metric, labels } of selectors) {
    expect([...known.keys()]).toContain(metric);
    for (const label of labels) expect(known.get(metric) ?? []).toContain(label);
  }
});

test.each(['TollgateErrors', 'Failed'])(
  '%s counts streams that failed after their status 200, if not by the caller',
  (name) => {
    const query = queries.find(([title]) => title === name)?.[1] ?? '';
    const [, status = '', others = ''] = /\{.*status=~"([^"]*)", ?error_type!~"([^"]*)"\}/.exec(query) ?? [];
    const isCounted = (code: string, error: string) =>
      new RegExp(`^(?:${status})$`).test(code) && !new RegExp(`^(?:${others})$`).test(error);
    for (const [kind, { origin }] of Object.entries(FAILURE_KINDS)) {
      if (origin !== 'caller')
        expect([kind, isCounted('200', kind), isCounted('500', kind)]).toEqual([kind, true, true]);
    }
    expect(
      ['', 'client_left', 'reader_too_slow', 'guardrail_blocked'].filter((kind) => isCounted('200', kind)),
    ).toEqual([]);
    const excluded = others.split('|').filter((kind) => kind !== '');
    const callers = Object.entries(FAILURE_KINDS).flatMap(([kind, { origin }]) => (origin === 'caller' ? [kind] : []));
    expect(callers).toEqual(expect.arrayContaining(excluded));
  },
);

test('every series name is one that Prometheus takes, and used by one metric only', () => {
  for (const name of known.keys()) expect(name).toMatch(/^[a-z_][a-z0-9_]*$/);
  expect(new Set(specs.map(prometheusName)).size).toBe(specs.length);
});

test('the guide names every metric with its labels and its meaning, and no other', () => {
  const guide = readFileSync(join(DOCS, 'monitoring.md'), 'utf8');
  for (const spec of specs) {
    const labels = spec.labels.map((label) => `\`${prometheusLabel(label)}\``).join(', ');
    expect(guide).toContain(`| \`${prometheusName(spec)}\` | ${spec.type} | ${labels} | ${spec.help} |`);
  }
  const named = guide.match(/\b(?:tollgate|gen_ai|process)_[a-z_]+(?=`)/g) ?? [];
  const labels = new Set([...known.values()].flat());
  const names = new Set([...known.keys(), ...specs.map(prometheusName)]);
  expect(named.filter((name) => !names.has(name) && !labels.has(name))).toEqual([]);
});

test.each([
  'sum(rate(a[5m])',
  'rate(a)',
  'a[5m]',
  'sum by (x) a',
  'nothing_like_it(a)',
  'a{b=c}',
  'a{b="c"} extra',
  'histogram_quantile(a, 0.9)',
  'a + b[5m]',
  'sum(3)',
])('the parser refuses %s', (query) => {
  expect(() => parsePromql(query)).toThrow();
});

test('the parser reads selectors, and labels around them', () => {
  const [one, other] = parsePromql(
    'sum by (x, y) (rate(a_total{b="c", d!~"e|f"}[5m] offset 1h)) / on (z) group_left 2 * b',
  );
  expect(one).toEqual({ metric: 'a_total', labels: new Set(['b', 'd', 'x', 'y']) });
  expect(other).toEqual({ metric: 'b', labels: new Set() });
});
