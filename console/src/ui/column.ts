/** Owns what a table's column is. */
import type { ReactNode } from 'react';

export interface Column<Row> {
  readonly id: string;
  /** With the unit, where the cells are numbers. */
  readonly head: string;
  readonly cell: (row: Row) => ReactNode;
  /** Numbers stand at the right. */
  readonly align?: 'right';
  /** Pixels to begin with, but on a narrow window; default: as wide as is left. */
  readonly width?: number;
  /** What it is sorted by; without it the column is not sortable. */
  readonly sortBy?: (row: Row) => number | bigint | string;
  /** Stays in sight at the right when the table is scrolled aside: what can be done with a row. */
  readonly pinned?: boolean;
  /** Left out on a narrow window. */
  readonly wideOnly?: boolean;
}
