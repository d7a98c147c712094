/** Serves sessions: their list, the requests of one in order, and what broke its prompt cache. */
import { ConsoleFailure } from '../../errors/console-failure.ts';
import type { SessionReader, SessionSums, SessionsQuestion } from '../../store/ports/calls/sessions.ts';
import type { CallContent, ContentStore } from '../../store/ports/content.ts';
import type { CallRecord } from '../../store/ports/records.ts';
import type { UsageReader } from '../../store/ports/usage.ts';
import type { Reply } from '../contract/contract.ts';
import type { Tenancy } from '../kernel/actor.ts';
import type { Handlers } from '../kernel/handlers.ts';
import { EVERY_CALL } from '../logs/call-condition.ts';
import { chooseCalls } from '../logs/logs.ts';
import { refuseWords } from '../logs/search-content.ts';
import { tenantOf } from '../usage/usage.ts';
import { orRefuse, PAGE_MS_MAX, type UsageParts } from '../usage/usage-parts.ts';
import { parseRange } from '../usage/usage-range.ts';
import { comparePrompts } from './compare-prompts.ts';
import { type CacheBreak, findBreaks, promptTokens } from './find-breaks.ts';

export interface SessionParts extends Pick<UsageParts, 'labelsOf' | 'nowMs'> {
  readonly usage: SessionReader & Pick<UsageReader, 'readLogs' | 'readCall'>;
  readonly content: Pick<ContentStore, 'find' | 'read'>;
  /** Reports stored content that cannot be read to the operator. */
  onUnreadable(requestId: string, cause: unknown): void;
}

const DAY_MS = 86_400_000;
/** Names of a list in a reply: clients choose models and may send any number of them. */
const NAMES_MAX = 20;
/** Requests before a page that tell what was in the cache. */
const CONTEXT_TURNS = 50;

export function sessionListHandlers(parts: SessionParts) {
  const { usage } = parts;
  return {
    'GET /accounts/{account}/sessions': async ({ tenancy, query }) => {
      const nowMs = parts.nowMs();
      const { from = new Date(nowMs - DAY_MS).toISOString(), to = new Date(nowMs + 1).toISOString() } = query;
      const [fromMs, toMs] = parseRange(from, to);
      const { choice, words, filter_labels } = await chooseCalls(parts, tenancy, query);
      refuseWords(words, 'sessions are not searched for text');
      const { before: beforeId = null, limit } = query;
      const tenant = tenantOf(tenancy);
      const question = { tenant, ...choice, fromMs, toMs, beforeId, limit, timeMsMax: PAGE_MS_MAX };
      const { sessions, next } = await orRefuse(usage.readSessions(question));
      return { sessions: sessions.map(showSession), next, filter_labels };
    },
    'GET /accounts/{account}/session-turns': async ({ tenancy, query }) => {
      const { session, before = null, limit } = query;
      const question: SessionsQuestion = {
        ...{ tenant: tenantOf(tenancy), condition: { ...EVERY_CALL, session }, outcome: null, idPrefix: null },
        ...{ fromMs: null, toMs: null, beforeId: before, timeMsMax: PAGE_MS_MAX, limit: limit + CONTEXT_TURNS },
      };
      const [{ sessions }, page] = await Promise.all([
        orRefuse(usage.readSessions({ ...question, limit: 1 })),
        orRefuse(usage.readLogs({ ...question, withHistogram: false })),
      ]);
      const [sums] = sessions;
      if (sums === undefined) throw noSession(session);
      const breaks = findBreaks(page.calls.toReversed());
      const shown = page.calls.slice(0, limit);
      return {
        session: showSession(sums),
        turns: shown.map((call) => showTurn(call, breaks.get(call.request_id) ?? null)).reverse(),
        next: page.calls.length > limit || page.next !== null ? (shown.at(-1)?.request_id ?? null) : null,
      };
    },
    'GET /accounts/{account}/cache-break': async ({ tenancy, query }) => compareStored(parts, tenancy, query),
  } satisfies Partial<Handlers>;
}

function noSession(session: string): ConsoleFailure {
  return new ConsoleFailure('not_found', `this account has no requests of a session ${session.slice(0, 64)}`, {
    page: '/app/sessions',
  });
}

type SessionView = Reply<'GET /accounts/{account}/sessions'>['sessions'][number];
type TurnView = Reply<'GET /accounts/{account}/session-turns'>['turns'][number];
type Comparison = Reply<'GET /accounts/{account}/cache-break'>;

function showSession({ session, firstMs, endMs, requests, errors, ...sums }: SessionSums): SessionView {
  return {
    session,
    first_at: new Date(firstMs).toISOString(),
    duration_ms: Math.round(endMs - firstMs),
    requests,
    errors,
    models: sums.models.slice(0, NAMES_MAX),
    keys: sums.keys.slice(0, NAMES_MAX),
    cost_nano_usd: sums.cost.toString(),
    unpriced: sums.unpriced,
    input: sums.input,
    cache_read: sums.cacheRead,
    output: sums.output,
  };
}

function showTurn(call: CallRecord, found: CacheBreak | null): TurnView {
  const { usage } = call;
  return {
    request_id: call.request_id,
    at: new Date(call.at_ms).toISOString(),
    duration_ms: call.duration_ms,
    key_name: call.key_name,
    model: call.model,
    served_model: call.served_model,
    provider: call.provider,
    status: call.status,
    error: call.error,
    input: promptTokens(usage),
    cache_read: usage.cache_read,
    cache_write: usage.cache_write_5m + usage.cache_write_1h,
    output: usage.output,
    cost_nano_usd: call.cost_nano_usd,
    cache_break:
      found === null
        ? null
        : {
            cause: found.cause,
            previous: found.previous,
            gap_ms: Math.round(found.gapMs),
            kept_ms: found.keptMs,
            expected: found.expected,
            lost: found.lost,
            cost_nano_usd: found.cost === null ? null : found.cost.toString(),
          },
  };
}

const NOTHING = { block: null, index: null } as const;

async function compareStored(
  parts: SessionParts,
  tenancy: Tenancy,
  { request, previous }: { readonly request: string; readonly previous: string },
): Promise<Comparison> {
  const bodies: CallContent[] = [];
  for (const id of [previous, request]) {
    if ((await orRefuse(parts.usage.readCall(tenantOf(tenancy), id))) === null) {
      throw new ConsoleFailure('not_found', `this account has no request ${id.slice(0, 64)}; see its logs`, {
        page: '/app/logs',
      });
    }
    try {
      if ((await parts.content.find(tenancy.account, id)) === null) return { outcome: 'not_stored', ...NOTHING };
      if (!tenancy.may('content.read')) return { outcome: 'hidden', ...NOTHING };
      const content = await parts.content.read(tenancy.account, id);
      if (content === null) return { outcome: 'not_stored', ...NOTHING };
      bodies.push(content);
    } catch (cause) {
      parts.onUnreadable(id, cause);
      return { outcome: 'unreadable', ...NOTHING };
    }
  }
  const [one, other] = bodies;
  const isWhole = bodies.every(({ request: body }) => body.bytes.length === body.totalBytes);
  if (one === undefined || other === undefined || !isWhole || one.protocol !== other.protocol) {
    return { outcome: 'incomparable', ...NOTHING };
  }
  const found = await comparePrompts(one.request.bytes, other.request.bytes);
  if (found === 'unknown') return { outcome: 'incomparable', ...NOTHING };
  return found === null ? { outcome: 'same', ...NOTHING } : { outcome: 'differs', ...found };
}
