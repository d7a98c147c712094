/** Tracks the width of an element. */
import { type RefObject, useLayoutEffect, useState } from 'react';

/** Pixels; null until measured, which happens before the first paint. */
export function useWidth(element: RefObject<HTMLElement | null>): number | null {
  const [width, setWidth] = useState<number | null>(null);
  useLayoutEffect(() => {
    const measured = element.current;
    if (measured === null) return;
    setWidth(measured.clientWidth);
    const observer = new ResizeObserver(() => setWidth(measured.clientWidth));
    observer.observe(measured);
    return () => observer.disconnect();
  }, [element]);
  return width;
}
