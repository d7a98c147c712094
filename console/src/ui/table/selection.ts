/** Chooses rows of a table for one act: by checkbox, with Space, and a range with Shift. */
import { useRef } from 'react';

export interface Selection<Row> {
  /** Names of the rows, as `rowKey` gives them. */
  readonly chosen: ReadonlySet<string>;
  readonly mayChoose: (row: Row) => boolean;
  /** Accessible name of a row. */
  readonly nameOf: (row: Row) => string;
  readonly onChange: (chosen: ReadonlySet<string>) => void;
}

/** Null: the rows of the table are not chosen. */
export function useSelection<Row>(
  selection: Selection<Row> | undefined,
  sorted: readonly Row[],
  rowKey: (row: Row) => string,
) {
  /** Where a range begins. */
  const anchor = useRef<number | null>(null);
  if (selection === undefined) return null;
  const { chosen, mayChoose, onChange } = selection;
  const keysOf = (rows: readonly Row[]) => rows.filter(mayChoose).map(rowKey);
  const between = (one: number, other: number) => keysOf(sorted.slice(Math.min(one, other), Math.max(one, other) + 1));
  const all = keysOf(sorted);
  const count = all.filter((key) => chosen.has(key)).length;
  return {
    /** Rows that may be chosen, and those of them that are. */
    count: all.length,
    chosen: count,
    toggleAll: () => onChange(new Set(count === all.length ? [] : all)),
    /** `isRange`: all rows from the last toggled one get the state that the row gets. */
    toggle(index: number, isRange: boolean) {
      const [key] = between(index, index);
      if (key === undefined) return;
      const range = isRange && anchor.current !== null ? between(anchor.current, index) : [key];
      anchor.current = index;
      onChange(chosen.has(key) ? without(chosen, range) : new Set([...chosen, ...range]));
    },
    /** Chooses the rows that the focus passes. */
    extend(from: number, to: number) {
      anchor.current ??= from;
      onChange(new Set([...chosen, ...between(from, to)]));
    },
  };
}

function without(chosen: ReadonlySet<string>, keys: readonly string[]): ReadonlySet<string> {
  return new Set([...chosen].filter((key) => !keys.includes(key)));
}
