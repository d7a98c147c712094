/** Owns caps between the console API and commands: in bodies amounts are dollars, null is no cap, and what a change leaves out stays. */

import { formatNanoUsd } from '../../billing/money.ts';
import type { Caps } from '../../store/ports/limits.ts';
import type { Reply } from '../contract/contract.ts';
import { ConsoleFailure } from '../kernel/console-failure.ts';

export type ShownCaps = Reply<'GET /accounts/{account}/limits'>['nodes'][number]['caps'];

/** What a body gives; what it leaves out stays. */
export type GivenCaps = { readonly [Cap in keyof ShownCaps]?: ShownCaps[Cap] | undefined };

/** The arguments by which a command takes the given caps over. Throws `invalid` for a budget without a window, or the other way round. */
export function capsArguments({ rpm, tpm, concurrency, budget_usd, budget_window }: GivenCaps): object {
  if (budget_usd != null && budget_window == null) {
    throw new ConsoleFailure(
      'invalid',
      'caps.budget_window: found nothing beside a budget, expected day, week, month or total',
      {
        member: 'caps.budget_window',
      },
    );
  }
  if (budget_usd == null && budget_window != null) {
    throw new ConsoleFailure(
      'invalid',
      `caps.budget_usd: found nothing beside the window ${budget_window}, expected an amount`,
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
