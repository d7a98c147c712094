/**
 * Reads an export of LiteLLM's database: a folder with a file for each table, `TABLE.csv` as `COPY … TO … CSV HEADER`
 * writes it or `TABLE.json` with its rows, or one JSON file with all tables as members.
 */
import { createReadStream, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { CsvError, parseCsv } from '../../lib/tables/csv-records.ts';
import { type ExactJson, isExactObject, parseExactJson } from '../../lib/tables/exact-json.ts';
import { explainReadFault } from '../../lib/tables/read-fault.ts';
import type { Row } from './table-row.ts';

/** Rows by the name of their table. */
export type Tables = ReadonlyMap<string, readonly Row[]>;

/** An export that cannot be used; the message says what was found and what to do. */
export class ExportError extends Error {
  override readonly name = 'ExportError';
}

const JSON_BYTES_MAX = 268_435_456;
const ROWS_MAX = 1_000_000;
const TABLE_FILE = /^(?:public\.)?"?(LiteLLM_\w+)"?\.(csv|json|jsonl)$/;
/** History is not imported: of these tables only the presence is noted. */
const HISTORY = /Logs?$|^LiteLLM_Daily|^LiteLLM_Deleted|^LiteLLM_Cron|HealthCheck/;

/** @throws ExportError */
export async function readExport(path: string): Promise<Tables> {
  const found = await naming(path, () => statSync(path, { throwIfNoEntry: false }));
  if (found === undefined) throw new ExportError(`${path}: there is no such file or folder`);
  const tables = await naming(path, () => (found.isDirectory() ? readFolder(path) : readWhole(path)));
  if (tables.size > 0) return tables;
  throw new ExportError(
    `${path}: found no table of LiteLLM, expected files such as LiteLLM_VerificationToken.csv, or one JSON file with tables as members`,
  );
}

async function readFolder(folder: string): Promise<Tables> {
  const tables = new Map<string, readonly Row[]>();
  for (const name of readdirSync(folder).sort()) {
    const [, table, ending] = TABLE_FILE.exec(name) ?? [];
    if (table === undefined) continue;
    if (tables.has(table)) throw new ExportError(`${folder}: found two files of ${table}, expected one`);
    const path = join(folder, name);
    const read = () => {
      if (HISTORY.test(table)) return statSync(path).size > 0 ? [{}] : [];
      return ending === 'csv' ? readCsv(path) : rowsOf(readJson(path), path);
    };
    tables.set(table, await naming(path, read));
  }
  return tables;
}

/** @throws ExportError with the path, where the system does not read it. */
async function naming<Found>(path: string, read: () => Found | Promise<Found>): Promise<Found> {
  try {
    return await read();
  } catch (fault) {
    const why = explainReadFault(fault);
    throw why === null ? fault : new ExportError(`${path}: ${why}`);
  }
}

async function readCsv(path: string): Promise<readonly Row[]> {
  const rows: Row[] = [];
  let columns: readonly string[] | null = null;
  try {
    for await (const { line, fields } of parseCsv(createReadStream(path))) {
      if (columns === null) {
        columns = fields.map((field) => field ?? '');
        continue;
      }
      if (fields.length !== columns.length) {
        throw new CsvError(`line ${line}: found ${fields.length} fields, expected ${columns.length} as in the heading`);
      }
      if (rows.length === ROWS_MAX) throw new CsvError(`found more than ${ROWS_MAX} rows`);
      rows.push(Object.fromEntries(columns.map((column, at) => [column, fields[at] ?? null])));
    }
  } catch (fault) {
    if (fault instanceof CsvError) throw new ExportError(`${basename(path)}: ${fault.message}`);
    throw fault;
  }
  return rows;
}

function readWhole(path: string): Tables {
  const content = readJson(path);
  if (!isExactObject(content)) throw new ExportError(`${path}: expected a JSON object with tables as members`);
  const tables = Object.entries(content).filter(([name]) => name.startsWith('LiteLLM_'));
  return new Map(tables.map(([name, rows]) => [name, rows === null ? [] : rowsOf(rows, `${path}: ${name}`)]));
}

function readJson(path: string): ExactJson {
  const { size } = statSync(path);
  if (size > JSON_BYTES_MAX) {
    throw new ExportError(`${path}: found ${size} bytes, expected at most ${JSON_BYTES_MAX}; export as CSV instead`);
  }
  const text = readFileSync(path, 'utf8');
  try {
    return parseExactJson(text);
  } catch (fault) {
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    // One object for each line, as `row_to_json` prints them.
    if (lines.length > 1 && lines.every((line) => line.startsWith('{'))) return lines.map(parseLine(path));
    throw new ExportError(`${path}: ${fault instanceof Error ? fault.message : String(fault)}`);
  }
}

function parseLine(path: string): (line: string, at: number) => ExactJson {
  return (line, at) => {
    try {
      return parseExactJson(line);
    } catch (fault) {
      throw new ExportError(`${path}: line ${at + 1}: ${fault instanceof Error ? fault.message : String(fault)}`);
    }
  };
}

function rowsOf(value: ExactJson, where: string): readonly Row[] {
  const rows = isExactObject(value) ? [value] : value;
  if (!Array.isArray(rows)) throw new ExportError(`${where}: expected a list of rows`);
  if (rows.length > ROWS_MAX) throw new ExportError(`${where}: found more than ${ROWS_MAX} rows`);
  return rows.map((row: ExactJson, at) => {
    if (isExactObject(row)) return row;
    throw new ExportError(`${where}: row ${at + 1}: expected an object with columns as members`);
  });
}
