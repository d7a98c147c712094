/**
 * Owns the interface through which pages ask what has been spent of budgets that no call has met lately. No line of a call
 * waits for it. Knows no database.
 */
import type { BindingCaps } from './limits.ts';

export interface BudgetSpends {
  /** How much calls of each subject were charged in its budget's window, by its id, in nano-USD; all of one kind and window. */
  readSpends(bindings: readonly BindingCaps[]): Promise<ReadonlyMap<string, bigint>>;
}
