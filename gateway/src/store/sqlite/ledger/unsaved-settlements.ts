/**
 * Owns the calls that are to be ended as a restart would and could not be, for the store was away: what they hold must not
 * stay held until the next start. Ends them once it takes writes. Knows no SQL.
 */
export interface UnkeptEnds {
  /** Ends the call now; rejects where that was not kept, and then does it later. */
  end(call_id: string): Promise<void>;
  /** The store takes writes again. */
  endAll(): void;
}

/** `abandon` ends one call, and does nothing of a call that holds nothing: of some the settlement was kept all the same. */
export function createUnkeptEnds(abandon: (call_id: string) => Promise<void>): UnkeptEnds {
  const waiting = new Set<string>();
  async function end(call_id: string): Promise<void> {
    waiting.add(call_id);
    await abandon(call_id);
    waiting.delete(call_id);
  }
  return {
    end,
    endAll() {
      // Where the store is away again they stay for the next time, at the latest for the next start.
      for (const call_id of waiting) end(call_id).catch(() => undefined);
    },
  };
}
