/** Formats counts, durations, relative times and machine names. `lib/money.ts` formats money, `lib/zone.ts` clock times. */

const WHOLE = new Intl.NumberFormat('en-US');
const SHORT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });

/** `1234567` → `1,234,567`. */
export function wholeNumber(count: number): string {
  return WHOLE.format(count);
}

/** `1 request`, `1,234 requests`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${WHOLE.format(count)} ${count === 1 ? one : many}`;
}

/** `1234567` → `1.2M`; below ten thousand, all digits. */
export function shortNumber(count: number): string {
  return Math.abs(count) < 10_000 ? WHOLE.format(count) : SHORT.format(count);
}

/** `834` → `834 ms`, `83400` → `1 min 23 s`, `7500000` → `2 h 5 min`, `100000000` → `1 d 3 h`. */
export function duration(ms: number): string {
  if (ms < 1) return '<1 ms';
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1_000).toFixed(2)} s`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.floor(ms / 1_000);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 24 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** `0.0123` → `1.2%`. */
export function share(part: number, whole: number): string {
  if (whole === 0) return '0%';
  const percent = (part / whole) * 100;
  return `${percent !== 0 && percent < 10 ? percent.toFixed(1) : Math.round(percent)}%`;
}

/** A name defined by the API or a provider, as text: `web_search` → `Web search`. */
export function sentenceCase(name: string): string {
  const words = name.replaceAll('_', ' ');
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

const STEPS: readonly (readonly [ms: number, unit: Intl.RelativeTimeFormatUnit])[] = [
  [86_400_000 * 365, 'year'],
  [86_400_000 * 30, 'month'],
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
];
const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'always', style: 'narrow' });

/** `3 min. ago`, `in 2 days`; within a minute `just now`. */
export function relativeTime(iso: string, nowMs: number): string {
  const apartMs = Date.parse(iso) - nowMs;
  const step = STEPS.find(([ms]) => Math.abs(apartMs) >= ms);
  if (step === undefined) return apartMs > 5_000 ? 'in a moment' : 'just now';
  return RELATIVE.format(Math.trunc(apartMs / step[0]), step[1]);
}

/** When a model shuts down; the vendor's date is not binding for another company that hosts its model. */
export function retirementText({ on, by }: { readonly on: string; readonly by: 'provider' | 'vendor' }): string {
  return by === 'provider' ? `Shuts down on ${on}` : `Shuts down on ${on} at its vendor; here the date may differ`;
}
