/** Owns which rows of a long table are drawn: those in sight of its scroller and some around them. All rows are of one height. */
import { type RefObject, useLayoutEffect, useState } from 'react';
import { flushSync } from 'react-dom';

export interface RowWindow {
  readonly first: number;
  /** After the last. */
  readonly end: number;
}

/** Drawn above and below what is in sight, so that scrolling and the next arrow key find rows there. */
const AROUND = 12;
/** A table's head is as high as a row, and stays in sight. */
const HEAD_ROWS = 1;

/** The rows that are seen where `scrollPx` are above the sight, and some around them. */
export function rowsInSight(count: number, rowPx: number, scrollPx: number, heightPx: number): RowWindow {
  const first = Math.min(Math.floor(scrollPx / rowPx), Math.max(0, count - 1));
  return {
    first: Math.max(0, first - AROUND),
    end: Math.min(count, first + Math.ceil(heightPx / rowPx) + AROUND),
  };
}

/** How far to scroll so that a row is whole in sight. */
export function scrollToRow(row: number, rowPx: number, scrollPx: number, heightPx: number): number {
  const lowest = row * rowPx;
  const highest = (row + 1 + HEAD_ROWS) * rowPx - heightPx;
  return Math.max(Math.min(scrollPx, lowest), highest);
}

/** Follows the scroller. Where `isOn` is false, every row is drawn. */
export function useRowWindow(
  scroller: RefObject<HTMLElement | null>,
  { count, rowPx, isOn }: { readonly count: number; readonly rowPx: number; readonly isOn: boolean },
): RowWindow {
  const [seen, setSeen] = useState<RowWindow>({ first: 0, end: 0 });
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!isOn || element === null) return;
    const look = () => {
      const next = rowsInSight(count, rowPx, element.scrollTop, element.clientHeight);
      setSeen((known) => (known.first === next.first && known.end === next.end ? known : next));
    };
    look();
    const observer = new ResizeObserver(look);
    observer.observe(element);
    // At once: no gap is to be seen, and the row that is walked to is to be there.
    const onScroll = () => flushSync(look);
    element.addEventListener('scroll', onScroll, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', onScroll);
    };
  }, [scroller, count, rowPx, isOn]);
  return isOn ? seen : { first: 0, end: count };
}
