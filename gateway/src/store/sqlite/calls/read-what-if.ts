/**
 * Recomputes the cost of past calls at another price with the price engine, record by record, newest first. Stops where
 * the time is over: the answer says how far it came.
 */
import type { Database } from 'bun:sqlite';
import { type Price, parsePriceVersion } from '../../../billing/price.ts';
import { chargedNanoUsd } from '../../../billing/price-book.ts';
import type { Usage } from '../../../generation/usage.ts';
import { GENERATED_PROTOCOLS } from '../../../protocols/names.ts';
import type { WhatIfAnswer, WhatIfGroup, WhatIfQuestion } from '../../ports/calls/what-if.ts';
import type { CallRecordRow } from '../database/sqlite-dialect.ts';
import { withStoredExtras } from '../ledger/call-record-row.ts';
import { matchingCalls, matchingRanges } from '../query/log-ranges.ts';
import { timeOf } from '../usage/find-ids.ts';
import type { Deadline } from '../usage/scan-records.ts';

/** Rows between two checks of the clock. */
const PAGE_ROWS = 2_000;
/** More groups end a page: an account may have many keys. */
const GROUPS_MAX = 5_000;

const COLUMNS = [
  'request_id',
  'key_id',
  'key_name',
  'model',
  'served_model',
  'protocol',
  'input',
  'cache_read',
  'cache_write_5m',
  'cache_write_1h',
  'output',
  'reasoning',
  'usage_source',
  'usage_apart',
] as const;

type Row = Pick<CallRecordRow, (typeof COLUMNS)[number]> & { readonly cost: string | null };
type Sums = { -readonly [Member in keyof WhatIfGroup]: WhatIfGroup[Member] };

export function readWhatIf(database: Database, question: WhatIfQuestion, pace: Deadline): WhatIfAnswer {
  const price = parsePriceVersion(question.priceVersion);
  const { sql, parameters } = matchingCalls(question);
  const read = database.prepare<Row, (string | number | null)[]>(
    `SELECT ${COLUMNS.join(', ')}, cast(cost_nano_usd AS TEXT) AS cost FROM call_record
      WHERE request_id >= ? AND request_id < ? AND ${sql} ORDER BY request_id DESC LIMIT ${PAGE_ROWS}`,
  );
  const groups = new Map<string, Sums>();
  const others = { tiered: 0, unpriced: 0, otherFormats: 0 };
  const answer = (next: WhatIfAnswer['next']): WhatIfAnswer => ({ groups: [...groups.values()], ...others, next });
  const { beforeId, idPrefix } = question;
  try {
    for (const range of matchingRanges(database, question)) {
      const from = idPrefix === null || idPrefix < range.from ? range.from : idPrefix;
      let below = beforeId !== null && beforeId < range.below ? beforeId : range.below;
      while (from < below) {
        const rows = read.all(from, below, ...parameters);
        for (const row of rows) addRow(groups, others, row, price);
        below = rows.length < PAGE_ROWS ? from : (rows.at(-1)?.request_id ?? from);
        if (pace.isOver() || groups.size > GROUPS_MAX) {
          return answer({ id: below, countedFromMs: timeOf(below) ?? 0 });
        }
      }
    }
  } finally {
    read.finalize();
  }
  return answer(null);
}

function addRow(
  groups: Map<string, Sums>,
  others: { tiered: number; unpriced: number; otherFormats: number },
  row: Row,
  price: Price,
): void {
  // Other formats have prices of other kinds, batches a discount.
  if (!GENERATED_PROTOCOLS.has(row.protocol)) {
    others.otherFormats += 1;
    return;
  }
  if (row.cost === null) {
    others.unpriced += 1;
    return;
  }
  const { key_id: keyId, key_name: keyName, model, served_model: served } = row;
  const name = JSON.stringify([model, served, keyId]);
  let sums = groups.get(name);
  if (sums === undefined) {
    const none = { requests: 0, now: 0n, other: 0n, otherUncached: 0n, otherReasoning: 0n, reasoningTokens: 0 };
    sums = { model, served, keyId, keyName, ...none };
    groups.set(name, sums);
  }
  sums.requests += 1;
  sums.now += BigInt(row.cost);
  // Nothing was used, or nothing is charged for a repeated answer, whatever the model.
  if (row.usage_source === 'void' || row.usage_source === 'cache') return;
  const recorded = withStoredExtras(countersOf(row), row.usage_apart);
  if (recorded.extras?.tier !== undefined) others.tiered += 1;
  const usage = onOneModel(recorded);
  const other = costOf(usage, price);
  sums.other += other;
  const { cache_read, cache_write_5m, cache_write_1h, reasoning } = usage;
  const isCached = cache_read + cache_write_5m + cache_write_1h > 0;
  sums.otherUncached += isCached ? costOf(uncached(usage), price) : other;
  if (reasoning === 0) return;
  sums.otherReasoning += other - costOf(withoutReasoning(usage), price);
  sums.reasoningTokens += reasoning;
}

function countersOf({ input, cache_read, cache_write_5m, cache_write_1h, output, reasoning }: Row): Usage {
  return { input, cache_read, cache_write_5m, cache_write_1h, output, reasoning };
}

/** As if each run had been of the other model, at its list price. */
function onOneModel(usage: Usage): Usage {
  if (usage.extras === undefined) return usage;
  const { tier: _tier, parts, ...rest } = usage.extras;
  const runs = parts?.map(({ model: _model, price_version: _version, ...counters }) => counters);
  return { ...usage, extras: runs === undefined ? rest : { ...rest, parts: runs } };
}

type Counters = Pick<Usage, 'input' | 'cache_read' | 'cache_write_5m' | 'cache_write_1h'>;

const asInput = <Given extends Counters>(given: Given): Given => ({
  ...given,
  input: given.input + given.cache_read + given.cache_write_5m + given.cache_write_1h,
  cache_read: 0,
  cache_write_5m: 0,
  cache_write_1h: 0,
});

function uncached(usage: Usage): Usage {
  if (usage.extras === undefined) return asInput(usage);
  const { cache_write_30m: _write, audio_cache_read = 0, ...rest } = usage.extras;
  const audio_input = (rest.audio_input ?? 0) + audio_cache_read;
  const parts = rest.parts?.map(({ extras: _media, ...run }) => asInput(run));
  const extras = { ...rest, ...(audio_input > 0 && { audio_input }), ...(parts !== undefined && { parts }) };
  return { ...asInput(usage), extras };
}

function withoutReasoning(usage: Usage): Usage {
  const cut = <Given extends Pick<Usage, 'output' | 'reasoning'>>(given: Given): Given => ({
    ...given,
    output: given.output - given.reasoning,
    reasoning: 0,
  });
  const parts = usage.extras?.parts?.map(cut);
  return { ...cut(usage), ...(parts === undefined ? {} : { extras: { ...usage.extras, parts } }) };
}

function costOf(usage: Usage, price: Price): bigint {
  return chargedNanoUsd(usage, price, () => price);
}
