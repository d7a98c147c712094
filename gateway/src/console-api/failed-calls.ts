/** Owns finding the newest calls of a key that failed, as the usage page counts errors: not those that their caller left. */
import type { CallRecord, StoredKey } from '../store/ports.ts';
import type { CallOutcome, LogPage, UsageReader } from '../store/usage-port.ts';
import { EVERY_CALL } from './call-condition.ts';
import { orRefuse } from './read-refusal.ts';
import { PAGE_MS_MAX } from './usage-parts.ts';

interface FailedQuestion {
  readonly key: StoredKey;
  /** Unix ms of arrival; the end is no longer part of it. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly limit: number;
}

/** The newest first. */
export async function readFailedCalls(
  usage: Pick<UsageReader, 'readLogs'>,
  question: FailedQuestion,
): Promise<readonly CallRecord[]> {
  const found = await Promise.all([
    readOutcome(usage, question, 'client_error'),
    readOutcome(usage, question, 'server_error'),
  ]);
  const sorted = found.flat().sort((one, other) => (one.request_id > other.request_id ? -1 : 1));
  return sorted.slice(0, question.limit);
}

async function readOutcome(
  usage: Pick<UsageReader, 'readLogs'>,
  { key, fromMs, toMs, limit }: FailedQuestion,
  outcome: CallOutcome,
): Promise<CallRecord[]> {
  const found: CallRecord[] = [];
  // A page may be short and not the last.
  for (let beforeId: string | null = null; ; ) {
    const page: LogPage = await orRefuse(
      usage.readLogs({
        tenant: { account: key.accountId, workspaces: null },
        condition: { ...EVERY_CALL, keys: [key.id] },
        outcome,
        fromMs,
        toMs,
        idPrefix: null,
        beforeId,
        limit: limit - found.length,
        withHistogram: false,
        timeMsMax: PAGE_MS_MAX,
      }),
    );
    found.push(...page.calls);
    if (page.next === null || found.length === limit) return found;
    beforeId = page.next;
  }
}
