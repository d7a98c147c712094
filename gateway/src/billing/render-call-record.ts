/**
 * Renders a call record for the command line and the console API, with the members, words and order of its public
 * format.
 */
import type { Usage } from '../generation/usage.ts';
import type { AttemptRecord, CallRecord } from '../store/ports/records.ts';
import { readPriceVersion, unpricedTools } from './price.ts';

/**
 * The record with `at` as ISO 8601 and its members always in this order. `reason`, `trace_id`, `cached_from` and `masked` are present only
 * where there is one, the marks of an attempt only where they were kept, its members from `n` on only where `AttemptRecord` has them,
 * `usage_flags` only for anomalies. Rare `usage` members are present only above 0; `unpriced_server_tools` only where the
 * price had no fee for a tool that was used.
 */
export function renderCallRecord(record: CallRecord) {
  return {
    request_id: record.request_id,
    at: new Date(record.at_ms).toISOString(),
    account: record.account,
    workspace: record.workspace,
    key_id: record.key_id,
    key_name: record.key_name,
    end_user: record.end_user,
    session: record.session,
    ...(record.trace_id === null ? {} : { trace_id: record.trace_id }),
    protocol: record.protocol,
    model: record.model,
    served_model: record.served_model,
    provider: record.provider,
    stream: record.stream,
    status: record.status,
    error: record.error,
    ...(record.reason === null ? {} : { reason: record.reason }),
    finish_reason: record.finish_reason,
    usage: renderUsage(record.usage),
    usage_source: record.usage_source,
    ...(record.usage_flags === null ? {} : { usage_flags: [...record.usage_flags] }),
    ...(record.cached_from === undefined ? {} : { cached_from: record.cached_from }),
    ...(record.masked === undefined ? {} : { masked: record.masked }),
    price_version: record.price_version,
    cost_nano_usd: record.cost_nano_usd,
    ...renderUnpriced(record),
    ttfb_ms: record.ttfb_ms,
    duration_ms: record.duration_ms,
    attempts: record.attempts.map(renderAttempt),
  };
}

function renderAttempt({ provider, model, status, error, duration_ms, ...others }: AttemptRecord) {
  const { start_ms, connect_ms = null, ttfb_ms = null, ttft_ms = null, usage, ...rest } = others;
  const marked = start_ms === undefined ? {} : { start_ms, connect_ms, ttfb_ms, ttft_ms };
  const used = usage === undefined ? {} : { usage: renderUsage(usage) };
  return { provider, model, status, error, ...marked, duration_ms, ...present(rest), ...used };
}

/** Without the members that are undefined. */
function present<Members extends object>(members: Members): Members {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Members;
}

function renderUsage({ input, cache_read, cache_write_5m, cache_write_1h, output, reasoning, extras }: Usage) {
  return { input, cache_read, cache_write_5m, cache_write_1h, output, reasoning, ...extras };
}

/**
 * Tools whose requests are not in the record's cost, by kind. Empty where the whole call has no price (`cost_nano_usd`
 * says so), or where the price text does not state its fees.
 */
export function unpricedToolsOf({ usage, price_version }: CallRecord): readonly string[] {
  if (usage.extras === undefined || price_version === null) return [];
  return unpricedTools(usage.extras, readPriceVersion(price_version)?.fees ?? null);
}

function renderUnpriced(record: CallRecord): { unpriced_server_tools?: string[] } {
  const kinds = unpricedToolsOf(record);
  return kinds.length === 0 ? {} : { unpriced_server_tools: [...kinds] };
}
