/** Reads and formats the time range of a page from the address: a preset relative to now, or two fixed times. */
import { wallTime, zoneFormat } from '../lib/zone.ts';

export const PRESETS = ['1h', '24h', '7d', '30d', '90d'] as const;
export type Preset = (typeof PRESETS)[number];

export interface TimeRange {
  /** Null for a custom range. */
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

export const PRESET_LABELS: Readonly<Record<Preset, string>> = {
  '1h': 'last hour',
  '24h': 'last 24 hours',
  '7d': 'last 7 days',
  '30d': 'last 30 days',
  '90d': 'last 90 days',
};

/**
 * Reads the time range of an address from `range`, or from `from` and `to`; an unreadable one becomes the preset
 * `usual`. A preset ends with the current minute and starts on a whole minute, or on a whole hour when it is longer
 * than an hour, so that buckets are whole.
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

/** `Nov 21, 14:00 – 16:00`, in the given zone. */
export function rangeText({ from, to }: { readonly from: string; readonly to: string }, zone: string): string {
  const isSameDay = wallTime(from, zone).slice(0, 10) === wallTime(to, zone).slice(0, 10);
  const whole = zoneFormat(zone, { ...DAY, ...CLOCK });
  return `${whole.format(new Date(from))} – ${(isSameDay ? zoneFormat(zone, CLOCK) : whole).format(new Date(to))}`;
}
