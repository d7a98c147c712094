/** Owns the logs page: lists of calls with their live tail and file, and one call whole. */
import type { UsageReader } from '../store/usage-port.ts';
import type { Tenancy } from './actor.ts';
import { asksMember, conditionOf } from './call-condition.ts';
import type { ContentOf } from './call-content.ts';
import { callCost } from './call-cost.ts';
import { callLines } from './call-lines.ts';
import { ConsoleFailure } from './console-failure.ts';
import type { ReadQuery } from './contract.ts';
import type { Handlers } from './handlers.ts';
import { orRefuse } from './read-refusal.ts';
import { explainCallFailure, showCall } from './show-reason.ts';
import { tenantOf } from './usage.ts';
import { PAGE_MS_MAX, type UsageLabels, type UsageParts } from './usage-parts.ts';
import { parseRange } from './usage-range.ts';

type LogRoute =
  | 'GET /accounts/{account}/logs'
  | 'GET /accounts/{account}/logs.csv'
  | 'GET /accounts/{account}/logs/{request}';
type Asked = ReadQuery<'GET /accounts/{account}/logs.csv'>;

export interface LogParts extends Pick<UsageParts, 'labelsOf' | 'nowMs' | 'timeZoneOf'> {
  readonly usage: Pick<UsageReader, 'readLogs' | 'readTail' | 'readCall'>;
  readonly contentOf: ContentOf;
}

/**
 * A call is on the disk a little after its end. The tail asks so far back again, so it may answer a call twice: readers know
 * calls by their ids.
 */
const TAIL_OVERLAP_MS = 2_000;

export function logHandlers(parts: LogParts): Handlers<LogRoute> {
  const { usage, contentOf } = parts;
  return {
    'GET /accounts/{account}/logs': async ({ tenancy, query }) => {
      const askedMs = parts.nowMs();
      const { before, after, limit } = query;
      const labels = await labelsFor(parts, tenancy, query);
      const common = {
        tenant: tenantOf(tenancy),
        ...choiceOf(query, labels),
        limit,
        timeMsMax: PAGE_MS_MAX,
      };
      const filter_labels = labels?.namesOfAsked(query, tenancy.workspaces) ?? [];
      if (after !== undefined) {
        const found = await orRefuse(usage.readTail({ ...common, endedMs: parseAfter(after), nowMs: askedMs }));
        const last = found.at(-1);
        // A full page ends before the present: the next one goes on where it ended.
        const isFull = last !== undefined && found.length === limit;
        const newest = isFull ? Math.floor(last.at_ms + last.duration_ms) : askedMs - TAIL_OVERLAP_MS;
        const { fromMs, toMs } = rangeOf(query, askedMs);
        const calls = found.filter(({ at_ms }) => at_ms >= (fromMs ?? 0) && at_ms < toMs);
        calls.sort((one, other) => (one.request_id > other.request_id ? -1 : 1));
        return {
          calls: calls.map((call) => showCall(tenancy, call)),
          next: null,
          newest: String(newest),
          filter_labels,
          histogram: null,
        };
      }
      const page = await orRefuse(
        usage.readLogs({
          ...common,
          ...rangeOf(query, askedMs),
          idPrefix: prefixOf(query.q),
          beforeId: before ?? null,
          withHistogram: before === undefined,
        }),
      );
      return {
        calls: page.calls.map((call) => showCall(tenancy, call)),
        next: page.next,
        newest: before === undefined ? String(askedMs - TAIL_OVERLAP_MS) : null,
        filter_labels,
        histogram:
          page.histogram === null
            ? null
            : {
                step_ms: page.histogram.stepMs,
                bars: page.histogram.bars.map(({ atMs, requests, errors }) => ({
                  at: new Date(atMs).toISOString(),
                  requests,
                  errors,
                })),
              },
      };
    },
    'GET /accounts/{account}/logs.csv': async ({ tenancy, query }) => ({
      name: 'calls.csv',
      lines: callLines(usage, {
        tenant: tenantOf(tenancy),
        ...choiceOf(query, await labelsFor(parts, tenancy, query)),
        ...rangeOf(query, parts.nowMs()),
        idPrefix: prefixOf(query.q),
        timeMsMax: PAGE_MS_MAX,
      }),
    }),
    'GET /accounts/{account}/logs/{request}': async ({ tenancy, path }) => {
      const found = await orRefuse(usage.readCall(tenantOf(tenancy), path.request));
      if (found === null) {
        throw new ConsoleFailure(
          'not_found',
          `found no call ${path.request.slice(0, 64)} of this account; look in its logs`,
          {
            page: '/app/logs',
          },
        );
      }
      return {
        call: showCall(tenancy, found.call),
        explanation: explainCallFailure(tenancy, found.call, parts.timeZoneOf(tenancy.account)),
        cost: callCost(found),
        entries: found.entries.map(({ seq, kind, amount, released, atMs, hash }) => ({
          seq,
          kind,
          amount_nano_usd: amount.toString(),
          released_nano_usd: released.toString(),
          at: new Date(atMs).toISOString(),
          hash,
        })),
        ...(await contentOf(tenancy, path.request)),
      };
    },
  };
}

/** Null: neither a key nor a member is asked for. */
async function labelsFor({ labelsOf }: LogParts, { account }: Tenancy, asked: Asked): Promise<UsageLabels | null> {
  return asked.key !== undefined || asksMember(asked) ? labelsOf(account) : null;
}

function choiceOf(asked: Asked, labels: UsageLabels | null) {
  return { condition: conditionOf(asked, labels?.owners ?? new Map()), outcome: asked.outcome ?? null };
}

function rangeOf({ from, to }: Asked, nowMs: number): { fromMs: number | null; toMs: number } {
  if (from !== undefined && to !== undefined) {
    const [fromMs, toMs] = parseRange(from, to);
    return { fromMs, toMs };
  }
  // A call that arrives while the page is read belongs to it.
  return {
    fromMs: from === undefined ? null : Date.parse(from),
    toMs: to === undefined ? nowMs + TAIL_OVERLAP_MS : Date.parse(to),
  };
}

/** What people paste may lack the prefix. */
function prefixOf(q: string | undefined): string | null {
  const text = q?.trim() ?? '';
  if (text === '') return null;
  return text.startsWith('req_') || 'req_'.startsWith(text) ? text : `req_${text}`;
}

function parseAfter(after: string): number {
  const endedMs = Number(after);
  if (Number.isSafeInteger(endedMs) && endedMs >= 0) return endedMs;
  throw new ConsoleFailure('invalid', `after: found ${JSON.stringify(after.slice(0, 32))}, expected what newest said`, {
    member: 'after',
  });
}
