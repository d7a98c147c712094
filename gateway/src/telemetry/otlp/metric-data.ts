/** Turns the metrics of the process into OpenTelemetry's data model, cumulative since the start. */
import { type HrTime, ValueType } from '@opentelemetry/api';
import type { ProtobufMetricsSerializer } from '@opentelemetry/otlp-transformer';
import type { Resource } from '@opentelemetry/resources';
import { AggregationTemporality, DataPointType } from '@opentelemetry/sdk-metrics';
import type { ReadFamily, Sample } from '../metrics/registry.ts';

export type ResourceMetrics = Parameters<typeof ProtobufMetricsSerializer.serializeRequest>[0];
type ScopeMetrics = ResourceMetrics['scopeMetrics'][number];
type MetricData = ScopeMetrics['metrics'][number];

interface MetricSource {
  readonly resource: Resource;
  readonly scope: ScopeMetrics['scope'];
  readonly startMs: number;
  readonly nowMs: number;
}

export function buildMetrics(families: readonly ReadFamily[], source: MetricSource): ResourceMetrics {
  const metrics = families.filter(({ samples }) => samples.length > 0).map((family) => buildMetric(family, source));
  return { resource: source.resource, scopeMetrics: [{ scope: source.scope, metrics }] };
}

function buildMetric({ spec, samples }: ReadFamily, { startMs, nowMs }: MetricSource): MetricData {
  const { name, unit, help: description, type, labels, bounds = [] } = spec;
  const base = {
    descriptor: { name, unit, description, valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  const point = (sample: Sample) => ({
    startTime: timeOf(startMs),
    endTime: timeOf(nowMs),
    attributes: Object.fromEntries(
      labels.flatMap((label, index) => (sample.labels[index] ? [[label, sample.labels[index]]] : [])),
    ),
  });
  if (type === 'histogram') {
    const dataPoints = samples.map((sample) => {
      const counts = [...(sample.counts ?? [])];
      const count = counts.reduce((sum, one) => sum + one, 0);
      return { ...point(sample), value: { buckets: { boundaries: [...bounds], counts }, sum: sample.value, count } };
    });
    return { ...base, dataPointType: DataPointType.HISTOGRAM, dataPoints };
  }
  const dataPoints = samples.map((sample) => ({ ...point(sample), value: sample.value }));
  return type === 'counter'
    ? { ...base, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }
    : { ...base, dataPointType: DataPointType.GAUGE, dataPoints };
}

function timeOf(ms: number): HrTime {
  return [Math.floor(ms / 1_000), Math.round((ms % 1_000) * 1e6)];
}
