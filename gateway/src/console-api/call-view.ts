/** Owns how a call's record looks in answers and files, in the words of contract.md section 9. */
import type { CallRecord } from '../store/ports.ts';

export function renderCall({ at_ms, attempts, usage, ...record }: CallRecord) {
  return {
    ...record,
    at: new Date(at_ms).toISOString(),
    usage: { ...usage },
    attempts: attempts.map((one) => ({ ...one })),
  };
}

/** Columns of a file: all but the attempts. */
export const CALL_COLUMNS = [
  'request_id',
  'at',
  'account',
  'workspace',
  'key_id',
  'key_name',
  'end_user',
  'session',
  'protocol',
  'model',
  'served_model',
  'provider',
  'stream',
  'status',
  'error',
  'finish_reason',
  'input',
  'cache_read',
  'cache_write_5m',
  'cache_write_1h',
  'output',
  'reasoning',
  'usage_source',
  'price_version',
  'cost_nano_usd',
  'ttfb_ms',
  'duration_ms',
] as const;
