/**
 * Keeps histograms of durations on a logarithmic scale: the slot of a duration, and percentiles with an error of at
 * most 5%.
 */

/** The count of each slot, up to the last one that is used. */
export type Slots = number[];

/** Each slot ends 10% above the one before. Its middle is the geometric mean of its ends, at most 4.9% from both. */
const RATIO = 1.1;
const LOG_RATIO = Math.log(RATIO);
/** Half a year: longer than any call. */
export const SLOT_MAX = 250;

/** Slot 0 holds everything below a millisecond. */
export function slotOf(durationMs: number): number {
  if (durationMs < 1) return 0;
  return Math.min(SLOT_MAX, 1 + Math.floor(Math.log(durationMs) / LOG_RATIO));
}

export function addToSlot(slots: Slots, slot: number, count: number): void {
  while (slots.length <= slot) slots.push(0);
  slots[slot] = (slots[slot] ?? 0) + count;
}

export function addSlots(slots: Slots, others: Slots): void {
  for (let slot = 0; slot < others.length; slot++) addToSlot(slots, slot, others[slot] ?? 0);
}

/** Subtracts a histogram that is part of this one. */
export function subtractSlots(slots: Slots, part: Slots): void {
  for (let slot = 0; slot < part.length; slot++) addToSlot(slots, slot, -(part[slot] ?? 0));
}

/**
 * For each part (0 to 1, ascending) the duration in ms that this share of all does not exceed, by nearest rank; null:
 * there are no durations.
 */
export function percentilesMs(slots: Slots, parts: readonly number[]): (number | null)[] {
  const total = slots.reduce((sum, count) => sum + count, 0);
  let passed = 0;
  let next = 0;
  return parts.map((part) => {
    if (total === 0) return null;
    const rank = Math.max(1, Math.ceil(total * part));
    while (passed < rank) passed += slots[next++] ?? 0;
    const slot = next - 1;
    return slot === 0 ? 0.5 : Math.round(RATIO ** (slot - 0.5) * 100) / 100;
  });
}
