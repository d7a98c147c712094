/** Defines how the spend of budgets is read: the amounts charged to calls, without amounts written off. */
import type { BindingCaps } from './limits.ts';

/** Returns every public name of a model, given one of them: a record keeps the name that the client requested. */
export type NamesOfModel = (model: string) => readonly string[];

/** All amounts in nano-USD. No call waits for them. */
export interface BudgetSpends {
  /** For console pages. Keyed by subject id; all bindings must have the same kind and window. */
  readSpends(bindings: readonly BindingCaps[], namesOfModel: NamesOfModel): Promise<ReadonlyMap<string, bigint>>;
  /**
   * To seed a budget: the spend within the binding's window, except of the calls listed. Rejects as Unavailable while
   * the store accepts no writes, since some charges may not be readable yet.
   */
  readSettled(binding: BindingCaps, namesOfModel: NamesOfModel, exceptCalls: readonly string[]): Promise<bigint>;
  /** Makes the next `readSettled` fast; call when a budget begins to apply. */
  prepare(): void;
}
