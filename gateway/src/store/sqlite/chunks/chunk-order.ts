/** Finds the first records of chunks in the order of a column. */
import type { CallOrder } from '../../../lib/query/call-order.ts';
import type { CallPlace } from '../../ports/usage.ts';
import { comparePlaces, MISSING_TEXTS, SORT_KINDS } from '../query/read-sorted.ts';
import type { Deadline } from '../usage/scan-records.ts';
import type { ChunkColumn, ColumnValue } from './chunk-column.ts';
import { sortedField } from './chunk-fields.ts';
import type { ChunkTerm } from './chunk-terms.ts';
import { type Chunk, type ChunkSpan, idOf, matchRows } from './read-chunks.ts';

export interface ChunkSearch {
  readonly span: ChunkSpan;
  readonly terms: readonly ChunkTerm[];
  /** Maximum number of places. */
  readonly count: number;
}

/** `after`: the place before the first; null: from the beginning. `chunks`: the newest first. */
export function firstPlaces(
  chunks: readonly Chunk[],
  { span, terms, count }: ChunkSearch,
  { order, after }: { readonly order: CallOrder; readonly after: CallPlace | null },
  deadline: Deadline,
): readonly CallPlace[] {
  const compare = comparePlaces(order);
  let first: readonly CallPlace[] = [];
  // Of equal values those come first that are met first: then later chunks have none that are better.
  for (const chunk of order.isDescending ? chunks : chunks.toReversed()) {
    const rows = matchRows(chunk, span, terms);
    if (rows !== null) {
      const bound = first.length < count ? null : (first[count - 1] ?? null);
      const found = searchChunk(chunk, rows, { order, after, bound, count });
      if (found.length > 0) first = [...first, ...found].sort(compare).slice(0, count);
    }
    deadline.check();
  }
  return first;
}

interface Search {
  readonly order: CallOrder;
  readonly after: CallPlace | null;
  /** Only places before it matter. */
  readonly bound: CallPlace | null;
  readonly count: number;
}

function searchChunk(chunk: Chunk, rows: Uint8Array, { order, after, bound, count }: Search): readonly CallPlace[] {
  const column = chunk.column(sortedField(order.by));
  const behind = after === null ? null : sidesOf(chunk, column, order, after);
  const ahead = bound === null ? null : sidesOf(chunk, column, order, bound);
  const { codes } = column;
  const candidates: number[] = [];
  const ties: number[] = [];
  for (let row = 0; row < rows.length; row++) {
    if (rows[row] === 0) continue;
    const code = codes[row] ?? 0;
    const [isBehind, isAhead] = [behind?.[code] ?? 1, ahead?.[code] ?? -1];
    if (isBehind === -1 || isAhead === 1) continue;
    (isBehind === 0 || isAhead === 0 ? ties : candidates).push(row);
  }
  if (candidates.length === 0 && ties.length === 0) return [];
  const ids = chunk.column('id');
  const sign = order.isDescending ? -1 : 1;
  for (const row of ties) {
    const id = idOf(ids, row);
    const code = codes[row] ?? 0;
    const isPast = (place: CallPlace) => (id < place.id ? -1 : id > place.id ? 1 : 0) * sign;
    if (behind?.[code] === 0 && after !== null && isPast(after) <= 0) continue;
    if (ahead?.[code] === 0 && bound !== null && isPast(bound) >= 0) continue;
    candidates.push(row);
  }
  const rankOf = (code: number) => (code === 0 && !order.isDescending ? column.count + 1 : code);
  candidates.sort((one, other) => sign * (rankOf(codes[one] ?? 0) - rankOf(codes[other] ?? 0)) || sign * (one - other));
  return candidates.slice(0, count).map((row) => ({
    value: textOf(column.valueOf(codes[row] ?? 0), order),
    id: idOf(ids, row),
  }));
}

/** For each code whether its records are before (-1) or after a place (1); 0: their ids decide. */
function sidesOf(chunk: Chunk, column: ChunkColumn, { by, isDescending }: CallOrder, place: CallPlace): Int8Array {
  const sign = isDescending ? -1 : 1;
  const tie = chunk.lastId < place.id ? -sign : chunk.firstId > place.id ? sign : 0;
  const sides = new Int8Array(column.count + 1);
  const value = parseValue(place.value, { by, isDescending });
  if (value === null) {
    sides.fill(-1);
    sides[0] = tie;
    return sides;
  }
  const below = column.countBelow(value, false);
  const upTo = column.countBelow(value, true);
  sides.fill(-sign, 1, below + 1);
  sides.fill(tie, below + 1, upTo + 1);
  sides.fill(sign, upTo + 1);
  // Records without a value are last.
  sides[0] = 1;
  return sides;
}

/** The value as text, as `readPlaces` writes it. */
function textOf(value: ColumnValue | null, { by, isDescending }: CallOrder): string {
  return value === null ? MISSING_TEXTS[SORT_KINDS[by]][isDescending ? 0 : 1] : String(value);
}

/** Null: none. A text becomes bytes. */
function parseValue(text: string, { by, isDescending }: CallOrder): Uint8Array | number | bigint | null {
  const kind = SORT_KINDS[by];
  if (text === MISSING_TEXTS[kind][isDescending ? 0 : 1]) return null;
  if (kind === 'text') return Buffer.from(text);
  return kind === 'real' ? Number(text) : BigInt(text);
}
