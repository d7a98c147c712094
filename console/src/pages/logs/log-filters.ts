/** Reads the filters of the logs page from its address. */

import type { Query } from '../../../../gateway/src/console-api/contract/contract.ts';
import { isCallColumn } from '../../../../gateway/src/lib/query/call-columns.ts';
import { SORTS } from '../../../../gateway/src/lib/query/call-order.ts';
import { readWithout, withoutQuery } from '../../filters/filters.ts';
import type { TimeRange } from '../../filters/time-range.ts';
import { RECORDED_CHOICES } from '../../lib/protocols.ts';
import type { Sorting } from '../../ui/table.tsx';

const OUTCOMES = [
  ['ok', 'Successful'],
  ['client_error', 'Client error'],
  ['server_error', 'Server error'],
  ['cancelled', 'Canceled'],
] as const;

export const LOG_FILTERS = [
  { name: 'model', word: 'Model', none: 'None' },
  { name: 'provider', word: 'Provider', none: 'None' },
  { name: 'key', word: 'API key' },
  { name: 'member', word: 'Member', none: 'Command line' },
  { name: 'workspace', word: 'Workspace' },
  { name: 'end_user', word: 'End user', none: 'None' },
  { name: 'session', word: 'Session', none: 'None' },
  { name: 'protocol', word: 'Protocol', only: RECORDED_CHOICES },
  { name: 'outcome', word: 'Outcome', only: OUTCOMES },
] as const;

const CAN_BE_NONE = LOG_FILTERS.flatMap((filter) => ('none' in filter ? [filter.name] : []));

export type LogQuery = Query<'GET /accounts/{account}/reasons'>;
type Search = Readonly<Record<string, string>>;

/** Unknown filters are dropped. A preset range has no end, so that it includes future calls. */
export function logQuery(search: Search, range: TimeRange): LogQuery {
  const set = LOG_FILTERS.filter((filter) => {
    const value = search[filter.name];
    if (value === undefined) return false;
    return !('only' in filter) || filter.only.some(([known]) => known === value);
  });
  const q = search.q?.trim() ?? '';
  return {
    from: range.from,
    ...(range.preset === null ? { to: range.to } : {}),
    ...(q === '' ? {} : { q }),
    ...(search.reason === undefined ? {} : { reason: search.reason }),
    ...Object.fromEntries(set.map(({ name }) => [name, search[name]])),
    ...withoutQuery(search, CAN_BE_NONE),
  };
}

export type ListQuery = LogQuery & Pick<Query<'GET /accounts/{account}/logs'>, 'sort'>;

export function listQuery(search: Search, query: LogQuery): ListQuery {
  const sorting = sortingOf(search.sort);
  return sorting === null ? query : { ...query, sort: sortText(sorting) as NonNullable<ListQuery['sort']> };
}

/** A file has the columns and the order of the list; without columns in the address, all that a record has. */
export function csvQuery({ columns }: Search, query: ListQuery): Query<'GET /accounts/{account}/logs.csv'> {
  const known = columns?.split(',').filter(isCallColumn) ?? [];
  return known.length === 0 ? query : { ...query, columns: known.join(',') };
}

/** Null: newest first. */
export function sortingOf(sort: string | undefined): Sorting | null {
  const descending = sort?.startsWith('-') ?? false;
  const column = SORTS.find((one) => one === (descending ? sort?.slice(1) : sort));
  return column === undefined ? null : { column, descending };
}

export function sortText(sorting: Sorting | null): string | undefined {
  return sorting === null ? undefined : `${sorting.descending ? '-' : ''}${sorting.column}`;
}

export function isFiltered(search: Search): boolean {
  return (
    search.q !== undefined ||
    search.reason !== undefined ||
    readWithout(search).length > 0 ||
    LOG_FILTERS.some(({ name }) => search[name] !== undefined)
  );
}
