/**
 * Reads what a saved view keeps of the address of the logs page, and compares it with a view. The address of a page that
 * shows a view contains all of its members and its id, so that a link works as long as any other.
 */
import type { Reply } from '../../../../../gateway/src/console-api/contract/contract.ts';
import { CALENDAR_LABELS, PRESETS } from '../../../filters/time-range.ts';
import { sortingOf, sortText } from '../log-filters.ts';
import { reasonLabel } from '../reasons/reason-titles.ts';

export type SavedView = Reply<'GET /accounts/{account}/views'>['views'][number];
type ViewSearch = SavedView['search'];
type Search = Readonly<Record<string, string>>;

/** The member of the address with the id of the shown view. */
export const VIEW_ID = 'saved';

const MEMBERS: Readonly<Record<keyof ViewSearch, true>> = {
  q: true,
  range: true,
  from: true,
  to: true,
  sort: true,
  columns: true,
  view: true,
  reason: true,
  model: true,
  provider: true,
  key: true,
  member: true,
  workspace: true,
  end_user: true,
  session: true,
  protocol: true,
  outcome: true,
  without: true,
};
const VIEW_MEMBERS = Object.keys(MEMBERS) as readonly (keyof ViewSearch)[];

/** What a view of this page would keep. An order that the page ignores is left out. */
export function viewSearchOf(search: Search): ViewSearch {
  const sort = sortText(sortingOf(search.sort));
  const set = VIEW_MEMBERS.flatMap((name) => {
    const value = name === 'sort' ? sort : search[name];
    return value === undefined || value === '' ? [] : [[name, value]];
  });
  return Object.fromEntries(set) as ViewSearch;
}

/** Changes of the address that show a view; null: none, with the page as it is. */
export function showView(view: Pick<SavedView, 'id' | 'search'> | null): Readonly<Record<string, string | undefined>> {
  if (view === null) return { [VIEW_ID]: undefined };
  return {
    ...Object.fromEntries(VIEW_MEMBERS.map((name) => [name, undefined])),
    live: undefined,
    ...view.search,
    [VIEW_ID]: view.id,
  };
}

/** The address of a view, for links from other pages. */
export function addressOfView({ id, search }: Pick<SavedView, 'id' | 'search'>): Search {
  return { ...(search as Search), [VIEW_ID]: id };
}

/** Whether the page shows something else than the view. */
export function isModified(search: Search, view: SavedView): boolean {
  const shown = viewSearchOf(search);
  return VIEW_MEMBERS.some((name) => shown[name] !== view.search[name]);
}

/** What a view lists, in one line: its query, filters, range and order. */
export function viewText({ q, view, range, from, to, sort, columns: _, ...filters }: ViewSearch): string {
  const words = [
    q,
    view === undefined ? undefined : 'by reason',
    ...Object.entries(filters).flatMap(([name, value]) => (value === undefined ? [] : filterText(name, value))),
    from === undefined || to === undefined ? rangeWord(range) : `${from.slice(0, 10)} to ${to.slice(0, 10)}`,
    sort === undefined ? undefined : `by ${sort.replace('-', '')}`,
  ];
  return words.filter((text) => text !== undefined && text !== '').join(' · ');
}

function filterText(name: string, value: string): string {
  if (name === 'reason') return reasonLabel(value);
  if (name === 'without') return `without ${value.replaceAll('_', ' ').replaceAll(',', ', ')}`;
  // Their values are ids.
  if (name === 'key' || name === 'member') return `one ${name}`;
  return `${name.replace('_', ' ')} ${value}`;
}

function rangeWord(range: string | undefined): string {
  const calendar = Object.entries(CALENDAR_LABELS).find(([name]) => name === range);
  return calendar?.[1].toLowerCase() ?? `last ${PRESETS.find((one) => one === range) ?? '24h'}`;
}
