/**
 * Converts caps between the console API and commands, and chooses their layer. In bodies, amounts are dollars, null
 * removes a cap, and omitted caps stay.
 */
import { formatNanoUsd } from '../../billing/money.ts';
import { ConsoleFailure } from '../../errors/console-failure.ts';
import { OPERATOR_ACCOUNT } from '../../people/roles.ts';
import { type Caps, inLayer, type LimitLayer, type Subject } from '../../store/ports/limits.ts';
import type { Reply } from '../contract/contract.ts';
import type { Tenancy } from '../kernel/actor.ts';

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
      { member: 'caps.budget_window' },
    );
  }
  if (budget_usd == null && budget_window != null) {
    throw new ConsoleFailure(
      'invalid',
      `caps.budget_usd: missing although budget_window is ${budget_window}; expected an amount`,
      { member: 'caps.budget_usd' },
    );
  }
  return { rpm, tpm, concurrency, budget_usd, ...(budget_window == null ? {} : { budget_window }) };
}

function showCaps(caps: Caps | null): ShownCaps {
  return {
    rpm: caps?.requestsPerMinute ?? null,
    tpm: caps?.tokensPerMinute ?? null,
    concurrency: caps?.concurrency ?? null,
    budget_usd: caps?.budget == null ? null : formatNanoUsd(caps.budget.amount),
    budget_window: caps?.budget?.window ?? null,
  };
}

interface ShownLayers {
  readonly layer: LimitLayer;
  readonly caps: ShownCaps;
  /** The caps of the other layer; null: the subject has one layer only. */
  readonly other_caps: ShownCaps | null;
}

/** The layer that the caller's changes apply to: the operator's for operators of the installation. */
export function layerFor(tenancy: Pick<Tenancy, 'account' | 'may'>): LimitLayer {
  return tenancy.account === OPERATOR_ACCOUNT || tenancy.may('operator.write') ? 'operator' : 'account';
}

export function showLayers(
  rules: { get(subject: Subject): Caps | null },
  subject: Subject,
  tenancy: Pick<Tenancy, 'account' | 'may'>,
): ShownLayers {
  const layer = layerFor(tenancy);
  const other = layer === 'operator' ? 'account' : 'operator';
  const isSingle = tenancy.account === OPERATOR_ACCOUNT || subject.kind === 'model';
  if (isSingle) return { layer: 'operator', caps: showCaps(rules.get(inLayer(subject, 'operator'))), other_caps: null };
  return {
    layer,
    caps: showCaps(rules.get(inLayer(subject, layer))),
    other_caps: showCaps(rules.get(inLayer(subject, other))),
  };
}
