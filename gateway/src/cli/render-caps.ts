/** Owns how amounts and caps look to people. What programs read is in control/views.ts. */
import { z } from 'zod';
import { formatNanoUsd } from '../billing/money.ts';

/** The members of a view that tell its caps. */
export const capsView = {
  rpm: z.number().nullable(),
  tpm: z.number().nullable(),
  concurrency: z.number().nullable(),
  budget_nano_usd: z.string().nullable(),
  budget_window: z.string().nullable(),
};
const caps = z.object(capsView);

/** As `capsView`, of a view that tells both layers. */
export const layeredCapsView = {
  ...capsView,
  own_rpm: z.number().nullable(),
  own_tpm: z.number().nullable(),
  own_concurrency: z.number().nullable(),
  own_budget_nano_usd: z.string().nullable(),
  own_budget_window: z.string().nullable(),
};
const layeredCaps = z.object(layeredCapsView);

/** The operator's caps in words, and the account's own where it has some. */
export function renderLayeredCaps(view: z.infer<typeof layeredCaps>): string {
  const own = renderCaps({
    rpm: view.own_rpm,
    tpm: view.own_tpm,
    concurrency: view.own_concurrency,
    budget_nano_usd: view.own_budget_nano_usd,
    budget_window: view.own_budget_window,
  });
  const operator = renderCaps(view);
  if (own === 'none') return operator;
  return operator === 'none' ? `${own} (set by the account)` : `${operator}; ${own} (set by the account)`;
}

/** All caps in a few words, such as `60 rpm, 10 USD a day`; `none` where there are none. */
export function renderCaps({ rpm, tpm, concurrency, budget_nano_usd, budget_window }: z.infer<typeof caps>): string {
  const words = [
    rpm === null ? null : `${rpm} rpm`,
    tpm === null ? null : `${tpm} tpm`,
    concurrency === null ? null : `${concurrency} at once`,
    budget_nano_usd === null
      ? null
      : `${renderUsd(budget_nano_usd)} USD ${budget_window === 'total' ? 'in total' : `a ${budget_window}`}`,
  ].filter((word) => word !== null);
  return words.length === 0 ? 'none' : words.join(', ');
}

/** A decimal text of nano-USD as USD, exact. */
export function renderUsd(nanoUsd: string): string {
  return formatNanoUsd(BigInt(nanoUsd));
}
