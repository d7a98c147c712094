/** Finds the rows of a long table that are rendered: the visible ones and some around them. */
import { type RefObject, useLayoutEffect, useState } from 'react';
import { flushSync } from 'react-dom';

interface RowWindow {
  readonly first: number;
  /** Exclusive. */
  readonly end: number;
}

/** Rows rendered above and below the visible ones, so that scrolling and arrow keys find them. */
const AROUND = 12;
/** A table's sticky head is as high as a row. */
const HEAD_ROWS = 1;

/** The rows that are visible at the scroll position `scrollPx`, and some around them. */
export function visibleRows(count: number, rowPx: number, scrollPx: number, heightPx: number): RowWindow {
  const first = Math.min(Math.floor(scrollPx / rowPx), Math.max(0, count - 1));
  return {
    first: Math.max(0, first - AROUND),
    end: Math.min(count, first + Math.ceil(heightPx / rowPx) + AROUND),
  };
}

/** The scroll position at which the row is fully visible. */
export function scrollToRow(row: number, rowPx: number, scrollPx: number, heightPx: number): number {
  const lowest = row * rowPx;
  const highest = (row + 1 + HEAD_ROWS) * rowPx - heightPx;
  return Math.max(Math.min(scrollPx, lowest), highest);
}

/** Follows the scroller. When `isOn` is false, all rows are rendered. */
export function useRowWindow(
  scroller: RefObject<HTMLElement | null>,
  { count, rowPx, isOn }: { readonly count: number; readonly rowPx: number; readonly isOn: boolean },
): RowWindow {
  const [seen, setSeen] = useState<RowWindow>({ first: 0, end: 0 });
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!isOn || element === null) return;
    const look = () => {
      const next = visibleRows(count, rowPx, element.scrollTop, element.clientHeight);
      setSeen((known) => (known.first === next.first && known.end === next.end ? known : next));
    };
    look();
    const observer = new ResizeObserver(look);
    observer.observe(element);
    // Synchronous, so that no gap shows and the next row exists when an arrow key moves to it.
    const onScroll = () => flushSync(look);
    element.addEventListener('scroll', onScroll, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', onScroll);
    };
  }, [scroller, count, rowPx, isOn]);
  return isOn ? seen : { first: 0, end: count };
}
