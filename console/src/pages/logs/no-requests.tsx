/** Renders a list without requests: what was searched, and the next step. Loaded when shown. */
import { clearFilters } from '../../filters/filters.ts';
import { spanWords } from '../../filters/span-words.ts';
import type { TimeRange } from '../../filters/time-range.ts';
import { counted } from '../../lib/format.ts';
import { exactTime, useClockZone } from '../../lib/zone.ts';
import { useFilters } from '../../route/route.ts';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/page.tsx';
import { isFiltered, LOG_FILTERS } from './log-filters.ts';

interface SearchPausedProps {
  readonly next: string;
  readonly isFetching: boolean;
  readonly onContinue: () => void;
}

interface NoRequestsProps extends Omit<SearchPausedProps, 'next'> {
  /** Where the search continues; null: it is over. */
  readonly next: string | null;
  readonly range: TimeRange;
  readonly isLive: boolean;
  /** Requests whose stored bodies were searched for text; null: the query has none. */
  readonly searched: number | null;
}

/** How far a search came; its position is an id or the beginning of one. */
function searchedBack(next: string, zone: string): string {
  const [, digits] = /^req_([0-9a-f]{12})/.exec(next) ?? [];
  if (digits === undefined) return 'The range is searched in parts.';
  return `Searched back to ${exactTime(new Date(Number.parseInt(digits, 16)).toISOString(), zone)}.`;
}

/** The search of a long range stops after some time; a user continues it. */
function SearchPaused({ next, isFetching, onContinue }: SearchPausedProps) {
  const zone = useClockZone();
  return (
    <Empty
      title="No matching requests so far"
      action={
        <Button kind="primary" busy={isFetching} onClick={onContinue}>
          Continue
        </Button>
      }
    >
      {searchedBack(next, zone)}
    </Empty>
  );
}

function searchedWords(searched: number): string {
  if (searched === 0) {
    return 'The text is searched in stored prompts and responses, and none are stored for these requests. Workspaces store them only where their policy says so.';
  }
  return `The text was searched in the prompts and responses of ${counted(searched, 'request')}. Requests without stored bodies were not searched.`;
}

export default function NoRequests({ next, range, isLive, searched, ...paused }: NoRequestsProps) {
  const [search, change] = useFilters();
  const span = spanWords(range);
  if (next !== null) return <SearchPaused next={next} {...paused} />;
  if (isFiltered(search)) {
    return (
      <Empty
        title={`No matching requests in ${span}`}
        action={
          <Button
            kind="primary"
            onClick={() =>
              change({ q: undefined, reason: undefined, ...clearFilters(LOG_FILTERS.map(({ name }) => name)) })
            }
          >
            Clear filters
          </Button>
        }
      >
        {searched === null
          ? 'No requests in this period match the filters. A complete request ID is found in any time range.'
          : searchedWords(searched)}
      </Empty>
    );
  }
  return (
    <Empty
      title={`No requests in ${span}`}
      action={
        <Button kind="primary" onClick={() => change({ range: '90d', from: undefined, to: undefined })}>
          Show the last 90 days
        </Button>
      }
    >
      {isLive
        ? 'New requests appear here within two seconds.'
        : 'All requests are listed here, including rejected ones.'}
    </Empty>
  );
}
