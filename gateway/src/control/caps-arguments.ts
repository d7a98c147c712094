/** Owns caps in commands' arguments: their shape, and what they make of the caps that are there. Keeps nothing. */
import { z } from 'zod';
import { BUDGET_WINDOWS, type BudgetWindow, type Caps } from '../store/limits-port.ts';
import { CommandFailure } from './command.ts';
import { usdAmount } from './money-arguments.ts';

const PER_MINUTE_MAX = 1_000_000_000;
const CONCURRENCY_MAX = 1_000_000;

const NO_CAPS: Caps = { requestsPerMinute: null, tokensPerMinute: null, concurrency: null, budget: null };

/** A whole number from 1, or null for no cap. */
function cap(max: number) {
  const expected = `expected a whole number from 1 to ${max}, or none`;
  return z.int({ error: expected }).min(1, { error: expected }).max(max, { error: expected }).nullable().optional();
}

/** The arguments of every command that sets caps: what is absent stays, null takes a cap away. */
export const capArguments = {
  rpm: cap(PER_MINUTE_MAX),
  tpm: cap(PER_MINUTE_MAX),
  concurrency: cap(CONCURRENCY_MAX),
  budget_usd: usdAmount.nullable().optional(),
  budget_window: z.enum(BUDGET_WINDOWS, { error: `expected one of ${BUDGET_WINDOWS.join(', ')}` }).optional(),
  /** Left out: the operator's where the operator asks, else the account's own. */
  layer: z.enum(['operator', 'account'], { error: 'expected operator or account' }).optional(),
};

export interface GivenCaps {
  readonly rpm?: number | null | undefined;
  readonly tpm?: number | null | undefined;
  readonly concurrency?: number | null | undefined;
  readonly budget_usd?: bigint | null | undefined;
  readonly budget_window?: BudgetWindow | undefined;
}

/** Whether the arguments name a cap at all. */
export function namesCaps({ rpm, tpm, concurrency, budget_usd, budget_window }: GivenCaps): boolean {
  return [rpm, tpm, concurrency, budget_usd, budget_window].some((given) => given !== undefined);
}

/**
 * The caps after a change; null: none is left. A budget without a window keeps the one it has, and is for all time where
 * it is new, which is the strictest that it can mean.
 *
 * @throws CommandFailure where a window is given and there is no budget.
 */
export function changeCaps(current: Caps | null, given: GivenCaps): Caps | null {
  const before = current ?? NO_CAPS;
  const after: Caps = {
    requestsPerMinute: given.rpm === undefined ? before.requestsPerMinute : given.rpm,
    tokensPerMinute: given.tpm === undefined ? before.tokensPerMinute : given.tpm,
    concurrency: given.concurrency === undefined ? before.concurrency : given.concurrency,
    budget: changeBudget(before.budget, given),
  };
  return Object.values(after).every((each) => each === null) ? null : after;
}

function changeBudget(before: Caps['budget'], { budget_usd, budget_window }: GivenCaps): Caps['budget'] {
  const amount = budget_usd === undefined ? (before?.amount ?? null) : budget_usd;
  if (amount !== null) return { window: budget_window ?? before?.window ?? 'total', amount };
  if (budget_window === undefined) return null;
  throw new CommandFailure(
    `budget_window: found ${budget_window} without a budget, expected an amount with it: --budget-usd N`,
    'usage',
  );
}
