/** Renders a table's column head: sorting, and an edge that resizes the column by dragging or by the arrow keys. */
import { ArrowDown, ArrowUp } from 'lucide-react';
import { type CSSProperties, type PointerEvent, useRef } from 'react';
import { classNames } from './class-names.ts';
import type { Column } from './column.ts';

interface ColumnHeadProps<Row> {
  readonly column: Column<Row>;
  readonly sort: 'ascending' | 'descending' | null;
  /** Pixels the user dragged it to; null: not resized. */
  readonly width: number | null;
  readonly onSort: () => void;
  readonly onWidth: (widthPx: number) => void;
}

const WIDTH_MIN_PX = 48;
const STEP_PX = 16;

export function ColumnHead<Row>({ column, sort, width, onSort, onWidth }: ColumnHeadProps<Row>) {
  const ref = useRef<HTMLTableCellElement>(null);
  const widthNow = () => ref.current?.offsetWidth ?? WIDTH_MIN_PX;

  function drag(event: PointerEvent<HTMLElement>): void {
    const edge = event.currentTarget;
    const startPx = event.clientX;
    const startWidth = widthNow();
    edge.setPointerCapture(event.pointerId);
    edge.onpointermove = (move) => onWidth(Math.max(WIDTH_MIN_PX, startWidth + move.clientX - startPx));
    edge.onpointerup = () => {
      edge.onpointermove = null;
    };
  }

  return (
    <th
      ref={ref}
      scope="col"
      aria-sort={sort ?? undefined}
      style={width === null ? usualWidth(column.width) : { width, minWidth: width }}
      className={classNames(
        'group/head sticky top-0 z-10 h-8 border-b border-line bg-panel px-2 py-1 text-sm/4 font-medium text-ink-2 md:px-3',
        width === null && column.width !== undefined && 'md:w-(--usual-width) md:min-w-(--usual-width)',
        column.align === 'right' ? 'text-right' : 'text-left',
        column.pinned === true && 'right-0 z-20',
        column.wideOnly === true && 'max-md:hidden',
      )}
    >
      {column.head === '' && <span className="sr-only">Actions</span>}
      {column.sortBy === undefined ? (
        column.head
      ) : (
        <button
          type="button"
          onClick={onSort}
          className={classNames(
            'inline-flex items-center gap-1 hover:text-ink',
            column.align === 'right' ? 'text-right' : 'text-left',
          )}
        >
          {column.head}
          {sort === 'ascending' && <ArrowUp size={12} className="shrink-0" aria-hidden="true" />}
          {sort === 'descending' && <ArrowDown size={12} className="shrink-0" aria-hidden="true" />}
        </button>
      )}
      {column.head !== '' && (
        // biome-ignore lint/a11y/useSemanticElements: an hr cannot be focused and dragged
        <div
          role="separator"
          aria-orientation="vertical"
          aria-label={`Resize ${column.head}`}
          aria-valuenow={width ?? column.width ?? 0}
          tabIndex={0}
          onPointerDown={drag}
          onKeyDown={(event) => {
            const step = event.key === 'ArrowRight' ? STEP_PX : event.key === 'ArrowLeft' ? -STEP_PX : 0;
            if (step === 0) return;
            event.preventDefault();
            onWidth(Math.max(WIDTH_MIN_PX, widthNow() + step));
          }}
          className="absolute inset-y-1 right-0 w-1 cursor-col-resize touch-none rounded-full hover:bg-line-strong focus-visible:bg-accent"
        />
      )}
    </th>
  );
}

/** A CSS variable, applied by a class on wide windows only. */
function usualWidth(px: number | undefined): CSSProperties | undefined {
  return px === undefined ? undefined : ({ '--usual-width': `${px}px` } as CSSProperties);
}
