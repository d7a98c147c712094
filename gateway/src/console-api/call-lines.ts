/** Owns calls as lines of a file, all that are asked for, a page at a time. Attempts have no columns, and of a reason only its kind has one. */
import { renderCallRecord } from '../billing/render-call-record.ts';
import type { LogPage, LogQuestion, UsageReader } from '../store/usage-port.ts';
import { csvLine } from './csv.ts';
import { orRefuse } from './read-refusal.ts';

const COLUMNS = [
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
  'reason',
] as const;
const PAGE_CALLS = 1_000;

/** The head, then the newest first. What is being read holds no more than a page; a reading that fails ends the file in a fault. */
export async function* callLines(
  usage: Pick<UsageReader, 'readLogs'>,
  question: Omit<LogQuestion, 'beforeId' | 'limit' | 'withHistogram'>,
): AsyncGenerator<string> {
  yield csvLine([...COLUMNS]);
  for (let beforeId: string | null = null; ; ) {
    const asked: LogQuestion = { ...question, beforeId, limit: PAGE_CALLS, withHistogram: false };
    const page: LogPage = await orRefuse(usage.readLogs(asked));
    yield page.calls.map(renderLine).join('');
    if (page.next === null) return;
    beforeId = page.next;
  }
}

function renderLine(call: LogPage['calls'][number]): string {
  const { usage, reason, ...rest } = renderCallRecord(call);
  const cells = { ...rest, ...usage, reason: reason?.kind ?? null };
  return csvLine(COLUMNS.map((column) => cells[column]));
}
