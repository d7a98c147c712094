/** Renders a provider's health as a badge. */
import { Badge } from '../../ui/badge.tsx';

const STATES = {
  healthy: { tone: 'good', word: 'healthy' },
  failing: { tone: 'bad', word: 'failing' },
  idle: { tone: 'neutral', word: 'no calls lately' },
} as const;

export function HealthBadge({ state }: { readonly state: keyof typeof STATES }) {
  return <Badge tone={STATES[state].tone}>{STATES[state].word}</Badge>;
}
