/** Defines how console pages read the spend of budgets that no recent call has used. No call waits for it. */
import type { BindingCaps } from './limits.ts';

export interface BudgetSpends {
  /**
   * The amount charged to each subject in its budget's window, in nano-USD, keyed by subject id. All bindings must have
   * the same kind and window.
   */
  readSpends(bindings: readonly BindingCaps[]): Promise<ReadonlyMap<string, bigint>>;
}
