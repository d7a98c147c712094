/**
 * Searches the stored bodies of calls for words: newest first within the other filters, for two seconds a page. There is
 * no index, because it would be the text in plain.
 */
import { ConsoleFailure } from '../../errors/console-failure.ts';
import type { QueryWord } from '../../lib/query/call-query.ts';
import { requestIdFloor } from '../../lib/request-id.ts';
import type { ContentStore } from '../../store/ports/content.ts';
import type { CallRecord } from '../../store/ports/records.ts';
import type { LogPage, LogQuestion, UsageReader } from '../../store/ports/usage.ts';
import type { Tenancy } from '../kernel/actor.ts';
import { orRefuse, PAGE_MS_MAX } from '../usage/usage-parts.ts';

const SEARCH_MS = 2_000;
/** New content waits for at most one step. */
const STEP_MS = 50;
/** Calls whose records are read at once. */
const STEP_CALLS = 200;
/** An id may be a little older or newer than its call's time. */
const ID_SLACK_MS = 60_000;

export interface SearchParts {
  readonly content: Pick<ContentStore, 'list' | 'search'>;
  readonly usage: Pick<UsageReader, 'readLogs'>;
}

export interface ContentQuestion {
  /** The other filters. */
  readonly choice: Pick<LogQuestion, 'tenant' | 'condition' | 'outcome' | 'idPrefix' | 'traceId' | 'reason' | 'terms'>;
  readonly words: readonly QueryWord[];
  readonly fromMs: number | null;
  readonly toMs: number;
  /** Only calls that arrived before this request id; undefined: from the newest. */
  readonly before: string | undefined;
  readonly limit: number;
}

export interface ContentPage {
  readonly calls: readonly CallRecord[];
  /** Where the search continues; null: it is over. */
  readonly next: string | null;
  /** Calls whose bodies were searched. */
  readonly searched: number;
}

/** @throws ConsoleFailure where the caller may not read content */
export async function searchContent(
  { content, usage }: SearchParts,
  tenancy: Tenancy,
  { choice, words, fromMs, toMs, before, limit }: ContentQuestion,
): Promise<ContentPage> {
  if (!tenancy.may('content.read')) {
    throw new ConsoleFailure(
      'forbidden',
      `q: found the text ${JSON.stringify(words[0]?.text.slice(0, 60))}, but your role may not read prompts and responses; remove the text`,
      { member: 'q' },
    );
  }
  const { account, workspaces } = tenancy;
  const endMs = performance.now() + SEARCH_MS;
  const from = requestIdFloor((fromMs ?? 0) - ID_SLACK_MS);
  let below = requestIdFloor(toMs + ID_SLACK_MS);
  if (before !== undefined && before < below) below = before;
  const found: CallRecord[] = [];
  let searched = 0;

  /** The records of these calls that meet the other filters. */
  async function readChosen(ids: readonly string[]): Promise<ReadonlyMap<string, CallRecord>> {
    const question = {
      ...choice,
      ...{ ids, fromMs, toMs },
      limit: ids.length,
      withHistogram: false,
      timeMsMax: PAGE_MS_MAX,
    };
    const records = new Map<string, CallRecord>();
    for (let beforeId: string | null = null; ; ) {
      const page: LogPage = await orRefuse(usage.readLogs({ ...question, beforeId }));
      for (const call of page.calls) records.set(call.request_id, call);
      if (page.next === null) return records;
      beforeId = page.next;
    }
  }

  for (;;) {
    const ids = await content.list({ account, workspaces, from, below }, STEP_CALLS);
    const last = ids.at(-1);
    if (last === undefined) return { calls: found, next: null, searched };
    const records = await readChosen(ids);
    const chosen = ids.filter((id) => records.has(id));
    for (let at = 0; at < chosen.length; ) {
      if (searched > 0 && performance.now() >= endMs) return { calls: found, next: chosen[at - 1] ?? below, searched };
      const step = await content.search(account, chosen.slice(at), words, STEP_MS);
      at += step.searched;
      searched += step.searched;
      found.push(...step.found.flatMap((id) => records.get(id) ?? []));
      if (found.length >= limit) {
        return { calls: found.slice(0, limit), next: found[limit - 1]?.request_id ?? null, searched };
      }
    }
    below = last;
    if (performance.now() >= endMs) return { calls: found, next: below, searched };
  }
}

/** @throws ConsoleFailure that says why a view cannot search text */
export function refuseWords(words: readonly QueryWord[], what: string): void {
  const [word] = words;
  if (word === undefined) return;
  throw new ConsoleFailure(
    'invalid',
    `q: found the text ${JSON.stringify(word.text.slice(0, 60))}, but ${what}; remove the text or list the requests newest first`,
    { member: 'q' },
  );
}
