/** Creates a complete and plausible call record for tests. */
import type { CallRecord } from '../ports/records.ts';

/** A record of a priced call; `changes` replace members. */
export function sampleRecord(requestId: string, changes: Partial<CallRecord> = {}): CallRecord {
  return {
    request_id: requestId,
    at_ms: 1_790_000_000_000,
    account: 'default',
    workspace: 'default',
    key_id: 'key_1',
    key_name: 'first',
    end_user: 'user-7',
    session: null,
    trace_id: null,
    protocol: 'chat',
    model: 'gpt-5-mini',
    served_model: 'gpt-5-mini-2026-01-01',
    provider: 'openai',
    stream: true,
    status: 200,
    error: null,
    reason: null,
    finish_reason: 'stop',
    usage: { input: 120, cache_read: 30, cache_write_5m: 2, cache_write_1h: 1, output: 45, reasoning: 10 },
    usage_source: 'upstream',
    usage_flags: null,
    price_version: 'catalogue 2026-11-01',
    cost_nano_usd: '123450',
    ttfb_ms: 210,
    duration_ms: 1_830.5,
    attempts: [
      { provider: 'lab', model: 'gpt-5-mini', status: 503, error: 'upstream_failed', duration_ms: 12 },
      { provider: 'openai', model: 'gpt-5-mini', status: 200, error: null, duration_ms: 1_800 },
    ],
    ...changes,
  };
}
