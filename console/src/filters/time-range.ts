/** Owns the span of time that a page is about: a preset that moves with the clock, or two times, as they stand in the address. */

export const PRESETS = ['1h', '24h', '7d', '30d', '90d'] as const;
export type Preset = (typeof PRESETS)[number];

export interface TimeRange {
  /** Null: two times of the person's own. */
  readonly preset: Preset | null;
  /** ISO 8601. */
  readonly from: string;
  readonly to: string;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const PRESET_MS: Readonly<Record<Preset, number>> = {
  '1h': HOUR_MS,
  '24h': 24 * HOUR_MS,
  '7d': 7 * 24 * HOUR_MS,
  '30d': 30 * 24 * HOUR_MS,
  '90d': 90 * 24 * HOUR_MS,
};

export const PRESET_WORDS: Readonly<Record<Preset, string>> = {
  '1h': 'last hour',
  '24h': 'last 24 hours',
  '7d': 'last 7 days',
  '30d': 'last 30 days',
  '90d': 'last 90 days',
};

/**
 * The range that `range`, or `from` and `to`, of an address ask for; what cannot be read is the preset `usual`. A preset ends
 * with the minute under way and begins on a whole minute, or hour where it is longer than one, so that buckets are whole.
 */
export function readRange(search: Readonly<Record<string, string>>, usual: Preset, nowMs: number): TimeRange {
  const own = ownRange(search);
  if (own !== null) return own;
  const preset = PRESETS.find((one) => one === search.range) ?? usual;
  const endMs = Math.ceil(nowMs / MINUTE_MS) * MINUTE_MS;
  const unitMs = preset === '1h' ? MINUTE_MS : HOUR_MS;
  const beginMs = Math.floor((endMs - PRESET_MS[preset]) / unitMs) * unitMs;
  return { preset, from: new Date(beginMs).toISOString(), to: new Date(endMs).toISOString() };
}

function ownRange({ from, to }: Readonly<Record<string, string>>): TimeRange | null {
  const beginMs = Date.parse(from ?? '');
  const endMs = Date.parse(to ?? '');
  if (!(beginMs < endMs)) return null;
  return { preset: null, from: new Date(beginMs).toISOString(), to: new Date(endMs).toISOString() };
}

const SAME_DAY = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const DAY_TIME = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});

/** `21 Nov, 14:00 – 16:00`, in the reader's own zone. */
export function rangeText({ from, to }: { readonly from: string; readonly to: string }): string {
  const begin = new Date(from);
  const end = new Date(to);
  const isSameDay = begin.toDateString() === end.toDateString();
  return `${DAY_TIME.format(begin)} – ${(isSameDay ? SAME_DAY : DAY_TIME).format(end)}`;
}

/** What a `datetime-local` field shows for a time, in the reader's own zone. */
export function localField(iso: string): string {
  const at = new Date(iso);
  const two = (count: number) => String(count).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}T${two(at.getHours())}:${two(at.getMinutes())}`;
}
