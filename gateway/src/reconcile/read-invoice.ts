/**
 * Reads a provider's export into lines, within limits of size: CSV and tabs are streamed; JSON is one document, pages of
 * an API one after another, or an object on each line.
 */
import { createReadStream, readFileSync, statSync } from 'node:fs';
import { CsvError, parseCsv } from '../lib/tables/csv-records.ts';
import { type ExactJson, isExactObject, parseExactJson } from '../lib/tables/exact-json.ts';
import { explainReadFault } from '../lib/tables/read-fault.ts';
import { anthropicCosts, anthropicUsage } from './formats/anthropic.ts';
import { awsCosts, bedrockLogs } from './formats/bedrock.ts';
import { entryOf, type InvoiceFormat, type JsonObject, membersOf } from './formats/format.ts';
import { openaiCosts, openaiUsage } from './formats/openai.ts';
import { openrouterActivity, openrouterGenerations } from './formats/openrouter.ts';
import { InvoiceError, type InvoiceLine } from './invoice-line.ts';

export const FORMATS: readonly InvoiceFormat[] = [
  openaiCosts,
  openaiUsage,
  anthropicCosts,
  anthropicUsage,
  bedrockLogs,
  awsCosts,
  openrouterGenerations,
  openrouterActivity,
];

export interface Invoice {
  readonly format: InvoiceFormat;
  readonly lines: readonly InvoiceLine[];
  /** Of the bytes of the file. */
  readonly digest: string;
}

const JSON_BYTES_MAX = 268_435_456;
const LINES_MAX = 1_000_000;

/** @throws InvoiceError */
export async function readInvoice(path: string): Promise<Invoice> {
  try {
    return await readFile(path);
  } catch (fault) {
    const why = explainReadFault(fault);
    throw why === null ? fault : new InvoiceError(`${path}: ${why}`);
  }
}

async function readFile(path: string): Promise<Invoice> {
  const found = statSync(path);
  if (!found.isFile()) throw new InvoiceError(`${path}: found a folder or a device, expected a file`);
  const digest = await digestOf(path);
  const { format, lines } = /\.jsonl?$/i.test(path) ? readJsonFile(path, found.size) : await readCsvFile(path);
  if (format === null) throw new InvoiceError(`${path}: found no entries`);
  return { format, lines, digest };
}

/** Reads one answer of an API, as `readInvoice` reads a file. @throws InvoiceError */
export function readInvoiceText(
  text: string,
  name: string,
): Omit<Invoice, 'digest' | 'format'> & { format: InvoiceFormat | null } {
  return collect(objectsIn(parseDocuments(text, name)), name);
}

interface Collected {
  readonly format: InvoiceFormat | null;
  readonly lines: readonly InvoiceLine[];
}

async function readCsvFile(path: string): Promise<Collected> {
  if (!/\.csv$/i.test(path))
    throw new InvoiceError(`${path}: expected a file whose name ends in .csv, .json or .jsonl`);
  let columns: readonly string[] | null = null;
  let format: InvoiceFormat | null = null;
  const lines: InvoiceLine[] = [];
  try {
    for await (const { line, fields } of parseCsv(createReadStream(path))) {
      if (columns === null) {
        columns = fields.map((field) => (field ?? '').replace(/^\uFEFF/, ''));
        format = recognize(new Set(columns), path);
        continue;
      }
      if (fields.length > columns.length) throw new InvoiceError(`${path}: line ${line}: more fields than the heading`);
      const row = Object.fromEntries(columns.map((column, at) => [column, fields[at] ?? null]));
      lines.push(...(format?.read(entryOf(row, line, `line ${line}`)) ?? []));
      checkCount(lines.length, path);
    }
  } catch (fault) {
    if (fault instanceof CsvError) throw new InvoiceError(`${path}: ${fault.message}`);
    throw fault;
  }
  return { format, lines };
}

function readJsonFile(path: string, size: number): Collected {
  if (size > JSON_BYTES_MAX) {
    throw new InvoiceError(
      `${path}: found ${size} bytes, expected at most ${JSON_BYTES_MAX}; split the export by days`,
    );
  }
  return collect(objectsIn(parseDocuments(readFileSync(path, 'utf8'), path)), path);
}

/** One document, or one on each line. */
function parseDocuments(text: string, path: string): readonly ExactJson[] {
  try {
    return [parseExactJson(text)];
  } catch (fault) {
    const rows = text.split('\n').filter((row) => row.trim() !== '');
    if (rows.length < 2) throw new InvoiceError(`${path}: ${fault instanceof Error ? fault.message : String(fault)}`);
    return rows.map((row, at) => {
      try {
        return parseExactJson(row);
      } catch (inner) {
        throw new InvoiceError(`${path}: line ${at + 1}: ${inner instanceof Error ? inner.message : String(inner)}`);
      }
    });
  }
}

/** The entries of documents: those of pages (`data`), with the members of their bucket, whose entries are `results`. */
function* objectsIn(documents: readonly ExactJson[]): Generator<JsonObject> {
  for (const document of documents) {
    if (Array.isArray(document)) yield* objectsIn(document);
    else if (isExactObject(document) && Array.isArray(document.data)) yield* objectsIn(document.data);
    else if (isExactObject(document) && Array.isArray(document.results)) {
      const { results, ...bucket } = document;
      for (const result of results) if (isExactObject(result)) yield { ...bucket, ...result };
    } else if (isExactObject(document)) yield document;
  }
}

function collect(objects: Iterable<JsonObject>, path: string): Collected {
  let format: InvoiceFormat | null = null;
  const lines: InvoiceLine[] = [];
  let place = 0;
  for (const object of objects) {
    place += 1;
    format ??= recognize(new Set(membersOf(object)), path);
    lines.push(...format.read(entryOf(object, place, `entry ${place}`)));
    checkCount(lines.length, path);
  }
  return { format, lines };
}

function recognize(members: ReadonlySet<string>, path: string): InvoiceFormat {
  const found = FORMATS.find((format) => format.recognizes(members));
  if (found !== undefined) return found;
  const shown = [...members].slice(0, 8).join(', ');
  const titles = FORMATS.map(({ title }) => title).join('; ');
  throw new InvoiceError(`${path}: found the members ${shown || 'none'}, expected an export of one of: ${titles}`);
}

function checkCount(count: number, path: string): void {
  if (count > LINES_MAX)
    throw new InvoiceError(`${path}: found more than ${LINES_MAX} lines; split the export by days`);
}

async function digestOf(path: string): Promise<string> {
  const hasher = new Bun.CryptoHasher('sha256');
  for await (const piece of createReadStream(path)) hasher.update(piece as Uint8Array);
  return hasher.digest('hex');
}
