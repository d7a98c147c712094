/** Writes CSV files (RFC 4180): quotes cells, and escapes those that a spreadsheet would run as formulas. */
import type { CsvFile } from './handlers.ts';

/**
 * The start of text that spreadsheets treat as a formula: a tab or line break, or a sign, in ASCII or full width, after
 * spaces and invisible characters, which some spreadsheets remove.
 */
const FORMULA = /^(?:[\t\r\n]|[\s\p{Cf}\p{Cc}]*[=+\-@|＝＋－＠｜﹦﹢﹣﹫−])/u;
const NUMBER = /^-?\d+(?:\.\d+)?$/;

/**
 * One line with its line break. A cell that would run as a formula is prefixed with an apostrophe; numbers are
 * unchanged.
 */
export function csvLine(cells: readonly (string | number | boolean | null)[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

function csvCell(cell: string | number | boolean | null): string {
  if (cell === null) return '';
  const text = String(cell);
  const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",\r\n']/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/**
 * The response that a browser saves as a file. If `lines` throws, the connection breaks, so that a partial file does
 * not look complete, and `onFault` is called.
 */
export function csvResponse({ name, lines }: CsvFile, headers: Headers, onFault: (cause: unknown) => void): Response {
  headers.set('content-type', 'text/csv; charset=utf-8');
  headers.set('content-disposition', `attachment; filename="${name.replaceAll(/[^\w.-]/g, '_')}"`);
  return new Response(toStream(lines, onFault), { headers });
}

function toStream(lines: AsyncIterable<string>, onFault: (cause: unknown) => void): ReadableStream<Uint8Array> {
  const iterator = lines[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(controller) {
      try {
        const { value, done } = await iterator.next();
        if (done === true) controller.close();
        else controller.enqueue(encoder.encode(value));
      } catch (cause) {
        onFault(cause);
        controller.error(cause);
      }
    },
    async cancel() {
      await iterator.return?.();
    },
  });
}
