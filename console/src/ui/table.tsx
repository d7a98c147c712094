/**
 * Renders tables: sticky header, sortable and resizable columns, keyboard navigation, and virtual rows: only
 * the visible ones and some around them exist. All rows have the same height.
 */

import { ArrowDown, ArrowUp } from 'lucide-react';
import {
  type CSSProperties,
  type KeyboardEvent,
  type PointerEvent,
  type ReactNode,
  type SyntheticEvent,
  useRef,
  useState,
} from 'react';
import { classNames } from './class-names.ts';
import { scrollToRow, useRowWindow } from './table/row-window.ts';
import { type Selection, useSelection } from './table/selection.ts';

export interface Sorting {
  readonly column: string;
  readonly descending: boolean;
}

interface TableProps<Row> {
  /** Accessible name. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  /** Opens the row on Enter, or on a click beside its controls. */
  readonly onOpen?: (row: Row) => void;
  readonly openKey?: string | null;
  readonly selection?: Selection<Row>;
  readonly sorting?: Sorting | null;
  /** The rows come sorted: a click on a column that `sorts` asks for its order. Without it the table sorts its rows. */
  readonly onSort?: (sorting: Sorting | null) => void;
  /** Row height in pixels; default: one line. Rows of two lines are 43. */
  readonly rowPx?: number;
  /** Columns, which then each need a width, keep it whichever rows are rendered; overflow is cut off. */
  readonly fixed?: boolean;
  /** A sticky last row that is not sorted: the totals. */
  readonly totals?: Row;
  /** Below the last row: "Load more". */
  readonly foot?: ReactNode;
}

const ROW_PX = 32;
/** With fewer rows, all are rendered, so that the browser's page search finds them. */
const VIRTUAL_FROM = 120;

export function Table<Row>({
  label,
  columns,
  rows,
  rowKey,
  onOpen,
  openKey = null,
  selection,
  sorting = null,
  onSort,
  rowPx = ROW_PX,
  fixed = false,
  totals,
  foot,
}: TableProps<Row>) {
  const scroller = useRef<HTMLDivElement>(null);
  const [ownSort, setOwnSort] = useState<Sorting | null>(sorting);
  const [sort, setSort] = onSort === undefined ? [ownSort, setOwnSort] : [sorting, onSort];
  const [widths, setWidths] = useState<Readonly<Record<string, number>>>({});
  const [at, setAt] = useState(0);
  const sorted = onSort === undefined ? sortRows(rows, columns, sort) : rows;
  const isVirtual = sorted.length > VIRTUAL_FROM;
  const { first, end } = useRowWindow(scroller, { count: sorted.length, rowPx, isOn: isVirtual });

  const picks = useSelection(selection, sorted, rowKey);

  function walk(event: KeyboardEvent<HTMLTableSectionElement>): void {
    const to = isWithin(event, '[role="menu"]') ? null : nextRow(event.key, at, sorted.length);
    if (to === null) return;
    event.preventDefault();
    if (event.shiftKey) picks?.extend(at, to);
    setAt(to);
    const element = scroller.current;
    if (isVirtual && element !== null)
      element.scrollTop = scrollToRow(to, rowPx, element.scrollTop, element.clientHeight);
    // After the row is rendered.
    requestAnimationFrame(() => scroller.current?.querySelector<HTMLElement>(`tr[data-row="${to}"]`)?.focus());
  }

  return (
    <div
      ref={scroller}
      className={classNames(
        'relative min-w-0 overflow-auto rounded-lg border border-line bg-panel',
        isVirtual && 'max-h-[calc(100dvh-180px)]',
      )}
    >
      <table
        aria-label={label}
        aria-rowcount={sorted.length + 1}
        className={classNames('w-full border-separate border-spacing-0 text-left', fixed && 'table-fixed')}
      >
        <thead>
          <tr>
            {picks !== null && (
              <th scope="col" className="sticky top-0 z-10 h-8 w-8 border-b border-line bg-panel px-2 py-1">
                <input
                  type="checkbox"
                  aria-label="Select all rows"
                  className={CHECKBOX}
                  disabled={picks.count === 0}
                  checked={picks.count > 0 && picks.chosen === picks.count}
                  ref={(box) => {
                    if (box !== null) box.indeterminate = picks.chosen > 0 && picks.chosen < picks.count;
                  }}
                  onChange={picks.toggleAll}
                />
              </th>
            )}
            {columns.map((column) => (
              <ColumnHead
                key={column.id}
                column={column}
                sort={sort?.column === column.id ? (sort.descending ? 'descending' : 'ascending') : null}
                width={widths[column.id] ?? null}
                onSort={() => setSort(nextSorting(sort, column))}
                onWidth={(width) => setWidths((known) => ({ ...known, [column.id]: width }))}
              />
            ))}
          </tr>
        </thead>
        <tbody onKeyDown={walk}>
          <Gap px={first * rowPx} />
          {sorted.slice(first, end).map((row, nth) => {
            const index = first + nth;
            const key = rowKey(row);
            return (
              <tr
                key={key}
                data-row={index}
                aria-rowindex={index + 2}
                aria-selected={onOpen === undefined ? undefined : key === openKey}
                tabIndex={onOpen === undefined ? undefined : index === at ? 0 : -1}
                onFocus={() => setAt(index)}
                onClick={(event) => {
                  if (!isWithin(event, CONTROLS)) onOpen?.(row);
                }}
                onKeyDown={(event) => {
                  if (event.target !== event.currentTarget) return;
                  if (event.key === 'Enter') onOpen?.(row);
                  if (event.key !== ' ' || picks === null) return;
                  event.preventDefault();
                  picks.toggle(index, event.shiftKey);
                }}
                className={classNames(
                  'group h-8 outline-offset-[-2px]',
                  onOpen !== undefined && 'cursor-pointer hover:bg-hover',
                  key === openKey || selection?.chosen.has(key) === true ? 'bg-accent-soft' : 'bg-panel',
                )}
              >
                {picks !== null && (
                  <td data-control className="w-8 border-b border-line px-2 py-1 group-last:border-0">
                    <input
                      type="checkbox"
                      aria-label={`Select ${selection?.nameOf(row)}`}
                      className={CHECKBOX}
                      tabIndex={-1}
                      disabled={selection?.mayChoose(row) !== true}
                      checked={selection?.chosen.has(key) === true}
                      onClick={({ shiftKey }) => picks.toggle(index, shiftKey)}
                      onChange={() => undefined}
                    />
                  </td>
                )}
                {columns.map((column, place) => (
                  <td
                    key={column.id}
                    className={classNames(
                      'truncate border-b border-line px-2 py-1 group-last:border-0 md:max-w-80 md:px-3',
                      // On a phone, the name leaves room for the numbers.
                      place === 0 ? 'max-w-36' : 'max-w-48',
                      column.align === 'right' && 'figures text-right',
                      column.pinned === true && 'sticky right-0 z-[5] bg-inherit',
                      column.wideOnly === true && 'max-md:hidden',
                    )}
                  >
                    {column.cell(row)}
                  </td>
                ))}
              </tr>
            );
          })}
          <Gap px={(sorted.length - end) * rowPx} />
        </tbody>
        {totals !== undefined && (
          <tfoot>
            <tr className="h-8 font-medium">
              {columns.map((column) => (
                <td
                  key={column.id}
                  className={classNames(
                    'sticky bottom-0 border-t border-line-strong bg-panel px-2 py-1 whitespace-nowrap md:px-3',
                    column.align === 'right' && 'figures text-right',
                    column.wideOnly === true && 'max-md:hidden',
                  )}
                >
                  {column.cell(totals)}
                </td>
              ))}
            </tr>
          </tfoot>
        )}
      </table>
      {foot}
    </div>
  );
}

const CHECKBOX = 'block size-3.5 accent-(--color-accent) disabled:opacity-40';

/** Act on their own within a row. `data-control`: a press near a control is meant for it. */
const CONTROLS = 'a, button, input, select, label, dialog, [role="menu"], [data-control]';

/** Whether the event comes from such a part of the element that handles it. */
function isWithin({ target, currentTarget }: SyntheticEvent, selector: string): boolean {
  const part = target instanceof Element ? target.closest(selector) : null;
  return part !== null && !part.contains(currentTarget as Element);
}

/** Fills the space of rows that are not rendered. */
function Gap({ px }: { readonly px: number }) {
  return px <= 0 ? null : (
    <tr>
      <td style={{ height: px }} />
    </tr>
  );
}

function nextRow(key: string, at: number, count: number): number | null {
  const last = count - 1;
  switch (key) {
    case 'ArrowDown':
      return Math.min(last, at + 1);
    case 'ArrowUp':
      return Math.max(0, at - 1);
    case 'PageDown':
      return Math.min(last, at + 12);
    case 'PageUp':
      return Math.max(0, at - 12);
    case 'Home':
      return 0;
    case 'End':
      return last;
    default:
      return null;
  }
}

/** Numbers start descending, text ascending; the third click restores the original order. */
function nextSorting<Row>(sort: Sorting | null, column: Column<Row>): Sorting | null {
  const first = column.align === 'right';
  if (sort?.column !== column.id) return { column: column.id, descending: first };
  return sort.descending === first ? { column: column.id, descending: !first } : null;
}

function sortRows<Row>(rows: readonly Row[], columns: readonly Column<Row>[], sort: Sorting | null): readonly Row[] {
  const by = columns.find((column) => column.id === sort?.column)?.sortBy;
  if (by === undefined || sort === null) return rows;
  const sign = sort.descending ? -1 : 1;
  return [...rows].sort((one, other) => sign * compare(by(one), by(other)));
}

function compare(one: number | bigint | string, other: number | bigint | string): number {
  if (typeof one === 'string' && typeof other === 'string') return one.localeCompare(other, 'en', { numeric: true });
  return one < other ? -1 : one > other ? 1 : 0;
}

export interface Column<Row> {
  readonly id: string;
  /** With the unit, when the cells are numbers. */
  readonly head: string;
  readonly cell: (row: Row) => ReactNode;
  /** Right-aligns numbers. */
  readonly align?: 'right';
  /** Initial width in pixels, ignored on narrow windows; default: the remaining width. */
  readonly width?: number;
  /** Sort value; without it the column is not sortable. */
  readonly sortBy?: (row: Row) => number | bigint | string;
  /** In a table whose rows come sorted: they can be sorted by this column. */
  readonly sorts?: boolean;
  /** Stays visible at the right while the table scrolls sideways: for a row's actions. */
  readonly pinned?: boolean;
  /** Hidden on narrow windows. */
  readonly wideOnly?: boolean;
}

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

function ColumnHead<Row>({ column, sort, width, onSort, onWidth }: ColumnHeadProps<Row>) {
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
      style={width === null ? defaultWidth(column.width) : { width, minWidth: width }}
      className={classNames(
        'group/head sticky top-0 z-10 h-8 border-b border-line bg-panel px-2 py-1 text-sm/4 font-medium text-ink-2 md:px-3',
        width === null && column.width !== undefined && 'md:w-(--usual-width) md:min-w-(--usual-width)',
        column.align === 'right' ? 'text-right' : 'text-left',
        column.pinned === true && 'right-0 z-20',
        column.wideOnly === true && 'max-md:hidden',
      )}
    >
      {column.head === '' && <span className="sr-only">Actions</span>}
      {column.sortBy === undefined && column.sorts !== true ? (
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
function defaultWidth(px: number | undefined): CSSProperties | undefined {
  return px === undefined ? undefined : ({ '--usual-width': `${px}px` } as CSSProperties);
}
