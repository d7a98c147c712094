/**
 * Joins what follows the ends of calls: metrics, traces and the request log. One source for both outputs of metrics:
 * `/metrics` and OTLP.
 */
import type { Payer } from '../billing/who-pays.ts';
import type { CallObserver, CountRecord } from '../call/call-observer.ts';
import type { OtlpConfig, TelemetryConfig } from '../config/telemetry-config.ts';
import type { Sample, TraceContext } from '../lib/trace-context.ts';
import type { CallRecord } from '../store/ports/records.ts';
import type { OnCommit } from '../store/ports/store.ts';
import type { LineWriter } from './line-writer.ts';
import type { Log } from './log.ts';
import { CallCounter, type NameVendor } from './metrics/call-counter.ts';
import { defineGatewayMetrics, type GatewayState } from './metrics/gateway-metrics.ts';
import { watchProcess } from './metrics/process-metrics.ts';
import { counter, histogram, MetricRegistry } from './metrics/registry.ts';
import { CONTENT_TYPES, chooseFormat, renderMetrics } from './metrics/render-text.ts';
import type { OtlpExport } from './otlp/otlp-export.ts';
import type { PostBytes } from './otlp/otlp-sender.ts';
import { RequestLog } from './request-lines.ts';

interface TelemetryParts {
  readonly config: TelemetryConfig;
  readonly version: string;
  readonly startedAtMs: number;
  readonly log: Log;
  /** Where `log` writes. */
  readonly lines: LineWriter;
  readonly vendorOf: NameVendor;
  /** Sends one export to a collector. */
  readonly post: PostBytes;
}

export interface Telemetry {
  readonly observer: CallObserver;
  /** Null: nothing is traced. */
  readonly sampleTrace: Sample | null;
  readonly onCommit: OnCommit;
  readonly registry: MetricRegistry;
  /** Defines the metrics of the gateway's parts, once they exist. */
  watch(read: () => GatewayState): void;
  /** One scrape. */
  render(accept: string | null): { readonly contentType: string; readonly text: string };
  /** Applies a reload: the log's settings. What is sent to a collector changes at the next start. */
  reconfigure(config: TelemetryConfig): void;
  /** Sends what waits; the log is closed by its owner. */
  close(): Promise<void>;
}

export async function openTelemetry(parts: TelemetryParts): Promise<Telemetry> {
  const { config, log, lines } = parts;
  const registry = new MetricRegistry();
  const stopWatching = watchProcess(registry, parts);
  const counter = new CallCounter(registry, parts.vendorOf);
  const onCommit = countCommits(registry);
  const requestLog = new RequestLog(lines);
  let logsRequests = false;
  registry.read(DROPPED_LINES, (add) => add(lines.dropped));
  const otlp = config.otlp === null ? null : await openOtlp(config.otlp, registry, parts);
  const configure = ({ logLevel, requestLog: isOn }: TelemetryConfig) => {
    log.level = logLevel;
    logsRequests = isOn && log.isLevelEnabled('info');
  };
  configure(config);
  const report = (record: CallRecord | CountRecord, model: string | null, payer: Payer, trace: TraceContext | null) => {
    if (logsRequests) requestLog.add({ record, model, payer });
    if (trace !== null) otlp?.addCall(record, model, trace);
  };
  return {
    observer: {
      ended(record, model, payer, trace) {
        counter.count(record, model, payer);
        report(record, model, payer, trace);
      },
      counted(record, model, trace) {
        counter.countUncharged(record, model);
        report(record, model, 'account', trace);
      },
      turnedAway: (kind) => counter.countTurnedAway(kind),
    },
    sampleTrace: otlp?.sample ?? null,
    onCommit,
    registry,
    watch: (read) => defineGatewayMetrics(registry, read),
    render(accept) {
      const format = chooseFormat(accept);
      return { contentType: CONTENT_TYPES[format], text: renderMetrics(registry.collect(), format) };
    },
    reconfigure: configure,
    async close() {
      stopWatching();
      await otlp?.close();
    },
  };
}

const DROPPED_LINES = counter(
  'tollgate.log.dropped',
  '{line}',
  'Lines of the log that were dropped because their reader was too slow.',
);

const COMMITS = histogram(
  'tollgate.journal_commit.duration',
  's',
  'Time in which the disk made a block of the journal durable.',
  [],
  [0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
);

/** Counts group commits from now on. */
function countCommits(registry: MetricRegistry): OnCommit {
  const family = registry.family(COMMITS);
  const index = family.series();
  return (durationMs) => family.observe(index, durationMs / 1_000);
}

/** Imported only here: the packages behind it take memory and time to start. */
async function openOtlp(config: OtlpConfig, registry: MetricRegistry, parts: TelemetryParts): Promise<OtlpExport> {
  const { startOtlp } = await import('./otlp/otlp-export.ts');
  return startOtlp({ ...parts, config, registry });
}
