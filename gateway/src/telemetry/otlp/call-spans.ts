/**
 * Builds the spans of an ended request from its record: one of the gateway, and a child for each attempt. Attributes
 * follow the GenAI semantic conventions, which are in development:
 * https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/gen-ai-spans.md (2026-11-22).
 * No content, no names of people.
 */
import { type Attributes, type HrTime, SpanKind, SpanStatusCode } from '@opentelemetry/api';
import type { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { Resource } from '@opentelemetry/resources';
import type { CountRecord } from '../../call/call-observer.ts';
import { FAILURE_KINDS } from '../../errors/failure-kinds.ts';
import type { TraceContext } from '../../lib/trace-context.ts';
import type { AttemptRecord, CallRecord } from '../../store/ports/records.ts';
import { type NameVendor, OPERATIONS } from '../metrics/call-counter.ts';

export type Span = Parameters<typeof ProtobufTraceSerializer.serializeRequest>[0][number];

/** An ended request, kept until its spans are built. */
export interface TracedCall {
  readonly record: CallRecord | CountRecord;
  /** The operator's name of its route; null: none. */
  readonly model: string | null;
  readonly trace: TraceContext;
}

/** What all spans share: serializers group spans by these objects. */
export interface SpanSource {
  readonly resource: Resource;
  readonly instrumentationScope: Span['instrumentationScope'];
  readonly vendorOf: NameVendor;
}

const TEXT_CHARS_MAX = 256;
const NANO = 1e9;

export function buildSpans({ record, model, trace }: TracedCall, source: SpanSource): readonly Span[] {
  const operation = OPERATIONS[record.protocol];
  const { traceId, spanId, parentId } = trace;
  const endMs = record.at_ms + record.duration_ms;
  const whole = buildSpan(source, trace, spanId, parentId, {
    name: named(operation, model),
    kind: SpanKind.SERVER,
    startMs: record.at_ms,
    endMs,
    failed: isFault(record.error),
    attributes: callAttributes(record, model, source),
  });
  const attempts = record.attempts.map((attempt, index) => {
    const startMs = record.at_ms + (attempt.start_ms ?? 0);
    return buildSpan(source, trace, trace.attemptIds[index] ?? traceId.slice(16), spanId, {
      name: named(operation, attempt.model),
      kind: SpanKind.CLIENT,
      startMs,
      endMs: startMs + attempt.duration_ms,
      failed: attempt.error !== null,
      attributes: attemptAttributes(attempt, operation, source),
    });
  });
  return [whole, ...attempts];
}

interface SpanParts {
  readonly name: string;
  readonly kind: SpanKind;
  readonly startMs: number;
  readonly endMs: number;
  readonly failed: boolean;
  readonly attributes: Attributes;
}

function buildSpan(
  { resource, instrumentationScope }: SpanSource,
  { traceId, parentId: remoteId, sampled, state }: TraceContext,
  spanId: string,
  parentId: string | null,
  { name, kind, startMs, endMs, failed, attributes }: SpanParts,
): Span {
  const traceFlags = sampled ? 1 : 0;
  const traceState = state === '' ? {} : { traceState: stateOf(state) };
  return {
    name,
    kind,
    spanContext: () => ({ traceId, spanId, traceFlags, ...traceState }),
    ...(parentId === null
      ? {}
      : { parentSpanContext: { traceId, spanId: parentId, traceFlags, isRemote: parentId === remoteId } }),
    startTime: timeOf(startMs),
    endTime: timeOf(endMs),
    duration: timeOf(endMs - startMs),
    status: { code: failed ? SpanStatusCode.ERROR : SpanStatusCode.UNSET },
    attributes,
    links: [],
    events: [],
    ended: true,
    resource,
    instrumentationScope,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

/** A list that is only passed on. */
function stateOf(text: string) {
  const state = { get: () => undefined, set: () => state, unset: () => state, serialize: () => text };
  return state;
}

function callAttributes(record: TracedCall['record'], model: string | null, { vendorOf }: SpanSource): Attributes {
  const { usage, cost_nano_usd, ttfb_ms } = record;
  return defined({
    'gen_ai.operation.name': OPERATIONS[record.protocol],
    'gen_ai.provider.name': record.provider === null ? undefined : vendorOf(record.provider),
    'gen_ai.request.model': cut(record.model),
    'gen_ai.request.stream': record.stream,
    'gen_ai.response.model': cut(record.served_model),
    'gen_ai.response.finish_reasons': record.finish_reason === null ? undefined : [cut(record.finish_reason) ?? ''],
    'gen_ai.response.time_to_first_chunk': record.stream && ttfb_ms !== null ? ttfb_ms / 1_000 : undefined,
    'gen_ai.conversation.id': cut(record.session),
    'gen_ai.usage.input_tokens': usage.input + usage.cache_read + usage.cache_write_5m + usage.cache_write_1h,
    'gen_ai.usage.output_tokens': usage.output,
    'gen_ai.usage.cache_read.input_tokens': usage.cache_read,
    'gen_ai.usage.cache_creation.input_tokens': usage.cache_write_5m + usage.cache_write_1h,
    'gen_ai.usage.reasoning.output_tokens': usage.reasoning,
    'http.response.status_code': record.status,
    'error.type': record.error ?? undefined,
    'tollgate.request.id': record.request_id,
    'tollgate.account': record.account,
    'tollgate.workspace': record.workspace,
    'tollgate.key.id': record.key_id,
    'tollgate.protocol': record.protocol,
    'tollgate.route': model ?? undefined,
    'tollgate.attempts': record.attempts.length,
    'tollgate.cost.usd': cost_nano_usd === null ? undefined : Number(cost_nano_usd) / NANO,
  });
}

function attemptAttributes(attempt: AttemptRecord, operation: string, { vendorOf }: SpanSource): Attributes {
  const { provider, model, ttft_ms } = attempt;
  return defined({
    'gen_ai.operation.name': operation,
    'gen_ai.provider.name': vendorOf(provider),
    'gen_ai.request.model': model,
    'gen_ai.response.time_to_first_chunk': ttft_ms == null ? undefined : ttft_ms / 1_000,
    'http.response.status_code': attempt.status ?? undefined,
    'error.type': attempt.error ?? undefined,
    'tollgate.provider': provider,
    'tollgate.target': attempt.target ?? `${provider}/${model}`,
    'tollgate.credential': attempt.credential ?? 'default',
    'tollgate.attempt.why': attempt.why,
    'tollgate.attempt.class': attempt.class,
    'tollgate.attempt.billed': attempt.billed,
  });
}

function defined(given: { readonly [name: string]: Attributes[string] }): Attributes {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** What a caller did wrong is no error of the server. */
function isFault(error: string | null): boolean {
  if (error === null) return false;
  const origins: { readonly [kind: string]: { readonly origin: string } } = FAILURE_KINDS;
  return origins[error]?.origin !== 'caller';
}

/** `model` is of the configuration: names of spans must be few. */
function named(operation: string, model: string | null): string {
  return model === null ? operation : `${operation} ${model}`;
}

function timeOf(ms: number): HrTime {
  const seconds = Math.floor(ms / 1_000);
  return [seconds, Math.round((ms - seconds * 1_000) * 1e6)];
}

function cut(text: string | null): string | undefined {
  return text === null ? undefined : text.slice(0, TEXT_CHARS_MAX);
}
