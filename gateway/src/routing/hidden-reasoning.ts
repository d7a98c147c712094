/** Owns which answers of a route may cost tokens that they do not show. What hosts do is data in their quirks. */
import type { ServedTarget } from '../config/served-models.ts';
import type { UpstreamTraits } from '../protocols/upstream-traits.ts';

/** Of none, of those whose request asks for reasoning, or of all. */
export type HiddenReasoning = 'never' | 'asked' | 'always';

/**
 * Of a model that nobody knows to reason, none: nothing is refused for a guess. `reasons` null: neither the catalogue nor the
 * file says it, so that OpenAI's names tell.
 */
export function hiddenReasoningOf(
  { provider }: ServedTarget,
  reasons: boolean | null,
  { chat }: UpstreamTraits,
): HiddenReasoning {
  if (provider.kind === 'demo') return 'never';
  return (reasons ?? (chat.efforts ?? []).length > 0) ? provider.quirks.hiddenReasoning : 'never';
}
