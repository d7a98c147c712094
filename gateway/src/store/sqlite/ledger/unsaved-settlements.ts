/**
 * Tracks calls that could not be ended because the store was unavailable, and ends them once it accepts writes again,
 * so that their holds do not stay until the next start.
 */
export interface UnsavedSettlements {
  /** Ends the call now; where that is not stored, rejects and retries later. */
  end(call_id: string): Promise<void>;
  /** Call when the store accepts writes again. */
  endAll(): void;
}

/** `abandon` ends one call, and does nothing for a call that holds nothing: some settlements were stored after all. */
export function createUnsavedSettlements(abandon: (call_id: string) => Promise<void>): UnsavedSettlements {
  const waiting = new Set<string>();
  async function end(call_id: string): Promise<void> {
    waiting.add(call_id);
    await abandon(call_id);
    waiting.delete(call_id);
  }
  return {
    end,
    endAll() {
      // If the store is unavailable again, the calls stay for the next time, at the latest for the next start.
      for (const call_id of waiting) end(call_id).catch(() => undefined);
    },
  };
}
