/** Writes one structured line per ended request: ids, outcome, tokens, cost and durations; never content or secrets. */
import { pino } from 'pino';
import type { Payer } from '../billing/who-pays.ts';
import type { TraceContext } from '../lib/trace-context.ts';
import type { CallRecord } from '../store/ports/records.ts';
import type { LineWriter } from './line-writer.ts';

const TEXT_CHARS_MAX = 256;

/** A line has this level. */
const LEVEL = 'info';

export class RequestLog {
  readonly #log: ReturnType<typeof pino>;
  isOn = true;

  constructor(lines: LineWriter) {
    this.#log = pino(
      { base: null, timestamp: pino.stdTimeFunctions.isoTime },
      { write: (line: string) => lines.write(line) },
    );
  }

  /** Lines of a less severe level than this are not written. */
  set level(level: string) {
    this.#log.level = level;
  }

  /** `model`: the operator's name of the route; null: none. */
  write(record: CallRecord, model: string | null, payer: Payer, trace: TraceContext | null): void {
    if (!this.isOn || !this.#log.isLevelEnabled(LEVEL)) return;
    const { usage, attempts } = record;
    const last = attempts.at(-1);
    this.#log.info(
      {
        request_id: record.request_id,
        trace_id: trace?.traceId,
        account: record.account,
        workspace: record.workspace,
        key_id: record.key_id,
        protocol: record.protocol,
        model: cut(record.model),
        route: model ?? undefined,
        provider: record.provider ?? undefined,
        target: last === undefined ? undefined : (last.target ?? `${last.provider}/${last.model}`),
        attempts: attempts.length,
        stream: record.stream,
        status: record.status,
        error: record.error ?? undefined,
        finish_reason: cut(record.finish_reason),
        input_tokens: usage.input + usage.cache_read + usage.cache_write_5m + usage.cache_write_1h,
        cached_tokens: usage.cache_read,
        output_tokens: usage.output,
        usage_source: record.usage_source,
        cost_nano_usd: record.cost_nano_usd,
        payer: payer === 'operator' ? payer : undefined,
        ttfb_ms: record.ttfb_ms ?? undefined,
        duration_ms: record.duration_ms,
      },
      'request',
    );
  }
}

/** Text from a caller or a provider. Keys in it are masked already, as in the record. */
function cut(text: string | null): string | undefined {
  if (text === null) return undefined;
  return text.length > TEXT_CHARS_MAX ? `${text.slice(0, TEXT_CHARS_MAX)}…` : text;
}
