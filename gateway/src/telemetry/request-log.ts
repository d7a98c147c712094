/**
 * Writes one structured line per ended request, in the form of the other log lines: ids, outcome, tokens, cost and
 * durations; never content or secrets. Rendered by hand, because it runs on every request: the logger takes four times as
 * long for the same line.
 */
import type { Payer } from '../billing/who-pays.ts';
import type { TraceContext } from '../lib/trace-context.ts';
import type { CallRecord } from '../store/ports/records.ts';

const TEXT_CHARS_MAX = 256;
/** The number of the level `info`. */
const LEVEL = 30;

/** The line, with its line break. `model`: the operator's name of the route; null: none. */
export function renderRequestLine(
  record: CallRecord,
  model: string | null,
  payer: Payer,
  trace: TraceContext | null,
  nowMs: number,
): string {
  const { usage, attempts, cost_nano_usd } = record;
  const last = attempts.at(-1);
  let line = `{"level":${LEVEL},"time":"${isoTime(nowMs)}","request_id":"${record.request_id}"`;
  if (trace !== null) line += `,"trace_id":"${trace.traceId}"`;
  line += text('account', record.account) + text('workspace', record.workspace) + text('key_id', record.key_id);
  line += `,"protocol":"${record.protocol}"`;
  line += text('model', record.model) + text('route', model) + text('provider', record.provider);
  if (last !== undefined) line += text('target', last.target ?? `${last.provider}/${last.model}`);
  line += `,"attempts":${attempts.length},"stream":${record.stream},"status":${record.status}`;
  line += text('error', record.error) + text('finish_reason', record.finish_reason);
  const input = usage.input + usage.cache_read + usage.cache_write_5m + usage.cache_write_1h;
  line += `,"input_tokens":${input},"cached_tokens":${usage.cache_read},"output_tokens":${usage.output}`;
  line += `,"usage_source":"${record.usage_source}"`;
  line += cost_nano_usd === null ? ',"cost_nano_usd":null' : `,"cost_nano_usd":"${cost_nano_usd}"`;
  if (payer === 'operator') line += ',"payer":"operator"';
  if (record.ttfb_ms !== null) line += `,"ttfb_ms":${record.ttfb_ms}`;
  return `${line},"duration_ms":${record.duration_ms},"msg":"request"}\n`;
}

/** A member with a text, which may be a caller's or a provider's: keys in it are masked already, as in the record. */
function text(name: string, value: string | null): string {
  if (value === null) return '';
  const shown = value.length > TEXT_CHARS_MAX ? `${value.slice(0, TEXT_CHARS_MAX)}…` : value;
  return `,"${name}":${JSON.stringify(shown)}`;
}

let renderedMs = Number.NaN;
let rendered = '';

function isoTime(ms: number): string {
  if (ms !== renderedMs) {
    renderedMs = ms;
    rendered = new Date(ms).toISOString();
  }
  return rendered;
}
