/**
 * Tracks one window of one budget: settled spend, holds of running calls, and the alert marks already reported. Knows
 * neither calls nor the calendar.
 */
import { type BindingCaps, BUDGET_MARKS, type BudgetMark, type BudgetWindow, type Subject } from '../ports/limits.ts';

/** Change only through the functions of this file. */
export interface WindowState {
  readonly subject: Subject;
  readonly window: BudgetWindow;
  readonly startMs: number;
  /** Null: never. */
  readonly endMs: number | null;
  /** Nano-USD; the rule's latest amount. */
  cap: bigint;
  settled: bigint;
  held: bigint;
  /** False: must be seeded before it admits calls; running calls continue with the last known state. */
  known: boolean;
  /** Charges of calls that ended since `beginWindow`; else since the window was forgotten. */
  missed: bigint;
  /** Number of marks reached. */
  marks: number;
}

/** A binding that has a budget. */
export interface BudgetBinding extends BindingCaps {
  readonly caps: BindingCaps['caps'] & { readonly budget: NonNullable<BindingCaps['caps']['budget']> };
}

export function hasBudget(binding: BindingCaps): binding is BudgetBinding {
  return binding.caps.budget !== null;
}

/** Covers calls that began before a window change and finish after it. */
const WINDOWS_KEPT = 2;

/**
 * Returns the current window; null: it must be seeded. A known budget whose window has ended continues in the next
 * window with nothing settled.
 */
export function currentWindow(windows: WindowState[], binding: BudgetBinding): WindowState | null {
  const found = findWindow(windows, binding);
  if (found !== undefined) {
    if (!found.known) return null;
    capWindow(found, binding.caps.budget.amount);
    return found;
  }
  const { window } = binding.caps.budget;
  const ofSort = windows.filter((before) => before.window === window);
  // False where a later window was open: the clock was set back, and the earlier window's settled spend may have been
  // dropped.
  const isLatest = ofSort.every(({ startMs }) => startMs < binding.windowStartMs);
  const continuesCall =
    isLatest && ofSort.some(({ known, endMs }) => known && endMs !== null && endMs <= binding.windowStartMs);
  return continuesCall ? addWindow(windows, binding, 0n) : null;
}

export function findWindow(windows: readonly WindowState[], binding: BudgetBinding): WindowState | undefined {
  const { windowStartMs, caps } = binding;
  return windows.find(({ startMs, window }) => startMs === windowStartMs && window === caps.budget.window);
}

/** Returns the window to seed; null: it is known already. */
export function beginWindow(windows: WindowState[], binding: BudgetBinding): WindowState | null {
  let found = findWindow(windows, binding);
  if (found?.known === true) return null;
  if (found === undefined) {
    found = addWindow(windows, binding, 0n);
    found.known = false;
  }
  found.missed = 0n;
  return found;
}

/** Seeds a window that is not known. Marks it has reached by then count as reported. */
export function seedWindow(windows: WindowState[], binding: BudgetBinding, settled: bigint): void {
  const found = findWindow(windows, binding);
  if (found === undefined) {
    addWindow(windows, binding, settled);
  } else if (!found.known) {
    found.cap = binding.caps.budget.amount;
    found.settled = settled + found.missed;
    found.known = true;
    found.marks = marksReached(found);
  }
}

function addWindow(windows: WindowState[], binding: BudgetBinding, settled: bigint): WindowState {
  const { subject, windowStartMs, windowEndMs, caps } = binding;
  const { window, amount } = caps.budget;
  const added = { subject, window, startMs: windowStartMs, endMs: windowEndMs, cap: amount, settled, held: 0n };
  const state: WindowState = { ...added, known: true, missed: 0n, marks: 0 };
  state.marks = marksReached(state);
  // Calls that hold money of a dropped window keep their own reference to it.
  if (windows.length >= WINDOWS_KEPT) windows.shift();
  windows.push(state);
  windows.sort((one, other) => one.startMs - other.startMs);
  return state;
}

/** Marks the window as unknown: it must be seeded again. */
export function forgetWindow(window: WindowState): void {
  if (window.known) window.missed = 0n;
  window.known = false;
}

/** Applies a changed amount and re-arms the marks that settled spend no longer reaches. */
export function capWindow(window: WindowState, cap: bigint): void {
  if (window.cap === cap) return;
  window.cap = cap;
  window.marks = Math.min(window.marks, marksReached(window));
}

/** Settles an ended call that held `held` of the window. */
export function settleInWindow(window: WindowState, held: bigint, charged: bigint): void {
  window.held -= held;
  window.settled += charged;
  if (!window.known) window.missed += charged;
}

/** Nano-USD that can still be held; negative after the cap was lowered below its use. */
export function roomOf({ settled, held, cap }: WindowState): bigint {
  return cap - settled - held;
}

/** Returns the marks newly reached by settled spend; each is returned once. */
export function newMarks(state: WindowState): readonly BudgetMark[] {
  const next = BUDGET_MARKS[state.marks];
  if (next === undefined || state.settled * 100n < state.cap * BigInt(next)) return [];
  const before = state.marks;
  state.marks = marksReached(state);
  return BUDGET_MARKS.slice(before, state.marks);
}

/** As `newMarks`, after a refused call: includes 100 where settled spend alone leaves too little room for it. */
export function marksOfRefusal(state: WindowState, amount: bigint): readonly BudgetMark[] {
  const reached = newMarks(state);
  const { settled, cap } = state;
  if (state.marks !== BUDGET_MARKS.length - 1 || amount > cap || settled + amount <= cap) return reached;
  state.marks = BUDGET_MARKS.length;
  return [...reached, 100];
}

function marksReached({ settled, cap }: WindowState): number {
  const hundredfold = settled * 100n;
  let reached = 0;
  for (const mark of BUDGET_MARKS) if (hundredfold >= cap * BigInt(mark)) reached += 1;
  return reached;
}
