/** Names kinds of reasons, and the groups of failed requests that have one, as filters show them. */
import type { Reply } from '../../../../../gateway/src/console-api/contract/contract.ts';

export type ReasonGroup = Reply<'GET /accounts/{account}/reasons'>['groups'][number];

export const REASON_TITLES: Readonly<Record<ReasonGroup['kind'], string>> = {
  budget_spent: 'Budget used up',
  balance_empty: 'Balance too low',
  rate_limited: 'Rate limit',
  concurrency: 'Concurrency limit',
  model_not_allowed: 'Model not allowed',
  key_restricted: 'Key restricted',
  unpriced: 'No price',
  invalid_request: 'Invalid request',
  provider_error: 'Provider error',
  no_target: 'No target available',
  provider_credential: 'Credential rejected',
  cut: 'Response cut off',
  client_closed: 'Client disconnected',
  money_ran_out: 'Stopped by budget',
  guardrail: 'Guardrail',
  ours: 'Gateway error',
};

/** Each kind with its title. */
const REASON_CHOICES = Object.entries(REASON_TITLES);

/** The label of a value of the filter: a kind, or a group's list of kind, error, subject, rule and provider. */
export function reasonLabel(value: string): string {
  const parts = partsOf(value);
  if (parts === null) return titleOf(value) ?? value;
  const [kind = null, error, , subject, cap, window, provider] = parts;
  const where = provider ?? subject ?? null;
  const what = window ?? cap ?? error ?? null;
  return [titleOf(kind ?? '') ?? kind, where, what?.replaceAll('_', ' ')].filter((part) => part !== null).join(' · ');
}

/** Null: not a group. */
function partsOf(value: string): readonly (string | null)[] | null {
  if (!value.startsWith('[')) return null;
  try {
    const parts: unknown = JSON.parse(value);
    return Array.isArray(parts) ? parts.map((part) => (typeof part === 'string' ? part : null)) : null;
  } catch {
    return null;
  }
}

function titleOf(kind: string): string | null {
  return REASON_CHOICES.find(([known]) => known === kind)?.[1] ?? null;
}
