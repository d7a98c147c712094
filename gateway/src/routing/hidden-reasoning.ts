/** Owns which answers of a route may cost tokens that they do not show. What hosts do is data in their quirks. */
import type { ServedTarget } from '../config/served-models.ts';
import type { UpstreamTraits } from '../protocols/upstream-traits.ts';
import type { ModelFacts } from './upstream-traits.ts';

/** Of none, of those whose request asks for reasoning, or of all. */
export type HiddenReasoning = 'never' | 'asked' | 'always';

/** Of a model that nobody knows to reason, none: nothing is refused for a guess. `facts` null: the catalogue does not know it. */
export function hiddenReasoningOf(
  { provider }: ServedTarget,
  facts: ModelFacts | null,
  { chat }: UpstreamTraits,
): HiddenReasoning {
  if (provider.kind === 'demo') return 'never';
  const reasons = facts === null ? (chat.efforts ?? []).length > 0 : facts.capabilities.includes('reasoning');
  return reasons ? provider.quirks.hiddenReasoning : 'never';
}
