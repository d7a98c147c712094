/**
 * Owns one window of one budget: what is settled in it, what running calls hold of it, which marks it has been told to have
 * reached. Knows no call and no calendar.
 */
import { type BindingCaps, BUDGET_MARKS, type BudgetMark, type BudgetWindow, type Subject } from '../ports/limits.ts';

/** Change it only through the functions here. */
export interface WindowState {
  readonly subject: Subject;
  readonly window: BudgetWindow;
  readonly startMs: number;
  /** Null: never. */
  readonly endMs: number | null;
  /** Nano-USD; as the rule last had it. */
  cap: bigint;
  settled: bigint;
  held: bigint;
  /** False: it must be seeded before it admits; running calls go on with what was known. */
  known: boolean;
  /** What calls were charged that ended since it was begun to be read; else since it was forgotten. */
  missed: bigint;
  /** How many of the marks it has reached. */
  marks: number;
}

/** A budget as a call's caps name it. */
export interface BudgetBinding extends BindingCaps {
  readonly caps: BindingCaps['caps'] & { readonly budget: NonNullable<BindingCaps['caps']['budget']> };
}

export function hasBudget(binding: BindingCaps): binding is BudgetBinding {
  return binding.caps.budget !== null;
}

/** Enough for calls that began before the window turned and come after it. */
const WINDOWS_KEPT = 2;

/**
 * The window that binds now; null: it must be seeded. A budget that was known in a window that has ended goes on with
 * nothing settled in the next.
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
  // A window before one that was open: the clock was set back, and what was settled in it may have been let go.
  const isLatest = ofSort.every(({ startMs }) => startMs < binding.windowStartMs);
  const goesOn =
    isLatest && ofSort.some(({ known, endMs }) => known && endMs !== null && endMs <= binding.windowStartMs);
  return goesOn ? addWindow(windows, binding, 0n) : null;
}

export function findWindow(windows: readonly WindowState[], binding: BudgetBinding): WindowState | undefined {
  const { windowStartMs, caps } = binding;
  return windows.find(({ startMs, window }) => startMs === windowStartMs && window === caps.budget.window);
}

/** The window that is about to be seeded; null: it is known. */
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

/** Makes a window known, where it is not. What it has reached by then was told before, or never will be. */
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
  // Calls that hold of a window that is let go keep it by themselves.
  if (windows.length >= WINDOWS_KEPT) windows.shift();
  windows.push(state);
  windows.sort((one, other) => one.startMs - other.startMs);
  return state;
}

/** What is known of it is not to be trusted any more: it is to be seeded. */
export function forgetWindow(window: WindowState): void {
  if (window.known) window.missed = 0n;
  window.known = false;
}

/** Its rule has another amount: marks that what is settled no longer reaches can be reached anew. */
export function capWindow(window: WindowState, cap: bigint): void {
  if (window.cap === cap) return;
  window.cap = cap;
  window.marks = Math.min(window.marks, marksReached(window));
}

/** A call that held `held` of it ended and was charged so much. */
export function settleInWindow(window: WindowState, held: bigint, charged: bigint): void {
  window.held -= held;
  window.settled += charged;
  if (!window.known) window.missed += charged;
}

/** Nano-USD that can still be held; below 0 where the cap was lowered. */
export function roomOf({ settled, held, cap }: WindowState): bigint {
  return cap - settled - held;
}

/** The marks that what is settled has newly reached. They are not answered again. */
export function newMarks(state: WindowState): readonly BudgetMark[] {
  const next = BUDGET_MARKS[state.marks];
  if (next === undefined || state.settled * 100n < state.cap * BigInt(next)) return [];
  const before = state.marks;
  state.marks = marksReached(state);
  return BUDGET_MARKS.slice(before, state.marks);
}

/** As `newMarks`, of a call that was refused: 100, too, where what is settled alone leaves no room for it. */
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
