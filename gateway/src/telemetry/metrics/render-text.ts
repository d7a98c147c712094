/**
 * Renders metrics for Prometheus: its text format 0.0.4, or OpenMetrics 1.0
 * (https://prometheus.io/docs/instrumenting/exposition_formats/, https://prometheus.io/docs/specs/om/open_metrics_spec/,
 * read 2026-11-22). Names follow OpenTelemetry's rules for Prometheus
 * (https://opentelemetry.io/docs/specs/otel/compatibility/prometheus_and_openmetrics/, read 2026-11-22).
 */
import type { MetricSpec, ReadFamily, Sample } from './registry.ts';

export type TextFormat = 'prometheus' | 'openmetrics';

export const CONTENT_TYPES: { readonly [format in TextFormat]: string } = {
  prometheus: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
};

/** The format that an `accept` header asks for. */
export function chooseFormat(accept: string | null): TextFormat {
  return accept?.includes('application/openmetrics-text') === true ? 'openmetrics' : 'prometheus';
}

/** The word that follows a name for its unit. Units in braces only annotate. */
const UNIT_WORDS: { readonly [unit: string]: string } = { s: 'seconds', By: 'bytes', USD: 'usd', '1': 'ratio' };

/** The metric's name for Prometheus, `_total` included. */
export function prometheusName({ name, unit, type }: Pick<MetricSpec, 'name' | 'unit' | 'type'>): string {
  const base = name.replaceAll('.', '_');
  const word = UNIT_WORDS[unit];
  const withUnit = word === undefined || base.endsWith(`_${word}`) ? base : `${base}_${word}`;
  return type === 'counter' ? `${withUnit}_total` : withUnit;
}

export function prometheusLabel(name: string): string {
  return name.replaceAll('.', '_');
}

/** The whole answer to one scrape. Metrics without a series are left out. */
export function renderMetrics(families: readonly ReadFamily[], format: TextFormat): string {
  let text = '';
  for (const family of families) if (family.samples.length > 0) text += renderFamily(family, format);
  return format === 'openmetrics' ? `${text}# EOF\n` : text;
}

function renderFamily({ spec, samples }: ReadFamily, format: TextFormat): string {
  const name = prometheusName(spec);
  // OpenMetrics names a counter's family without the suffix of its samples.
  const family = format === 'openmetrics' && spec.type === 'counter' ? name.slice(0, -'_total'.length) : name;
  let text = `# HELP ${family} ${escapeHelp(spec.help)}\n# TYPE ${family} ${spec.type}\n`;
  const labels = spec.labels.map(prometheusLabel);
  for (const sample of samples) {
    const own = labels.map((label, index) => `${label}="${escapeLabel(sample.labels[index] ?? '')}"`).join(',');
    text += sample.counts === null ? line(name, own, sample.value) : renderHistogram(name, own, spec, sample);
  }
  return text;
}

function renderHistogram(name: string, labels: string, { bounds = [] }: MetricSpec, { value, counts }: Sample): string {
  const comma = labels === '' ? '' : ',';
  let text = '';
  let seen = 0;
  for (const [index, count] of (counts ?? []).entries()) {
    seen += count;
    const bound = bounds[index];
    text += line(`${name}_bucket`, `${labels}${comma}le="${bound === undefined ? '+Inf' : renderBound(bound)}"`, seen);
  }
  return text + line(`${name}_sum`, labels, value) + line(`${name}_count`, labels, seen);
}

/** OpenMetrics wants a bound to be written as a float. */
function renderBound(bound: number): string {
  return Number.isInteger(bound) ? `${bound}.0` : String(bound);
}

function line(name: string, labels: string, value: number): string {
  return labels === '' ? `${name} ${renderValue(value)}\n` : `${name}{${labels}} ${renderValue(value)}\n`;
}

function renderValue(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value);
}

function escapeLabel(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}
