/**
 * Owns histograms of durations on a logarithmic scale: which slot a duration falls in, and percentiles, which are at
 * most 5 % off.
 */

/** The count of each slot, as far as there are some. */
export type Slots = number[];

/** A slot reaches a tenth further than the one before. Its middle is the root of its ends' product: at most 4.9 % from both. */
const RATIO = 1.1;
const LOG_RATIO = Math.log(RATIO);
/** Half a year: longer than any call. */
export const SLOT_MAX = 250;

/** Slot 0 is all below a millisecond. */
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

/** Takes off what is in the other, which is a part of the one. */
export function subtractSlots(slots: Slots, part: Slots): void {
  for (let slot = 0; slot < part.length; slot++) addToSlot(slots, slot, -(part[slot] ?? 0));
}

/** For each part (0 to 1, ascending) the duration in ms that so many of all do not exceed, by nearest rank; null: there are none. */
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
