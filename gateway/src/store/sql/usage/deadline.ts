/** Owns the time limit of one answer. Work looks at it between its parts; nothing interrupts a statement. */
import { UsageRefusal } from '../../usage-port.ts';

export interface Deadline {
  /** @throws UsageRefusal once the time is up. */
  check(): void;
  isOver(): boolean;
}

export function startDeadline(timeMsMax: number): Deadline {
  const endMs = performance.now() + timeMsMax;
  return {
    isOver: () => performance.now() > endMs,
    check() {
      if (performance.now() <= endMs) return;
      throw new UsageRefusal(
        'too_long',
        `this takes longer than ${timeMsMax / 1_000} s to sum up; choose a shorter range, or fewer calls by a filter`,
      );
    },
  };
}
