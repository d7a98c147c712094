/** Owns the span of time that a page is about: a preset that moves with the clock, or two times, as they stand in the address. */
import { wallTime, zoneFormat } from '../lib/zone.ts';

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

const CLOCK = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
const DAY = { day: 'numeric', month: 'short' } as const;

/** `21 Nov, 14:00 – 16:00`, as the zone's clocks show it. */
export function rangeText({ from, to }: { readonly from: string; readonly to: string }, zone: string): string {
  const isSameDay = wallTime(from, zone).slice(0, 10) === wallTime(to, zone).slice(0, 10);
  const whole = zoneFormat(zone, { ...DAY, ...CLOCK });
  return `${whole.format(new Date(from))} – ${(isSameDay ? zoneFormat(zone, CLOCK) : whole).format(new Date(to))}`;
}
