/** Defines a table's column. */
import type { ReactNode } from 'react';

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
  /** Stays visible at the right while the table scrolls sideways: for a row's actions. */
  readonly pinned?: boolean;
  /** Hidden on narrow windows. */
  readonly wideOnly?: boolean;
}
