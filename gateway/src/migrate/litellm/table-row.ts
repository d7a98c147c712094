/** Reads columns of an exported row, whether they come from CSV (texts as PostgreSQL writes them) or from JSON. */
import { type ExactJson, isExactObject, parseExactJson } from '../../lib/tables/exact-json.ts';

export type Row = { readonly [column: string]: ExactJson };

/** A column with a value that its type does not have. The message names it. */
export class ColumnError extends Error {
  override readonly name = 'ColumnError';
}

const NANO_DECIMALS = 9;
const NUMBER = /^([0-9]{0,40})(?:\.([0-9]{0,60}))?(?:[eE]([+-]?[0-9]{1,3}))?$/;
const NANO_MAX = 9_000_000_000n * 1_000_000_000n;

/** Null: no value, or an empty text. */
export function textOf(row: Row, column: string): string | null {
  const value = row[column] ?? null;
  if (value === null || value === '') return null;
  if (typeof value === 'string') return value;
  throw new ColumnError(`${column}: found ${shown(value)}, expected a text`);
}

/** A list of texts: JSON, or `{a,"b c"}` as PostgreSQL writes it. */
export function listOf(row: Row, column: string): readonly string[] {
  const value = row[column] ?? null;
  if (value === null || value === '') return [];
  const items = typeof value === 'string' ? parseList(value) : value;
  if (Array.isArray(items) && items.every((item) => typeof item === 'string')) return items;
  throw new ColumnError(`${column}: found ${shown(value)}, expected a list of texts`);
}

function parseList(text: string): ExactJson {
  if (text.startsWith('[')) return jsonText(text);
  if (!/^\{[\s\S]*\}$/.test(text)) return text;
  const items = text.slice(1, -1).matchAll(/"((?:[^"\\]|\\[\s\S])*)"|([^,]+)/g);
  return [...items].map(([, quoted, bare]) =>
    quoted === undefined ? (bare ?? '') : quoted.replace(/\\([\s\S])/g, '$1'),
  );
}

/** A column of JSON; null: none, or empty. */
export function objectOf(row: Row, column: string): { readonly [member: string]: ExactJson } | null {
  const value = row[column] ?? null;
  const parsed = typeof value === 'string' && value !== '' ? jsonText(value) : value;
  return isExactObject(parsed) && Object.keys(parsed).length > 0 ? parsed : null;
}

function jsonText(text: string): ExactJson {
  try {
    return parseExactJson(text);
  } catch {
    return text;
  }
}

export function flagOf(row: Row, column: string): boolean {
  const value = row[column] ?? null;
  return value === true || value === 't' || value === 'true';
}

/** A whole number from 1; null: none. */
export function wholeOf(row: Row, column: string): number | null {
  const text = textOf(row, column);
  if (text === null) return null;
  const value = /^[0-9]{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(value)) return value;
  throw new ColumnError(`${column}: found ${shown(text)}, expected a whole number`);
}

/** USD as nano-USD, rounded half up: the database has binary fractions. Null: none. */
export function usdOf(row: Row, column: string): bigint | null {
  const text = textOf(row, column);
  return text === null ? null : parseRoundedUsd(text, column);
}

/** @throws ColumnError */
export function parseRoundedUsd(text: string, column: string): bigint {
  const [, whole = '', fraction = '', exponent = '0'] = NUMBER.exec(text) ?? [];
  const shift = Number(exponent) - fraction.length + NANO_DECIMALS;
  if (whole + fraction !== '' && Math.abs(shift) <= 200) {
    const digits = BigInt(whole + fraction);
    const scale = 10n ** BigInt(Math.abs(shift));
    const amount = shift >= 0 ? digits * scale : (digits * 2n + scale) / (scale * 2n);
    if (amount <= NANO_MAX) return amount;
  }
  throw new ColumnError(`${column}: found ${shown(text)}, expected an amount of USD from 0 to 9000000000`);
}

/** Unix ms; the database has UTC without a zone. Null: none. */
export function timeOf(row: Row, column: string): number | null {
  const text = textOf(row, column);
  if (text === null) return null;
  const [, date, clock, zone = 'Z'] =
    /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?)(Z|[+-]\d{2}(?::?\d{2})?)?$/.exec(text) ?? [];
  const offset = /^[+-]\d{2}$/.test(zone) ? `${zone}:00` : zone;
  const atMs = Date.parse(`${date}T${(clock ?? '').replace(/(\.\d{3})\d+$/, '$1')}${offset}`);
  if (!Number.isNaN(atMs)) return atMs;
  throw new ColumnError(`${column}: found ${shown(text)}, expected a time such as 2026-11-23 08:00:00`);
}

/** Whether a column says anything: not NULL, false, 0, an empty text, list or object. */
export function hasContent(value: ExactJson | undefined): boolean {
  if (value === undefined || value === null || value === false) return false;
  if (typeof value === 'string') return !['', 'f', 'false', '0', '{}', '[]', 'null'].includes(value);
  return value === true || Object.keys(value).length > 0;
}

function shown(value: ExactJson): string {
  return JSON.stringify(value).slice(0, 60);
}
