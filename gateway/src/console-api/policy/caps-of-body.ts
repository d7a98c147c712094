/**
 * Converts caps between the console API and commands. In bodies, amounts are dollars, null removes a cap, and omitted
 * caps stay.
 */

import { formatNanoUsd } from '../../billing/money.ts';
import type { Caps } from '../../store/ports/limits.ts';
import type { Reply } from '../contract/contract.ts';
import { ConsoleFailure } from '../kernel/console-failure.ts';

export type ShownCaps = Reply<'GET /accounts/{account}/limits'>['nodes'][number]['caps'];

/** The caps in a body; omitted ones stay. */
export type RequestedCaps = { readonly [Cap in keyof ShownCaps]?: ShownCaps[Cap] | undefined };

/**
 * The command arguments for the given caps. Throws `invalid` for a budget without a window or a window without a
 * budget.
 */
export function capsArguments({ rpm, tpm, concurrency, budget_usd, budget_window }: RequestedCaps): object {
  if (budget_usd != null && budget_window == null) {
    throw new ConsoleFailure(
      'invalid',
      'caps.budget_window: missing although budget_usd is set; expected day, week, month or total',
      {
        member: 'caps.budget_window',
      },
    );
  }
  if (budget_usd == null && budget_window != null) {
    throw new ConsoleFailure(
      'invalid',
      `caps.budget_usd: missing although budget_window is ${budget_window}; expected an amount`,
      {
        member: 'caps.budget_usd',
      },
    );
  }
  return { rpm, tpm, concurrency, budget_usd, ...(budget_window == null ? {} : { budget_window }) };
}

export function showCaps(caps: Caps | null): ShownCaps {
  return {
    rpm: caps?.requestsPerMinute ?? null,
    tpm: caps?.tokensPerMinute ?? null,
    concurrency: caps?.concurrency ?? null,
    budget_usd: caps?.budget == null ? null : formatNanoUsd(caps.budget.amount),
    budget_window: caps?.budget?.window ?? null,
  };
}
