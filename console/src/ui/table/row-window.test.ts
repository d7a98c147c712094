/** Tests which rows of a long table are drawn, and how far the table scrolls to show a row. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { scrollToRow, visibleRows } from './row-window.ts';

test('renders visible rows and twelve below at the top', () => {
  expect(visibleRows(1000, 32, 0, 320)).toEqual({ first: 0, end: 22 });
});

test('renders twelve rows above and below in the middle', () => {
  expect(visibleRows(1000, 32, 3200, 320)).toEqual({ first: 88, end: 122 });
});

test('renders exactly the visible rows and their margin at any scroll position', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5000 }),
      fc.integer({ min: 20, max: 60 }),
      fc.integer({ min: 0, max: 300_000 }),
      fc.integer({ min: 0, max: 2000 }),
      (count, rowPx, scrollPx, heightPx) => {
        const { first, end } = visibleRows(count, rowPx, scrollPx, heightPx);
        expect(first).toBeGreaterThanOrEqual(0);
        expect(end).toBeLessThanOrEqual(count);
        expect(first).toBeLessThan(end);
        for (let row = 0; row < count; row += 1) {
          const isSeen = (row + 1) * rowPx > scrollPx && row * rowPx < scrollPx + heightPx;
          if (isSeen) expect(row >= first && row < end).toBeTrue();
        }
      },
    ),
  );
});

test('scrolls only as far as needed to show a row below the head', () => {
  expect(scrollToRow(12, 32, 320, 640)).toBe(320);
  expect(scrollToRow(3, 32, 320, 640)).toBe(96);
  expect(scrollToRow(40, 32, 320, 640)).toBe(704);
});
