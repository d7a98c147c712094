/** Owns how files of comma-separated values are written: quoting, and cells that a spreadsheet would run as formulas. RFC 4180. */
import type { CsvFile } from './handlers.ts';

/**
 * Begins what spreadsheets take for a formula: a sign, in ASCII or full width, behind spaces and characters that do not show,
 * which some of them remove; or a tab or line break.
 */
const FORMULA = /^(?:[\t\r\n]|[\s\p{Cf}\p{Cc}]*[=+\-@|＝＋－＠｜﹦﹢﹣﹫−])/u;
const NUMBER = /^-?\d+(?:\.\d+)?$/;

/** One line, with its end. A cell that would run as a formula begins with a quote mark; numbers are as they are. */
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
 * The answer that a browser saves as a file. Where the lines end in a fault the connection breaks, so that no file looks whole
 * that is not; `onFault` is told.
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
