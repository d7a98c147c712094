/** Computes percentiles and medians. */

/** The value at or below which the share `rank` (0–1) of the samples is (nearest rank); null without samples. */
export function percentile(samples: readonly number[], rank: number): number | null {
  if (samples.length === 0) return null;
  const sorted = Float64Array.from(samples).sort();
  const at = Math.min(sorted.length - 1, Math.max(0, Math.ceil(rank * sorted.length) - 1));
  return sorted[at] ?? null;
}

/** The middle value, or the mean of the two middle ones; null without samples. */
export function median(samples: readonly number[]): number | null {
  const sorted = Float64Array.from(samples).sort();
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.floor((sorted.length - 1) / 2)];
  return upper === undefined || lower === undefined ? null : (lower + upper) / 2;
}
