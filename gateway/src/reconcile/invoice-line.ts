/** Defines a line of a provider's export, whatever its format, and parses its amounts, times and counts exactly. */

/** 10⁻¹⁸ USD: exports have finer amounts than nano-dollars, and their sums are rounded once. */
export type AttoUsd = bigint;

/** Disjoint, as in records. Cache writes of all durations are one counter. */
export interface Tokens {
  readonly input: number;
  readonly cache_read: number;
  readonly cache_write: number;
  readonly output: number;
}

export interface InvoiceLine {
  /** Its place in the file, from 1. */
  readonly place: number;
  /** The day it belongs to, as the provider counts days: `2026-11-23`. */
  readonly day: string;
  /** Of a single request: its time, unix ms. Null: the line is of the whole day. */
  readonly atMs: number | null;
  readonly model: string;
  /** The provider's id of the request; null: not stated. */
  readonly requestId: string | null;
  /** Null: not stated. */
  readonly requests: number | null;
  readonly tokens: Tokens | null;
  readonly amount: AttoUsd | null;
  readonly tier: string | null;
}

/** An export that cannot be used. The message names the place, what was found, and what was expected. */
export class InvoiceError extends Error {
  override readonly name = 'InvoiceError';
}

const ATTO_DECIMALS = 18;
const ATTO_PER_NANO = 1_000_000_000n;
const AMOUNT_MAX = 9_000_000_000n * 10n ** 18n;
const NUMBER = /^([+-]?)([0-9]{0,30})(?:\.([0-9]{0,80}))?(?:[eE]([+-]?[0-9]{1,3}))?$/;
const COUNT_MAX = 1_000_000_000_000_000;

/**
 * A decimal text of USD, or of hundredths where `decimals` is 2 more. Digits beyond 10⁻¹⁸ are rounded half away from
 * zero: they come from binary fractions.
 */
export function parseAmount(text: string, place: string, isCents = false): AttoUsd {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = NUMBER.exec(text.trim()) ?? [];
  const shift = Number(exponent) - fraction.length + ATTO_DECIMALS - (isCents ? 2 : 0);
  if (whole + fraction !== '' && Math.abs(shift) <= 400) {
    const digits = BigInt(whole + fraction);
    const scale = 10n ** BigInt(Math.abs(shift));
    const size = shift >= 0 ? digits * scale : (digits * 2n + scale) / (scale * 2n);
    if (size <= AMOUNT_MAX) return sign === '-' ? -size : size;
  }
  throw new InvoiceError(`${place}: found ${quote(text)}, expected an amount such as 0.0123`);
}

/** Rounds half away from zero. */
export function attoToNano(amount: AttoUsd): bigint {
  const size = amount < 0n ? -amount : amount;
  const nano = (size * 2n + ATTO_PER_NANO) / (ATTO_PER_NANO * 2n);
  return amount < 0n ? -nano : nano;
}

/** A whole number from 0; `10.0` is one too, as spreadsheets write it. */
export function parseCount(text: string | null, place: string): number {
  if (text === null) return 0;
  const [, digits] = /^([0-9]{1,16})(?:\.0*)?$/.exec(text.trim()) ?? [];
  const count = digits === undefined ? Number.NaN : Number(digits);
  if (count <= COUNT_MAX) return count;
  throw new InvoiceError(`${place}: found ${quote(text)}, expected a whole number`);
}

/** Unix ms of an ISO 8601 time, of a date, of a time without a zone (UTC), or of unix seconds. */
export function parseTime(text: string, place: string): number {
  const trimmed = text.trim();
  if (/^[0-9]{9,11}$/.test(trimmed)) return Number(trimmed) * 1_000;
  const [, date, clock = '00:00:00', zone = 'Z'] =
    /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?))?\s*(Z|UTC|[+-]\d{2}:?\d{2})?$/.exec(trimmed) ??
    [];
  const offset = zone === 'UTC' ? 'Z' : zone.replace(/^([+-]\d{2})(\d{2})$/, '$1:$2');
  const atMs = Date.parse(`${date}T${clock.replace(/(\.\d{3})\d+$/, '$1')}${offset}`);
  if (!Number.isNaN(atMs)) return atMs;
  throw new InvoiceError(`${place}: found ${quote(text)}, expected a time such as 2026-11-23T08:00:00Z`);
}

/** The date that a text states first, as the provider counts days; else that of its moment in UTC. */
export function dayOf(text: string, place: string): string {
  const [date] = /^\d{4}-\d{2}-\d{2}/.exec(text.trim()) ?? [];
  if (date !== undefined && !Number.isNaN(Date.parse(date))) return date;
  return new Date(parseTime(text, place)).toISOString().slice(0, 10);
}

function quote(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}
