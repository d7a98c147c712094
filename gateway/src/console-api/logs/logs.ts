/**
 * Serves the logs page: the list of requests, its live tail and CSV export, and one request with its reason, cost and
 * content.
 */

import { chooseRates, PRICE_MEMBERS, type Price, readPriceVersion } from '../../billing/price.ts';
import { renderCallRecord } from '../../billing/render-call-record.ts';
import { NO_UNITS, pricedUnits, UNIT_OF } from '../../billing/unit-prices.ts';
import { ConsoleFailure } from '../../errors/console-failure.ts';
import { EXTRA_COUNTERS, EXTRA_PARTS, UNIT_COUNTERS, type Usage, type UsagePart } from '../../generation/usage.ts';
import { CALL_COLUMNS, isCallColumn } from '../../lib/query/call-columns.ts';
import type { CallOrder } from '../../lib/query/call-order.ts';
import { csvLine } from '../../lib/tables/csv-line.ts';
import type { ContentStore } from '../../store/ports/content.ts';
import type { CallDetail, CallEntry, LogPage, LogQuestion, UsageReader } from '../../store/ports/usage.ts';
import type { ReadQuery, Reply } from '../contract/contract.ts';
import { callView } from '../contract/logs.ts';
import type { Tenancy } from '../kernel/actor.ts';
import type { Handlers } from '../kernel/handlers.ts';
import {
  namesKeys,
  readOrder,
  readPlace,
  readQuery,
  renderPlace,
  resolveQuery,
  withIdTerm,
} from '../query/resolve-query.ts';
import { tenantOf } from '../usage/usage.ts';
import { orRefuse, PAGE_MS_MAX, type UsageParts } from '../usage/usage-parts.ts';
import { parseRange } from '../usage/usage-range.ts';
import { asksMember, conditionOf } from './call-condition.ts';
import type { ContentOf } from './call-content.ts';
import { refuseWords, searchContent } from './search-content.ts';
import { explainCall, showCall } from './show-call.ts';

type Asked = ReadQuery<'GET /accounts/{account}/reasons'> &
  Pick<ReadQuery<'GET /accounts/{account}/logs.csv'>, 'trace_id'>;

export interface LogParts extends Pick<UsageParts, 'labelsOf' | 'nowMs' | 'timeZoneOf'> {
  readonly usage: Pick<UsageReader, 'readLogs' | 'readTail' | 'readCall'>;
  readonly contentOf: ContentOf;
  readonly content: Pick<ContentStore, 'list' | 'search'>;
}

/**
 * A call reaches the disk a little after its end. The tail reads this much again, so it may return a call twice;
 * clients deduplicate by id.
 */
const TAIL_OVERLAP_MS = 2_000;

export function logHandlers(parts: LogParts) {
  const { usage, contentOf } = parts;
  return {
    'GET /accounts/{account}/logs': async ({ tenancy, query }) => {
      const askedMs = parts.nowMs();
      const { before, after, limit } = query;
      const { choice, words, filter_labels } = await chooseCalls(parts, tenancy, query);
      const common = { tenant: tenantOf(tenancy), ...choice, limit, timeMsMax: PAGE_MS_MAX };
      if (after !== undefined) {
        refuseWords(words, 'the live tail does not search text');
        const tail = { ...withIdTerm(common), endedMs: parseAfter(after), nowMs: askedMs };
        const found = await orRefuse(usage.readTail(tail));
        const last = found.at(-1);
        // A full page ends before the present; the next one continues where it ended.
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
          searched: null,
        };
      }
      if (words.length > 0) {
        if (query.sort !== undefined) refuseWords(words, 'a search for text is not sorted');
        const { calls, next, searched } = await searchContent(parts, tenancy, {
          choice: { tenant: tenantOf(tenancy), ...choice },
          ...{ words, before, limit },
          ...rangeOf(query, askedMs),
        });
        return {
          calls: calls.map((call) => showCall(tenancy, call)),
          next,
          newest: null,
          filter_labels,
          histogram: null,
          searched,
        };
      }
      const page = await orRefuse(
        usage.readLogs({
          ...common,
          ...rangeOf(query, askedMs),
          beforeId: null,
          ...readPlace(before, readOrder(query.sort)),
          withHistogram: before === undefined,
        }),
      );
      return {
        calls: page.calls.map((call) => showCall(tenancy, call)),
        next: page.nextPlace ? renderPlace(page.nextPlace) : page.next,
        newest: before === undefined ? String(askedMs - TAIL_OVERLAP_MS) : null,
        filter_labels,
        searched: null,
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
    'GET /accounts/{account}/logs.csv': async ({ tenancy, query }) => {
      const { choice, words } = await chooseCalls(parts, tenancy, query);
      refuseWords(words, 'a file does not search text');
      const asked = { tenant: tenantOf(tenancy), ...choice, ...rangeOf(query, parts.nowMs()), timeMsMax: PAGE_MS_MAX };
      const lines = callLines(usage, asked, { order: readOrder(query.sort), members: membersOf(query.columns) });
      return { name: 'calls.csv', lines };
    },
    'GET /accounts/{account}/logs/{request}': async ({ tenancy, path }) => {
      const found = await orRefuse(usage.readCall(tenantOf(tenancy), path.request));
      if (found === null) {
        throw new ConsoleFailure(
          'not_found',
          `this account has no request ${path.request.slice(0, 64)}; see its logs`,
          { page: '/app/logs' },
        );
      }
      return {
        call: showCall(tenancy, found.call),
        explanation: explainCall(tenancy, found.call, parts.timeZoneOf(tenancy.account)),
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
  } satisfies Partial<Handlers>;
}

/** The calls that a request asks for: what its query and its filters choose. */
export async function chooseCalls(
  { labelsOf }: Pick<LogParts, 'labelsOf'>,
  { account, workspaces }: Tenancy,
  requested: Asked,
) {
  const { terms, words } = readQuery(requested.q);
  const needsLabels = requested.key !== undefined || asksMember(requested) || namesKeys(terms);
  const labels = needsLabels ? await labelsOf(account) : null;
  const condition = conditionOf(requested, labels?.owners ?? new Map());
  return {
    choice: {
      ...resolveQuery(terms, condition, labels, workspaces),
      outcome: requested.outcome ?? null,
      ...(requested.trace_id !== undefined && { traceId: requested.trace_id }),
      ...(requested.reason !== undefined && { reason: requested.reason }),
    },
    words,
    filter_labels: labels?.namesOfIds(requested, workspaces) ?? [],
  };
}

function rangeOf({ from, to }: Asked, nowMs: number): { fromMs: number | null; toMs: number } {
  if (from !== undefined && to !== undefined) {
    const [fromMs, toMs] = parseRange(from, to);
    return { fromMs, toMs };
  }
  // Includes calls that arrive while the page is read.
  return {
    fromMs: from === undefined ? null : Date.parse(from),
    toMs: to === undefined ? nowMs + TAIL_OVERLAP_MS : Date.parse(to),
  };
}

function parseAfter(after: string): number {
  const endedMs = Number(after);
  if (Number.isSafeInteger(endedMs) && endedMs >= 0) return endedMs;
  throw new ConsoleFailure(
    'invalid',
    `after: found ${JSON.stringify(after.slice(0, 32))}, expected the value of newest`,
    { member: 'after' },
  );
}

type CallCost = Reply<'GET /accounts/{account}/logs/{request}'>['cost'];
type CostLine = NonNullable<CallCost>['lines'][number];

const PPM = 1_000_000n;
const PICO_PER_NANO = 1_000n;

/**
 * Null: the call has no price. Lines are exact pico-USD; their sum is rounded once, half up, to the settled plus
 * written-off amount.
 */
export function callCost({ call, entries }: CallDetail): CallCost {
  if (call.cost_nano_usd === null) return null;
  const sum = (...kinds: readonly CallEntry['kind'][]) =>
    entries.filter(({ kind }) => kinds.includes(kind)).reduce((total, { amount }) => total + amount, 0n);
  return {
    lines: linesOf(call),
    held_nano_usd: sum('hold', 'extend').toString(),
    settled_nano_usd: sum('post').toString(),
    written_off_nano_usd: sum('absorb').toString(),
  };
}

/**
 * Empty where no tokens were charged: a call whose usage is void, one answered from a cache, one without a price at the
 * time.
 */
function linesOf({ price_version, usage_source, usage }: CallDetail['call']): CostLine[] {
  if (price_version === null || usage_source === 'void' || usage_source === 'cache') return [];
  const price = readPriceVersion(price_version);
  if (price === null) return [];
  const parts = usage.extras?.parts ?? [usage];
  const lines: CostLine[] = [];
  for (const part of parts) {
    const version = 'price_version' in part ? part.price_version : undefined;
    const own = version === undefined ? price : readPriceVersion(version);
    if (own !== null) addTokens(lines, part, own);
  }
  for (const [tool, requests] of Object.entries(usage.extras?.server_tools ?? {})) {
    addLine(lines, { kind: tool, unit: 'request', count: requests }, (price.fees?.get(tool) ?? 0n) * PICO_PER_NANO);
  }
  for (const [counter, count, picoUsd] of pricedUnits(usage.extras ?? {}, price.units ?? NO_UNITS)) {
    if (picoUsd !== null) addLine(lines, { kind: counter, unit: UNIT_OF[counter], count }, picoUsd);
  }
  if (price.markUpPpm === 0n) return lines;
  const whole = lines.reduce((sum, line) => sum + BigInt(line.cost_pico_usd), 0n);
  const markUp = (whole * price.markUpPpm) / PPM;
  return [...lines, { kind: 'mark_up', unit: null, count: 0, pico_usd_each: '0', cost_pico_usd: markUp.toString() }];
}

/** Adds the tokens of a call, or of one of its model runs, by kind. */
function addTokens(lines: CostLine[], usage: Usage | UsagePart, price: Price): void {
  const { input, cache_read, cache_write_5m, cache_write_1h, output, reasoning } = usage;
  const rates = chooseRates(price, input + cache_read + cache_write_5m + cache_write_1h);
  const counts: Record<string, number> = {
    input,
    cache_read,
    cache_write_5m,
    cache_write_1h,
    output: output - reasoning,
    reasoning,
  };
  const extras = 'extras' in usage ? usage.extras : undefined;
  for (const counter of EXTRA_COUNTERS) {
    const count = extras?.[counter] ?? 0;
    counts[counter] = count;
    counts[EXTRA_PARTS[counter]] = (counts[EXTRA_PARTS[counter]] ?? 0) - count;
  }
  for (const kind of [...PRICE_MEMBERS, ...EXTRA_COUNTERS]) {
    addLine(lines, { kind, unit: 'token', count: counts[kind] ?? 0 }, rates[kind]);
  }
}

/** Merges counts of the same kind and price into one line. */
function addLine(
  lines: CostLine[],
  { kind, unit, count }: Pick<CostLine, 'kind' | 'unit' | 'count'>,
  picoUsd: bigint,
): void {
  if (count === 0) return;
  const pico_usd_each = picoUsd.toString();
  const at = lines.findIndex(
    (line) => line.kind === kind && line.unit === unit && line.pico_usd_each === pico_usd_each,
  );
  const all = count + (lines[at]?.count ?? 0);
  const line = { kind, unit, count: all, pico_usd_each, cost_pico_usd: (BigInt(all) * picoUsd).toString() };
  if (at === -1) lines.push(line);
  else lines[at] = line;
}

const USAGE_COLUMNS = [
  'input',
  'cache_read',
  'cache_write_5m',
  'cache_write_1h',
  'output',
  'reasoning',
  ...UNIT_COUNTERS,
];
const NOT_IN_FILES = new Set(['reason', 'usage_flags', 'unpriced_server_tools']);
/** The members of the JSON format, with the counters of usage, the number of attempts and the kind of the reason. */
const COLUMNS = Object.keys(callView.shape)
  .filter((member) => !NOT_IN_FILES.has(member))
  .flatMap((member) => (member === 'usage' ? USAGE_COLUMNS : member))
  .concat('reason');
const PAGE_CALLS = 1_000;

/** Members of the file for columns such as `at,status`; undefined: all. */
function membersOf(columns: string | undefined): readonly string[] {
  if (columns === undefined) return COLUMNS;
  return [...new Set(columns.split(',').flatMap((name) => (isCallColumn(name) ? CALL_COLUMNS[name] : [])))];
}

interface FileShape {
  /** Undefined: newest first. */
  readonly order: CallOrder | undefined;
  readonly members: readonly string[];
}

/**
 * The header, then the calls. Holds at most one page in memory; a failed read throws, so that the file ends in an error.
 */
export async function* callLines(
  usage: Pick<UsageReader, 'readLogs'>,
  question: Omit<LogQuestion, 'beforeId' | 'limit' | 'withHistogram'>,
  { order, members }: FileShape = { order: undefined, members: COLUMNS },
): AsyncGenerator<string> {
  yield csvLine(members);
  for (let place: string | undefined; ; ) {
    const requested = { ...question, beforeId: null, ...readPlace(place, order), limit: PAGE_CALLS };
    const page: LogPage = await orRefuse(usage.readLogs({ ...requested, withHistogram: false }));
    yield page.calls.map((call) => renderLine(call, members)).join('');
    const next = page.nextPlace ? renderPlace(page.nextPlace) : page.next;
    if (next === null) return;
    place = next;
  }
}

function renderLine(call: LogPage['calls'][number], members: readonly string[]): string {
  const { usage, reason, attempts, ...rest } = renderCallRecord(call);
  const cells = new Map<string, unknown>(
    Object.entries({ ...rest, ...usage, attempts: attempts.length, reason: reason?.kind ?? null }),
  );
  return csvLine(members.map((column) => cells.get(column) as Parameters<typeof csvLine>[0][number]));
}
