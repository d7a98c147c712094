/** Renders the table of calls, and reports when it must not move because someone is reading it. */
import { ArrowUp } from 'lucide-react';
import { type ReactNode, useEffect, useMemo, useRef } from 'react';
import type { CallColumn } from '../../../../gateway/src/lib/query/call-columns.ts';
import { counted } from '../../lib/format.ts';
import { exactTime } from '../../lib/zone.ts';
import { Button } from '../../ui/button.tsx';
import { type Sorting, Table } from '../../ui/table.tsx';
import type { CallView } from './use-call-list.ts';
import { tableColumns } from './views/call-columns.tsx';

interface CallTableProps {
  readonly calls: readonly CallView[];
  readonly columns: readonly CallColumn[];
  /** Whether the user chose the columns. */
  readonly hasOwnColumns: boolean;
  /** New calls that are not shown yet. */
  readonly waiting: number;
  /** Whether a button over the table offers them; else the page does. */
  readonly offersWaiting: boolean;
  /** Null: newest first. */
  readonly sorting: Sorting | null;
  readonly onSort: (sorting: Sorting | null) => void;
  readonly openKey: string | null;
  readonly onOpen: (call: CallView) => void;
  readonly onShowNew: () => void;
  /** Whether the pointer is over the rows, or the list is scrolled down. */
  readonly onHold: (holds: boolean) => void;
  readonly foot: ReactNode;
}

const STILL_PX = 8;

export function CallTable({
  calls,
  columns,
  hasOwnColumns,
  waiting,
  offersWaiting,
  sorting,
  onSort,
  openKey,
  onOpen,
  onShowNew,
  onHold,
  foot,
}: CallTableProps) {
  const shown = useMemo(() => tableColumns(columns, hasOwnColumns), [columns, hasOwnColumns]);
  const frame = useRef<HTMLDivElement>(null);
  const isOver = useRef(false);
  const holdNow = () => {
    const scroller = frame.current?.firstElementChild;
    const isScrolled = scrollY > (frame.current?.offsetTop ?? 0) || (scroller?.scrollTop ?? 0) > STILL_PX;
    onHold(isOver.current || isScrolled);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: it reads only refs
  useEffect(() => {
    addEventListener('scroll', holdNow, { passive: true, capture: true });
    return () => removeEventListener('scroll', holdNow, { capture: true });
  }, []);
  const point = (over: boolean) => {
    isOver.current = over;
    holdNow();
  };
  return (
    <div className="relative">
      <div ref={frame} onPointerEnter={() => point(true)} onPointerLeave={() => point(false)}>
        <Table
          label={sorting === null ? 'Requests, newest first' : 'Requests'}
          sorting={sorting}
          onSort={onSort}
          columns={shown}
          rows={calls}
          rowKey={({ request_id: id }) => id}
          onOpen={onOpen}
          openKey={openKey}
          foot={foot}
        />
      </div>
      <div role="status" className="pointer-events-none absolute inset-x-0 top-10 z-20 flex justify-center">
        {waiting > 0 && offersWaiting && (
          <Button
            kind="primary"
            icon={<ArrowUp size={14} aria-hidden="true" />}
            className="pointer-events-auto animate-[rise-in_140ms_ease-out] shadow-float"
            onClick={() => {
              frame.current?.firstElementChild?.scrollTo({ top: 0 });
              onShowNew();
            }}
          >
            {counted(waiting, 'new request')}
          </Button>
        )}
      </div>
    </div>
  );
}

/** Title of a call's sheet. */
export function callTitle(call: CallView, zone: string): string {
  return `${call.model ?? 'No model'} · ${exactTime(call.at, zone)}`;
}
