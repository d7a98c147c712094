/**
 * Exports traces and metrics by OTLP over HTTP: gathers ended requests, encodes them with OpenTelemetry's own
 * serializers, and sends them in the background. A collector that is away costs spans, which are counted, never time.
 */
import {
  JsonMetricsSerializer,
  JsonTraceSerializer,
  ProtobufMetricsSerializer,
  ProtobufTraceSerializer,
} from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes } from '@opentelemetry/resources';
import type { CountRecord } from '../../call/call-observer.ts';
import type { OtlpConfig, OtlpDestination, OtlpSignal, TraceSampling } from '../../config/telemetry-config.ts';
import type { Sample, TraceContext } from '../../lib/trace-context.ts';
import type { CallRecord } from '../../store/ports/records.ts';
import type { Log } from '../log.ts';
import type { NameVendor } from '../metrics/call-counter.ts';
import { counter, type Family, type MetricRegistry } from '../metrics/registry.ts';
import { buildSpans, type SpanSource, type TracedCall } from './call-spans.ts';
import { buildMetrics } from './metric-data.ts';
import { OtlpSender, type PostBytes } from './otlp-sender.ts';

/** Requests that wait for their export; more are dropped. As `OTEL_BSP_MAX_QUEUE_SIZE` is by default. */
const CALLS_MAX = 2_048;
/** Requests of one export: few, because encoding takes the event loop's time. */
const BATCH_CALLS = 128;
const FLUSH_MS = 1_000;
/** How long a shutdown waits for the collector. */
const CLOSE_MS = 3_000;

interface OtlpParts {
  readonly config: OtlpConfig;
  readonly version: string;
  readonly startedAtMs: number;
  readonly log: Log;
  readonly vendorOf: NameVendor;
  readonly post: PostBytes;
  readonly registry: MetricRegistry;
}

export interface OtlpExport {
  /** Null: traces are not sent. */
  readonly sample: Sample | null;
  /** Queues the spans of a sampled request. */
  addCall(record: CallRecord | CountRecord, model: string | null, trace: TraceContext): void;
  /** Sends what waits, without retries, for a few seconds at most. */
  close(): Promise<void>;
}

const EXPORTED = counter(
  'tollgate.otlp.exported',
  '{item}',
  'Traced requests, and readings of all metrics, that the collector took.',
  ['signal'],
);
const DROPPED = counter(
  'tollgate.otlp.dropped',
  '{item}',
  'Traced requests, and readings of all metrics, that were dropped because the collector was away or too slow.',
  ['signal'],
);

export function startOtlp(parts: OtlpParts): OtlpExport {
  const { config, version, registry } = parts;
  const resource = resourceFromAttributes({
    ...Object.fromEntries(config.resource),
    'service.name': config.serviceName,
    'service.version': version,
    'service.instance.id': crypto.randomUUID(),
  });
  const source = { resource, instrumentationScope: { name: 'tollgate', version }, vendorOf: parts.vendorOf };
  const counts = [registry.family(EXPORTED), registry.family(DROPPED)] as const;
  const traces =
    config.traces === null ? null : new TraceExport(openSender('traces', config.traces, parts), source, config, counts);
  const metrics =
    config.metrics === null
      ? null
      : new MetricExport(openSender('metrics', config.metrics, parts), source, parts, counts);
  return {
    sample: traces === null ? null : createSample(config.sampling),
    addCall(record, model, trace) {
      if (trace.sampled) traces?.add({ record, model, trace });
    },
    async close() {
      const limit = Promise.withResolvers<void>();
      const timer = setTimeout(limit.resolve, CLOSE_MS);
      await Promise.race([Promise.all([traces?.close(), metrics?.close()]), limit.promise]);
      clearTimeout(timer);
    },
  };
}

const SERIALIZERS = {
  traces: { json: JsonTraceSerializer, protobuf: ProtobufTraceSerializer },
  metrics: { json: JsonMetricsSerializer, protobuf: ProtobufMetricsSerializer },
} as const;

function openSender(signal: OtlpSignal, destination: OtlpDestination, { config, post, log }: OtlpParts): OtlpSender {
  return new OtlpSender({
    ...config,
    destination,
    post,
    onTaken: createRejectionLog(signal, config.format, log),
    onChange(problem) {
      if (problem === null) log.info({ signal }, 'the OpenTelemetry collector takes exports again');
      else log.warn({ signal, cause: problem }, 'exports to the OpenTelemetry collector fail and are dropped');
    },
  });
}

const REJECTIONS_EVERY_MS = 60_000;
const CAUSE_CHARS_MAX = 500;

/**
 * Logs what the collector rejects of the exports that it takes: at most once a minute, because the cause is often the same
 * for each (https://opentelemetry.io/docs/specs/otlp/#partial-success-1, read 2026-11-29).
 */
function createRejectionLog(signal: OtlpSignal, format: OtlpConfig['format'], log: Log): (answer: Uint8Array) => void {
  let rejected = 0;
  let nextMs = Number.NEGATIVE_INFINITY;
  return (answer) => {
    const found = readRejection(signal, format, answer);
    if (found === null) return;
    rejected += found.rejected;
    const nowMs = performance.now();
    if (nowMs < nextMs) return;
    log.warn(
      { signal, rejected, cause: found.cause },
      'the OpenTelemetry collector rejects a part of the exports: so many spans or data points since the line before',
    );
    nextMs = nowMs + REJECTIONS_EVERY_MS;
    rejected = 0;
  };
}

/** Of either signal. */
interface PartialSuccess {
  readonly rejectedSpans?: number;
  readonly rejectedDataPoints?: number;
  readonly errorMessage?: string;
}

/** Null: nothing was rejected, or the answer says nothing about it. */
function readRejection(signal: OtlpSignal, format: OtlpConfig['format'], answer: Uint8Array) {
  try {
    const partial: PartialSuccess = SERIALIZERS[signal][format].deserializeResponse(answer).partialSuccess ?? {};
    const { errorMessage = '' } = partial;
    // In JSON the number is text.
    const rejected = Number(partial.rejectedSpans ?? partial.rejectedDataPoints ?? 0);
    return rejected > 0 || errorMessage !== '' ? { rejected, cause: errorMessage.slice(0, CAUSE_CHARS_MAX) } : null;
  } catch {
    // Some collectors answer with words of their own.
    return null;
  }
}

type Counts = readonly [exported: Family, dropped: Family];

function count([exported, dropped]: Counts, signal: OtlpSignal, ok: boolean, amount: number): void {
  const family = ok ? exported : dropped;
  family.add(family.series(signal), amount);
}

class TraceExport {
  readonly #sender: OtlpSender;
  readonly #source: SpanSource;
  readonly #serializer: typeof ProtobufTraceSerializer;
  readonly #counts: Counts;
  #waiting: TracedCall[] = [];
  #sending: Promise<void> | null = null;
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(sender: OtlpSender, source: SpanSource, { format }: OtlpConfig, counts: Counts) {
    this.#sender = sender;
    this.#source = source;
    this.#serializer = SERIALIZERS.traces[format];
    this.#counts = counts;
  }

  add(call: TracedCall): void {
    if (this.#waiting.length >= CALLS_MAX) {
      count(this.#counts, 'traces', false, 1);
      return;
    }
    this.#waiting.push(call);
    if (this.#waiting.length >= BATCH_CALLS) this.#flush();
    else this.#timer ??= setTimeout(this.#onTime, FLUSH_MS);
  }

  async close(): Promise<void> {
    this.#sender.hurry();
    this.#flush();
    while (this.#sending !== null) await this.#sending;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  readonly #onTime = (): void => {
    this.#timer = null;
    this.#flush();
  };

  #flush(): void {
    if (this.#sending !== null || this.#waiting.length === 0) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#sending = this.#send(this.#waiting.splice(0, BATCH_CALLS)).then(() => {
      this.#sending = null;
      this.#flush();
    });
  }

  async #send(calls: readonly TracedCall[]): Promise<void> {
    const spans = calls.flatMap((call) => buildSpans(call, this.#source));
    const body = this.#serializer.serializeRequest(spans);
    count(this.#counts, 'traces', body !== undefined && (await this.#sender.send(body)), calls.length);
  }
}

class MetricExport {
  readonly #send: () => Promise<void>;
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #sender: OtlpSender;
  #sending: Promise<void> | null = null;

  constructor(sender: OtlpSender, { resource, instrumentationScope }: SpanSource, parts: OtlpParts, counts: Counts) {
    const { config, registry, startedAtMs: startMs } = parts;
    const serializer = SERIALIZERS.metrics[config.format];
    this.#sender = sender;
    this.#send = async () => {
      const read = { resource, scope: instrumentationScope, startMs, nowMs: Date.now() };
      const body = serializer.serializeRequest(buildMetrics(registry.collect(), read));
      count(counts, 'metrics', body !== undefined && (await sender.send(body)), 1);
    };
    this.#timer = setInterval(() => this.#begin(), config.intervalMs);
    this.#timer.unref();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#sender.hurry();
    await this.#sending;
    this.#begin();
    await this.#sending;
  }

  /** A reading that falls into the export of the one before it is left out: the next has its numbers. */
  #begin(): void {
    this.#sending ??= this.#send().finally(() => {
      this.#sending = null;
    });
  }
}

const RANGE = 2 ** 32;

/** By the trace id's last 32 bits, so that every service that samples the same share chooses the same traces. */
function createSample({ ratio, followsParent }: TraceSampling): Sample {
  return (traceId, parent) => {
    if (followsParent && parent !== null) return parent.sampled;
    return Number.parseInt(traceId.slice(-8), 16) < ratio * RANGE;
  };
}
