/** Names time ranges in sentences. */
import type { Preset, TimeRange } from './time-range.ts';

const PRESET_LABELS: Readonly<Record<Preset, string>> = {
  '1h': 'last hour',
  '24h': 'last 24 hours',
  '7d': 'last 7 days',
  '30d': 'last 30 days',
  '90d': 'last 90 days',
};

/** `the last 7 days`; a custom range and a calendar period: `this range`. */
export function spanWords({ preset }: TimeRange): string {
  return preset === null ? 'this range' : `the ${PRESET_LABELS[preset]}`;
}
