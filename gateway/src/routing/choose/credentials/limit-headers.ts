/**
 * Reads what a provider's answer says about its rate limits: the limit, what remains of it and when it is full again.
 * Source: provider reference, H (2026-11): the names and the forms of the times differ by provider, never in meaning.
 */
import type { HeaderLine } from '../../../providers/provider.ts';

/** One limit as an answer stated it. */
export interface Allowance {
  /** A limit of requests, or of tokens. */
  readonly counts: 'requests' | 'tokens';
  readonly limit: number;
  readonly remaining: number;
  /** On the clock of the choice; from then on the limit is full again. */
  readonly fullAtMs: number;
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 3_600_000;

interface Unit {
  readonly counts: Allowance['counts'];
  /** When it is full again if no header says so: Mistral and xAI name no time. */
  readonly windowMs: number;
}

/** The units by the provider's word; other words (a month, output tokens) bind no single call. */
const UNITS: ReadonlyMap<string, Unit> = new Map([
  ['requests', { counts: 'requests', windowMs: MINUTE_MS }],
  // Cerebras, SambaNova.
  ['requests-day', { counts: 'requests', windowMs: DAY_MS }],
  ['requests-minute', { counts: 'requests', windowMs: MINUTE_MS }],
  // Mistral.
  ['req-minute', { counts: 'requests', windowMs: MINUTE_MS }],
  // Together: `x-ratelimit-limit`, without a unit.
  ['', { counts: 'requests', windowMs: MINUTE_MS }],
  ['tokens', { counts: 'tokens', windowMs: MINUTE_MS }],
  ['tokens-minute', { counts: 'tokens', windowMs: MINUTE_MS }],
  ['tokens-day', { counts: 'tokens', windowMs: DAY_MS }],
  ['input-tokens', { counts: 'tokens', windowMs: MINUTE_MS }],
]);

const ANTHROPIC = 'anthropic-ratelimit-';
const COMMON = 'x-ratelimit-';

/** A reset later than this binds like one at this time: hostile and daily values alike. */
const RESET_MS_MAX = DAY_MS;

interface Found {
  limit: number | null;
  remaining: number | null;
  reset: string | null;
}

/** The limits that the header lines state; empty: none. `unixMs`: the time of `nowMs`, for resets given as a date. */
export function readAllowances(headers: readonly HeaderLine[], nowMs: number, unixMs: number): readonly Allowance[] {
  let found: Map<string, Found> | null = null;
  for (const [name, value] of headers) {
    const words = splitName(name);
    if (words === null) continue;
    found ??= new Map();
    const entry = found.get(words.unit) ?? { limit: null, remaining: null, reset: null };
    found.set(words.unit, entry);
    if (words.member === 'reset') entry.reset = value;
    // Azure: the length of the window, where it names no reset.
    else if (words.member === 'renewalperiod') entry.reset ??= value;
    else if (words.member === 'limit') entry.limit = readCount(value);
    else if (words.member === 'remaining') entry.remaining = readCount(value);
  }
  return found === null ? NONE : [...found].flatMap(([unit, entry]) => allowanceOf(unit, entry, nowMs, unixMs));
}

const NONE: readonly Allowance[] = [];

/** `x-ratelimit-remaining-tokens`, `anthropic-ratelimit-tokens-remaining`. Null: another header. */
function splitName(name: string): { readonly unit: string; readonly member: string } | null {
  if (name.startsWith(COMMON)) {
    const [member = '', ...unit] = name.slice(COMMON.length).split('-');
    return { unit: unit.join('-'), member };
  }
  if (!name.startsWith(ANTHROPIC)) return null;
  const words = name.slice(ANTHROPIC.length).split('-');
  const member = words.pop() ?? '';
  return { unit: words.join('-'), member };
}

function allowanceOf(unit: string, { limit, remaining, reset }: Found, nowMs: number, unixMs: number): Allowance[] {
  const known = UNITS.get(unit);
  if (known === undefined || limit === null || remaining === null || limit === 0) return [];
  const { counts, windowMs } = known;
  const leftMs = reset === null ? windowMs : readReset(reset, unixMs);
  if (leftMs === null) return [];
  return [{ counts, limit, remaining: Math.min(remaining, limit), fullAtMs: nowMs + Math.min(leftMs, RESET_MS_MAX) }];
}

const COUNT = /^\d{1,15}$/;

function readCount(text: string): number | null {
  return COUNT.test(text) ? Number(text) : null;
}

const SECONDS = /^\d{1,13}(?:\.\d{1,9})?$/;
const SPAN =
  /^(?:(\d{1,6})d)?(?:(\d{1,6})h)?(?:(\d{1,6})m(?!s))?(?:(\d{1,9}(?:\.\d{1,9})?)s)?(?:(\d{1,9}(?:\.\d{1,9})?)ms)?$/;
/** Numbers above these are Unix times, in seconds and in milliseconds. */
const UNIX_SECONDS_MIN = 1e9;
const UNIX_MS_MIN = 1e12;

/** The milliseconds until the reset, 0 if it is past: `6m0s`, `120ms`, `2146` (seconds), a Unix time or an RFC 3339 date. */
function readReset(text: string, unixMs: number): number | null {
  if (SECONDS.test(text)) {
    const value = Number(text);
    if (value >= UNIX_MS_MIN) return Math.max(0, value - unixMs);
    return value >= UNIX_SECONDS_MIN ? Math.max(0, value * 1_000 - unixMs) : value * 1_000;
  }
  const [whole, days = 0, hours = 0, minutes = 0, seconds = 0, millis = 0] = SPAN.exec(text) ?? [];
  if (whole !== undefined && whole !== '') {
    const inMinutes = (Number(days) * 24 + Number(hours)) * 60 + Number(minutes);
    return (inMinutes * 60 + Number(seconds)) * 1_000 + Number(millis);
  }
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - unixMs);
}
