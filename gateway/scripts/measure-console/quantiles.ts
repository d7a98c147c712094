/** Summarizes many durations, in ms as text. */

export function quantiles(tookMs: readonly number[]) {
  const sorted = tookMs.toSorted((one, other) => one - other);
  const at = (part: number) => (sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? 0).toFixed(1);
  return { least: at(0), p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}
